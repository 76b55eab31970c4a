//! Predictions of nets on samples.

use burn::tensor::activation::sigmoid;
use burn::tensor::{Tensor, TensorData};
use matnet::Mode;
use matnet::net::{Net, NetOutput, SampleTarget};
use matnet_data::Array;
use matnet_data::local::ReadOptions;
use matnet_data::transform::scale::Scaler;
use matnet_data::transform::windows::{WindowLevels, Windows};

use super::{Preprocess, SampleConfig, SampleOutput, SampleTask, TargetType, batch, gather, net, target};
use crate::config::Loss;
use crate::task::{
    Interface, Loaded, OutputKind, PredictRequest, PredictionStream, Predictions, Reading, Wanted,
    check_lengths, entry_losses, for_samples, recorded, to_vec,
};
use crate::{Error, Result};

/// Inputs that are ready for a net.
struct Prepared {
    inputs: Array,
    lengths: Vec<usize>,
    /// What was taken out of each window of a forecast.
    levels: Option<WindowLevels>,
}

impl Prepared {
    /// Transforms raw inputs; `lengths` are the steps of each sequence, none if all of them count.
    fn new<C: SampleConfig>(
        loaded: &Loaded<SampleTask<C>>,
        inputs: Array,
        lengths: &[usize],
    ) -> Result<Self> {
        let Loaded { net_config, metadata, .. } = loaded;
        let preprocess = &metadata.preprocess;
        if preprocess.keeps_shape() {
            net::check_inputs(net_config, inputs.shape())?;
        }
        check_lengths(inputs.shape(), lengths)?;
        let (mut inputs, mut lengths, levels) = match preprocess.windows {
            Some(_) => {
                let windows = as_sequences(preprocess.last_window(inputs)?)?;
                net::check_inputs(net_config, &taken_shape::<C>(windows.shape(), preprocess.missing_mask))?;
                let (inputs, levels) = preprocess.apply_to_windows(windows)?;
                let shape = taken_shape::<C>(inputs.shape(), false);
                (Array::new(shape, inputs.into_data())?, Vec::new(), levels)
            }
            None => {
                let (inputs, lengths) = preprocess.apply(inputs, lengths)?;
                net::check_inputs(net_config, inputs.shape())?;
                (inputs, lengths, None)
            }
        };
        if let Some(augment) = &loaded.data_config.augment {
            inputs = gather::within(augment, &inputs).evaluate(inputs, &mut lengths)?;
        }
        Ok(Self { inputs, lengths, levels })
    }

    /// The output of the net.
    fn forward<C: SampleConfig>(&self, loaded: &Loaded<SampleTask<C>>, mode: &mut Mode) -> SampleOutput {
        let Loaded { net, metadata, device, .. } = loaded;
        let longest = self.lengths.iter().copied().max();
        let steps = 0..longest.or(metadata.context_length).unwrap_or(usize::MAX);
        let all: Vec<usize> = (0..self.inputs.len()).collect();
        let counted = (!self.lengths.is_empty()).then(|| self.lengths.clone().into());
        let input = batch::gather(self.inputs.shape(), &all, steps, counted, device, |at, range, into| {
            into.extend_from_slice(&self.inputs.sample(at)[range]);
        });
        let output = net.forward(input, mode);
        SampleOutput::new::<C>(output, Some(&self.lengths[..]).filter(|lengths| !lengths.is_empty()))
    }
}

impl Prepared {
    /// A forecast in the units of the table.
    fn forecast(&self, mut output: Array, scaler: Option<&Scaler>) -> Result<Array> {
        let columns = output.shape()[2];
        if let Some(levels) = &self.levels {
            levels.apply_inverse(&mut output)?;
        }
        if let Some(scaler) = scaler {
            Windows::scale_back(scaler, &mut output, columns)?;
        }
        Ok(output)
    }
}

/// Windows as sequences `[n, time, columns, 1]`.
fn as_sequences(windows: Array) -> Result<Array> {
    match *windows.shape() {
        [n, time, columns] => Ok(Array::new([n, time, columns, 1], windows.into_data())?),
        _ => Ok(windows),
    }
}

