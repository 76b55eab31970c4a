//! What went in, what was wanted, and what each net made of it.

use burn::tensor::Tensor;
use matnet::Mode;
use matnet_report::picture::{Colours, Grid, Range, Tile, png};
use matnet_train::data::Part;
use matnet_train::model::{Input, Output};
use matnet_train::task::SampleTask;

use super::super::measure::mean;
use super::{Content, Drawn, Stage, Wish};
use crate::commands::report::pictures::split;
use crate::failure::Failure;

/// Test images that are shown.
const SHOWN: usize = 12;

/// A grid for every column: the corrupted images, the truth, the mean training image, and a row for each net, from its
/// first seed.
pub fn draw(stage: &mut Stage, wish: &Wish) -> Result<Vec<Vec<Drawn>>, Failure> {
    let mut groups = Vec::new();
    for (column, data) in stage.columns(wish) {
        let mut grid = Grid::new(Colours::Grey).with_range(Range::Fixed(0.0, 1.0));
        let mut always: Option<MeanImage> = None;
        for (row, net) in stage.rows(wish) {
            let Some((task, model)) = stage.trained(column, row)? else { continue };
            let all = task.data.part(Part::Test);
            let every = (all.len() / SHOWN).max(1);
            let shown: Vec<usize> = all.iter().copied().step_by(every).take(SHOWN).collect();
            let Input::Matrices(input) = task.input(&shown, stage.device) else { continue };
            if always.is_none() {
                let wanted: Tensor<3> = task.wanted(&shown, stage.device);
                let mean = MeanImage::of(&task)?;
                grid = grid
                    .with_row("corrupted", split(input.clone())?)
                    .with_row("truth", split(wanted)?)
                    .with_row("mean image", shown.iter().map(|_| mean.image.clone()));
                always = Some(mean);
            }
            let given = model.forward(Input::Matrices(input), &mut Mode::Eval);
            let Output::Matrices(given) = given else { continue };
            grid = grid.with_row(&net.label, split(task.finished(given))?);
        }
        if let Some(always) = always {
            let patch =
                always.under_patch.map_or(String::new(), |loss| format!(", {loss:.4} under the patch"));
            groups.push(vec![Drawn {
                name: stage.name(&[&data.name, "reconstructions"]),
                caption: format!(
                    "{}: test images with a black patch, the truth, and what each net makes of them (first seed). Always answering the mean of the training images would have a loss of {:.4}{patch}.",
                    data.label, always.loss
                ),
                content: Content::Png(png(&grid.draw()?)?),
            }]);
        }
    }
    Ok(groups)
}

/// What a net that has collapsed to one answer could do best: the mean of the training images, and its mean squared
/// error in the test.
struct MeanImage {
    image: Tile,
    loss: f64,
    under_patch: Option<f64>,
}

impl MeanImage {
    fn of(task: &SampleTask) -> Result<Self, Failure> {
        let [rows, cols] = task.data.sides();
        let train = task.data.part(Part::Train);
        let mut image = vec![0.0f32; rows * cols];
        for &example in train {
            let sample = task.data.inputs.sample(example);
            image.iter_mut().zip(sample.iter()).for_each(|(sum, x)| *sum += x / train.len() as f32);
        }
        let (mut whole, mut hidden) = (Vec::new(), Vec::new());
        for &example in task.data.part(Part::Test) {
            let patch = task.data.patches.as_ref().and_then(|patches| patches.of(example));
            for (place, (x, mean)) in task.data.inputs.sample(example).iter().zip(&image).enumerate() {
                let square = Some(f64::from(x - mean).powi(2));
                whole.push(square);
                let is_hidden = patch.is_some_and(|patch| patch.contains(place / cols, place % cols));
                hidden.extend(is_hidden.then_some(square));
            }
        }
        let image = Tile::new(rows, cols, image)?;
        Ok(Self {
            image,
            loss: mean(whole.into_iter()).unwrap_or(f64::NAN),
            under_patch: mean(hidden.into_iter()),
        })
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use matnet_data::cache::Cache;
    use matnet_train::config::Document;
    use matnet_train::run::Plan;

    use super::*;

    #[test]
    fn the_mean_image_is_that_of_the_training_part() {
        let task = |patch: &str| {
            let config = format!(
                "[data]\nsource = 'faces'\npatch = {patch}\n[model]\nkind = 'autoencoder'\nform = 'vector'\nhidden = [2]\ndepth = 2"
            );
            let document = Document::parse(&config).unwrap();
            match Plan::new(&document, &Cache::new("none is needed")).unwrap() {
                Plan::Samples(work) => work.task,
                _ => panic!("faces are samples"),
            }
        };
        let whole = task("[25, 25]");
        let found = MeanImage::of(&whole).unwrap();
        let part = |part| whole.wanted(whole.data.part(part), &Device::default());
        let loss = (part(Part::Test) - part(Part::Train).mean_dim(0)).square().mean().into_scalar::<f32>();
        assert!((found.loss - f64::from(loss)).abs() < 1e-6, "{} {loss}", found.loss);
        assert!((found.under_patch.unwrap() - found.loss).abs() < 1e-12, "all is hidden");
        let small = MeanImage::of(&task("[5, 5]")).unwrap();
        assert_eq!(small.loss, found.loss);
        assert_ne!(small.under_patch, found.under_patch);
    }
}
