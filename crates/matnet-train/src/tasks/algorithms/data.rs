//! The sequences of an algorithmic task.

use matnet::random::SeededRng;
use matnet_data::SplitIndices;
use matnet_data::checksum::add_numbers;
use matnet_data::generate::algorithm::{AlgorithmSequence, SequenceSize};
use sha2::{Digest, Sha256};

use super::AlgorithmDataConfig;
use crate::run::checksummed::hex;
use crate::task::TaskData;
use crate::{Result, Split};

/// The sequences of an algorithmic task. Training sequences are generated step by step, the others once.
#[derive(Clone, Debug)]
pub struct AlgorithmData {
    /// The config, defaults written out.
    pub config: AlgorithmDataConfig,
    /// Over the validation and test sequences.
    checksum: String,
    indices: SplitIndices,
}

impl AlgorithmData {
    /// The data of a config.
    pub fn new(config: &AlgorithmDataConfig) -> Result<Self> {
        let config = config.resolved()?;
        let train = config.sequences_per_epoch;
        let ends =
            [train, train + config.valid_sequences, train + config.valid_sequences + config.test_sequences];
        let indices = SplitIndices {
            train: (0..ends[0]).collect(),
            valid: (ends[0]..ends[1]).collect(),
            test: (ends[1]..ends[2]).collect(),
        };
        let mut data = Self { config, checksum: String::new(), indices };
        let mut sha = Sha256::new();
        for number in ends[0]..ends[2] {
            let AlgorithmSequence { input, target, .. } = data.sequence(number);
            add_numbers(&mut sha, &input);
            add_numbers(&mut sha, &target);
        }
        data.checksum = hex(&sha.finalize());
        Ok(data)
    }

    /// The same with test sequences of `extrapolation_length`, if there is one.
    pub fn extrapolation(&self) -> Option<Self> {
        let test_length = Some(self.config.extrapolation_length?);
        Self::new(&AlgorithmDataConfig { test_length, ..self.config.clone() }).ok()
    }

    /// A fixed sequence. Those of training and validation go through all training sizes, in turn,
    /// unless validation has lengths of its own.
    pub fn sequence(&self, number: usize) -> AlgorithmSequence {
        let config = &self.config;
        let [valid, test] = [&self.indices.valid, &self.indices.test]
            .map(|split| split.first().is_some_and(|first| number >= *first));
        let ([short, long], [few, many]) = (config.lengths(), config.repeat_range());
        let lengths = long - short + 1;
        let turn = SequenceSize {
            length: short + number % lengths,
            repeats: few + number / lengths % (many - few + 1),
        };
        let size = match config.valid_lengths.as_slice() {
            _ if test => config.test_size(),
            lengths @ [_, ..] if valid => SequenceSize { length: lengths[number % lengths.len()], ..turn },
            _ => turn,
        };
        config.generate(size, 0.0, &mut SeededRng::new(config.seed, &format!("sequence {number}")))
    }

    /// New sequences, all of one size, for a training step.
    pub fn fresh(&self, count: usize, rng: &mut SeededRng) -> Vec<AlgorithmSequence> {
        let draws = match self.config.length_draws {
            1 => 1,
            most => 1 + rng.below(most),
        };
        let mut any = |[low, high]: [usize; 2]| {
            let once = |rng: &mut SeededRng| low + rng.below(high - low + 1);
            (1..draws).fold(once(rng), |least, _| least.min(once(rng)))
        };
        let size =
            SequenceSize { length: any(self.config.lengths()), repeats: any(self.config.repeat_range()) };
        (0..count).map(|_| self.config.generate(size, self.config.unbalanced_bits, rng)).collect()
    }
}

impl TaskData for AlgorithmData {
    fn source(&self) -> &str {
        self.config.source.name()
    }

    fn checksum(&self) -> &str {
        &self.checksum
    }

    fn notes(&self) -> &[String] {
        &[]
    }

    fn split(&self, split: Split) -> &[usize] {
        split.of(&self.indices)
    }
}
