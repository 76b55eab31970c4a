//! One layer of a deep net: map, batch norm, σ, dropout.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::{Dropout, Map, MapConfig, MatBatchNorm, MatBatchNormConfig};
use crate::config::options;
use crate::error::ConfigError;
use crate::form::Form;
use crate::init::{self, Init};
use crate::mode::Mode;
use crate::ops::{Activation, Mat1Maps};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize, join};

options! {
    /// The config of a [`Unit`].
    pub struct UnitConfig {
        /// Matrix or vector.
        pub form: Form,
        /// The shape of the input; `[n, 1]` for a vector.
        pub input: [usize; 2],
        /// The shape of the output.
        pub output: [usize; 2],
        /// σ. Default: ReLU.
        pub activation: Activation = Activation::Relu,
        /// Whether batch norm precedes σ. Default: no.
        pub batch_norm: bool = false,
        /// The initial shift of the batch norm. Default: chosen by σ, see [`init::batch_norm_bias_init`].
        pub batch_norm_bias_init: Option<f64> = None,
        /// Dropout of the output. Default: none.
        pub dropout: Dropout = Dropout::default(),
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
        /// A factor for the initial variance of the output, below 1 where outputs are added up. Default: 1.
        pub share: f64 = 1.0,
    }

    /// A layer between these shapes.
    pub fn new(form: Form, input: [usize; 2], output: [usize; 2]);
}

impl UnitConfig {
    /// Checks the config and initialises the layer with random numbers from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<Unit, ConfigError> {
        let norm = match self.batch_norm {
            true => {
                let shift = self.batch_norm_bias_init.unwrap_or(init::batch_norm_bias_init(self.activation));
                let scale = self.share.sqrt();
                let norm = MatBatchNormConfig::new(self.output).with_scale_init(scale);
                Some(norm.with_shift_init(scale * shift).init(device)?)
            }
            false => None,
        };
        let map = MapConfig {
            // Batch norm subtracts the mean, and with it a bias.
            bias: norm.is_none(),
            activation: if norm.is_some() { Activation::Identity } else { self.activation },
            init: self.init,
            gain: Some(self.share * init::gain(self.activation)),
            ..MapConfig::new(self.form, self.input, self.output)
        };
        let map = map.init(rng, device)?;
        Ok(Unit { map, norm, activation: self.activation, dropout: self.dropout })
    }
}

/// One layer of a deep net, made with [`UnitConfig`]: σ(norm(map(X))), then dropout; norm and dropout are optional.
#[derive(Module, Debug)]
pub struct Unit {
    /// The map, with bias and σ when there is no norm.
    pub map: Map,
    /// Batch norm.
    pub norm: Option<MatBatchNorm>,
    /// σ
    #[module(skip)]
    pub activation: Activation,
    #[module(skip)]
    dropout: Dropout,
}

impl Summarize for Unit {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let mut rows = self.map.summarize(name, uses);
        rows.extend(self.norm.summarize(&join(name, "norm"), uses));
        rows
    }
}

impl Unit {
    /// The maps, if this layer is only a [`mat1`](crate::ops::mat1()).
    pub(crate) fn maps(&self, mode: &Mode) -> Option<Mat1Maps> {
        let drops = mode.is_train() && self.dropout.rate() > 0.0;
        match &self.map {
            Map::Matrix(map) if self.norm.is_none() && !drops => map.maps(),
            Map::Matrix(_) | Map::Vector(_) => None,
        }
    }

    /// `[batch, rows, cols]` → `[batch, rows_out, cols_out]`
    pub fn forward(&self, input: Tensor<3>, mode: &mut Mode) -> Tensor<3> {
        let mapped = self.map.forward(input);
        let output = match &self.norm {
            Some(norm) => norm.forward_activated(mapped, self.activation, mode),
            None => mapped,
        };
        self.dropout.forward(output, mode)
    }
}
