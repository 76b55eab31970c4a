//! How much memory a training needs, at least.

use matnet::summary::LayerSummary;

use crate::config::{OptimizerKind, SavedActivations, TrainConfig};

/// The memory that a training needs at least, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryNeed {
    /// Weights and their gradients.
    pub weights: u64,
    /// Moments of the optimizer and the moving average.
    pub optimizer: u64,
    /// The outputs of all layers for one batch, which the backward pass needs, in the floats in which they are saved; with checkpointing,
    /// those of the largest.
    pub activations: u64,
}

impl MemoryNeed {
    /// Of a net with these layers, in batches of so many examples.
    pub fn new(layers: &[LayerSummary], train: &TrainConfig, batch: usize) -> Self {
        let parameters: u64 = layers.iter().map(|layer| layer.parameters as u64).sum();
        let moments = match train.optimizer {
            OptimizerKind::Adam | OptimizerKind::AdamW => 2,
            OptimizerKind::Sgd => u64::from(train.momentum.is_some_and(|momentum| momentum > 0.0)),
        };
        let averages = moments + u64::from(train.ema_decay.is_some());
        let outputs = layers.iter().map(LayerSummary::output_numbers);
        // Of what is computed again, one layer at a time is there.
        let outputs = match train.checkpointing {
            true => outputs.max().unwrap_or(0),
            false => outputs.fold(0_u64, u64::saturating_add),
        };
        let bytes = match train.saved_activations {
            SavedActivations::Full => 4,
            SavedActivations::Bf16 => 2,
        };
        Self {
            weights: parameters.saturating_mul(2 * 4),
            optimizer: parameters.saturating_mul(averages * 4),
            activations: outputs.saturating_mul(batch as u64).saturating_mul(bytes),
        }
    }

    /// All together.
    pub fn total(self) -> u64 {
        self.weights.saturating_add(self.optimizer).saturating_add(self.activations)
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use matnet::prelude::*;

    use super::*;

    #[test]
    fn weights_moments_and_activations_count() {
        let config = FeedForwardConfig::new([28, 28], [20, 20], 10).with_depth(Some(3));
        let net = config.blank(&Device::flex()).unwrap();
        let parameters = matnet::weights::count(&net) as u64;
        let train = TrainConfig::default();
        let need = MemoryNeed::new(&net.summary(1), &train, 64);
        assert_eq!((need.weights, need.optimizer), (8 * parameters, 8 * parameters));
        assert_eq!(need.activations, 4 * 64 * (3 * 400 + 10));
        let checkpointing = TrainConfig { checkpointing: true, ..train.clone() };
        assert_eq!(MemoryNeed::new(&net.summary(1), &checkpointing, 64).activations, 4 * 64 * 400);
        let rounded = TrainConfig { saved_activations: SavedActivations::Bf16, ..train.clone() };
        assert_eq!(MemoryNeed::new(&net.summary(1), &rounded, 64).activations, 2 * 64 * (3 * 400 + 10));
        let train = TrainConfig { ema_decay: Some(0.9), optimizer: OptimizerKind::Sgd, ..train };
        assert_eq!(MemoryNeed::new(&net.summary(1), &train, 64).optimizer, 4 * parameters);
    }
}