/// The shape of windows `[n, time, columns, …]` as a net takes them, with as many further columns for a mask of missing values.
fn taken_shape<C: SampleConfig>(shape: &[usize], mask: bool) -> Vec<usize> {
    let columns = if mask { 2 * shape[2] } else { shape[2] };
    match net::takes_sequences::<C>() {
        true => [&[shape[0], shape[1], columns][..], &shape[3..]].concat(),
        false => vec![shape[0], shape[1], columns * shape[3..].iter().product::<usize>()],
    }
}

/// Predictions for raw inputs.
pub(super) fn predict<C: SampleConfig>(
    loaded: &Loaded<SampleTask<C>>,
    inputs: Array,
    lengths: &[usize],
) -> Result<Predictions> {
    let prepared = Prepared::new(loaded, inputs, lengths)?;
    let (metadata, shape, lengths) = (&loaded.metadata, prepared.inputs.shape(), &prepared.lengths[..]);
    let output = prepared.forward(loaded, &mut Mode::Eval);
    let per_step = C::TARGET.per_step();
    let packed = per_step && !lengths.is_empty();
    let scaler = metadata.preprocess.target_scaler.as_ref();
    let predictions = match (output, metadata.target) {
        (SampleOutput::Scores(values), TargetType::Values) => {
            Predictions::of_values(target::unscaled_values(values, scaler)?)
        }
        (SampleOutput::Scores(logits), TargetType::Labels) => {
            Predictions::of_values(Array::new(logits.dims(), to_vec(sigmoid(logits)))?)
        }
        (SampleOutput::Scores(scores), _) => {
            let rows = scores.dims()[0];
            Predictions::of_scores(scores, |classes| match per_step && !packed {
                true => vec![shape[0], shape[1], classes],
                false => vec![rows, classes],
            })?
        }
        (SampleOutput::Matrices(output), _) => {
            let output = if metadata.logits { sigmoid(output) } else { output };
            let [count, rows, cols] = output.dims();
            let sequences = (per_step && !packed) || C::TARGET == SampleTarget::Future;
            let new_shape = match sequences {
                true => vec![shape[0], count / shape[0].max(1), rows, cols],
                false => vec![count, rows, cols],
            };
            let values = match metadata.preprocess.windows {
                Some(_) => prepared.forecast(Array::new(new_shape.clone(), to_vec(output))?, scaler)?,
                None => target::unscaled_matrices(output, scaler)?,
            };
            Predictions::of_values(Array::new(new_shape, values.into_data())?)
        }
    };
    match packed {
        true => predictions.padded(lengths, shape[1]),
        false => Ok(predictions),
    }
}

/// The states of a layer, by its name in the summary of the net.
fn hidden<C: SampleConfig>(
    loaded: &Loaded<SampleTask<C>>,
    layer: &str,
    inputs: Array,
    lengths: &[usize],
) -> Result<Predictions> {
    let prepared = Prepared::new(loaded, inputs, lengths)?;
    let mut mode = Mode::Eval.record();
    prepared.forward(loaded, &mut mode);
    let found = recorded(&mode, layer)?;
    let (shape, values) = (&found.shape, &found.values);
    let states = match *shape.as_slice() {
        // The last state of a sequence.
        [count, 1, rows, cols] if prepared.inputs.shape()[1] > 1 => {
            Array::new([count, rows, cols], values.clone())?
        }
        [count, time, rows, cols] => {
            let (whole, size) = (prepared.inputs.shape()[1].max(time), rows * cols);
            let mut padded = Vec::with_capacity(count * whole * size);
            for (at, sample) in values.chunks_exact(time * size).enumerate() {
                padded.extend_from_slice(sample);
                padded.resize((at + 1) * whole * size, 0.0);
            }
            Array::new([count, whole, rows, cols], padded)?
        }
        _ => Array::new(shape.clone(), values.clone())?,
    };
    Ok(Predictions::of_values(states))
}

/// The mean loss of each sample that an auto-encoder reconstructs.
fn scores<C: SampleConfig>(
    loaded: &Loaded<SampleTask<C>>,
    inputs: Array,
    lengths: &[usize],
) -> Result<Predictions> {
    let prepared = Prepared::new(loaded, inputs, lengths)?;
    let SampleOutput::Matrices(output) = prepared.forward(loaded, &mut Mode::Eval) else {
        unreachable!("an auto-encoder gives matrices");
    };
    let [count, rows, cols] = output.dims();
    let targets = TensorData::new(prepared.inputs.into_data(), [count, rows, cols]);
    let targets = Tensor::<3>::from_data(targets, &loaded.device);
    let loss = loaded.train.loss.unwrap_or(Loss::Mse);
    let losses = entry_losses(loss, loaded.train.huber_delta.unwrap_or(1.0), output, targets);
    let means = losses.reshape([count, rows * cols]).mean_dim(1);
    Ok(Predictions::of_values(Array::new([count, 1], to_vec(means))?))
}

/// Predictions for a file or folder, a batch at a time.
pub(super) fn predict_file<'a, C: SampleConfig>(
    loaded: &'a Loaded<SampleTask<C>>,
    request: &PredictRequest,
) -> Result<PredictionStream<'a>> {
    let metadata = &loaded.metadata;
    let wanted = layer_of(loaded, request.wanted)?;
    let options = loaded.data_config.read_options();
    let sample_rate = metadata.preprocess.sample_rate.map(f64::from).or(options.sample_rate);
    let row_step = metadata.preprocess.row_step;
    let lengths_differ = metadata.lengths_differ;
    let options =
        ReadOptions { target: None, single_file: true, sample_rate, row_step, lengths_differ, ..options };
    let reading = Reading { options, missing: metadata.preprocess.fill.is_some() };
    if let Some(layer) = wanted {
        return for_samples(request, &[], reading, move |inputs, lengths| {
            hidden(loaded, &layer, inputs, lengths)
        });
    }
    if request.wanted == Wanted::Score {
        let stream = for_samples(request, &[], reading, |inputs, lengths| scores(loaded, inputs, lengths))?;
        return Ok(PredictionStream { columns: vec!["score".to_owned()], ..stream });
    }
    let columns = match metadata.target {
        TargetType::Values => metadata.names.clone(),
        TargetType::Labels => metadata.names.iter().map(|name| format!("p_{name}")).collect(),
        _ => Vec::new(),
    };
    let stream =
        for_samples(request, &metadata.classes, reading, |inputs, lengths| predict(loaded, inputs, lengths))?;
    Ok(PredictionStream { columns, ..stream })
}

/// The layer whose states are wanted, if it is states.
fn layer_of<C: SampleConfig>(loaded: &Loaded<SampleTask<C>>, wanted: Wanted) -> Result<Option<String>> {
    let autoencoder = C::TARGET == SampleTarget::Input;
    match wanted {
        Wanted::Code | Wanted::Score if !autoencoder => Err(Error::Mismatch(format!(
            "{}: only an autoencoder has codes and reconstruction errors",
            loaded.kind
        ))),
        Wanted::Hidden(layer) => Ok(Some(layer.to_owned())),
        Wanted::Code => Ok(Some(format!("encoder.{}", code_layer(loaded)))),
        Wanted::Predictions | Wanted::Score => Ok(None),
    }
}

/// Codes, hidden states or reconstruction errors for raw inputs.
pub(super) fn states<C: SampleConfig>(
    loaded: &Loaded<SampleTask<C>>,
    wanted: Wanted,
    inputs: Array,
    lengths: &[usize],
) -> Result<Predictions> {
    match (layer_of(loaded, wanted)?, wanted) {
        (Some(layer), _) => hidden(loaded, &layer, inputs, lengths),
        (None, Wanted::Score) => scores(loaded, inputs, lengths),
        (None, _) => predict(loaded, inputs, lengths),
    }
}

/// What an auto-encoder reconstructs from codes.
pub(super) fn decode<C: SampleConfig>(loaded: &Loaded<SampleTask<C>>, codes: Array) -> Result<Array> {
    let none = || Error::Mismatch("only an autoencoder reconstructs from codes".to_owned());
    let [rows, cols] = loaded.net.code_shape().ok_or_else(none)?;
    let &[count, r, c] = codes.shape() else {
        let what = format!("codes of shape {:?}; [n, {rows}, {cols}] expected", codes.shape());
        return Err(Error::Mismatch(what));
    };
    if [r, c] != [rows, cols] || count == 0 {
        let what = format!("codes of shape {:?}; [n, {rows}, {cols}] expected", codes.shape());
        return Err(Error::Mismatch(what));
    }
    let codes = Tensor::<3>::from_data(TensorData::new(codes.into_data(), [count, r, c]), &loaded.device);
    let output = loaded.net.decode(codes).ok_or_else(none)?;
    let output = if loaded.metadata.logits { sigmoid(output) } else { output };
    target::unscaled_matrices(output, loaded.metadata.preprocess.target_scaler.as_ref())
}

/// The number of the last layer of an encoder.
fn code_layer<C: SampleConfig>(loaded: &Loaded<SampleTask<C>>) -> usize {
    let layers = loaded.net.summary(1);
    layers.iter().filter(|layer| layer.name.starts_with("encoder.")).count().saturating_sub(1)
}

/// How many time steps a net on sequences makes of one raw input of this shape, at most.
pub(super) fn steps(preprocess: &Preprocess, shape: &[usize]) -> usize {
    let hop = match (&preprocess.spectrogram, &preprocess.log_mel) {
        (Some(stft), _) => stft.window.saturating_sub(stft.overlap),
        (_, Some(mel)) => mel.hop,
        _ => return shape.first().copied().unwrap_or(1),
    };
    // Signals are `[channels, samples]` or `[samples, channels, 1]`.
    shape.iter().copied().max().unwrap_or(1) / hop.max(1) + 1
}

/// What the net takes and gives.
pub(super) fn interface<C: SampleConfig>(loaded: &Loaded<SampleTask<C>>) -> Interface {
    let Loaded { net_config, metadata, kind, .. } = loaded;
    let (preprocess, [rows, cols]) = (&metadata.preprocess, net_config.input());
    let sequences = net::takes_sequences::<C>();
    // The mask of missing values is appended here, and fills the lower half.
    let rows = if preprocess.missing_mask { rows / 2 } else { rows };
    let matrix = [Some(rows), Some(cols)];
    let input = match (&preprocess.windows, sequences) {
        _ if preprocess.spectrogram.is_some() || preprocess.log_mel.is_some() => vec![None; 2],
        (Some(_), true) => vec![None, Some(rows)],
        (Some(_), false) => vec![None, Some(cols)],
        (None, true) => [vec![None], matrix.to_vec()].concat(),
        (None, false) => matrix.to_vec(),
    };
    let names = match metadata.target {
        TargetType::Classes | TargetType::Steps => metadata.classes.clone(),
        TargetType::Values | TargetType::Labels => metadata.names.clone(),
        TargetType::Matrices => Vec::new(),
    };
    let sides = |[rows, cols]: [usize; 2]| vec![Some(rows), Some(cols)];
    let (output_kind, output) = match (metadata.target, net_config.output()) {
        (TargetType::Steps, _) => (OutputKind::Classes, vec![None, Some(names.len())]),
        (TargetType::Values, _) => (OutputKind::Values, vec![Some(names.len())]),
        (TargetType::Labels, _) => (OutputKind::Labels, vec![Some(names.len())]),
        (_, NetOutput::Matrix(matrix)) => (OutputKind::Matrices, sides(matrix)),
        (_, NetOutput::Sequence { steps, sides: matrix }) => {
            (OutputKind::Matrices, [vec![steps], sides(matrix)].concat())
        }
        _ => (OutputKind::Classes, vec![Some(names.len())]),
    };
    let missing = preprocess.fill.is_some();
    Interface { kind, input, sequences, missing, output_kind, output, names }
}
