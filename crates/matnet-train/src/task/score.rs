//! From the scores that a net gives to losses, classes and probabilities.

use burn::tensor::Tensor;
use burn::tensor::activation::{sigmoid, softmax};
use matnet::numbers::to_f32;

use super::loss::{ClassLoss, WeightedMean, cross_entropy};
use super::wrong::Wrong;

/// The loss and the errors of a batch.
pub struct BatchScore {
    /// The mean loss.
    pub loss: Tensor<1>,
    /// How much it counts among the losses of other batches: the examples, or the sum of their weights.
    pub weight: f64,
    /// The wrong predictions, where predictions are right or wrong.
    pub wrong: Option<Wrong>,
    /// The weight of all predictions.
    pub predictions: f64,
}

impl BatchScore {
    /// Of class scores, for these target classes; `rows` may weigh them.
    pub(crate) fn of_classes(
        scores: Tensor<2>,
        classes: &[u32],
        loss: &ClassLoss,
        rows: Option<&[f32]>,
    ) -> Self {
        let of_row = |rows: Option<&[f32]>, row: usize| rows.map_or(1.0, |rows| f64::from(rows[row]));
        let predictions = (0..classes.len()).map(|row| of_row(rows, row)).sum();
        let (output, targets) = (scores.clone().detach(), classes.to_vec());
        let weights = rows.map(<[f32]>::to_vec);
        let wrong = Wrong::later(move || {
            let (scores, width) = (to_vec(output.clone()), output.dims()[1]);
            let predicted = predicted_classes(&scores, width);
            // Scores that are not numbers predict nothing, whichever class they would give.
            let nothing = |row: usize| scores[row * width..(row + 1) * width].iter().any(|x| x.is_nan());
            let wrong = (0..targets.len()).filter(|&row| predicted[row] != targets[row] || nothing(row));
            wrong.map(|row| of_row(weights.as_deref(), row)).sum()
        });
        let WeightedMean { mean, weight } = cross_entropy(scores, classes, loss, rows);
        Self { loss: mean, weight, wrong: Some(wrong), predictions }
    }
}

/// The class with the highest score in each row; a single score is the logit of class 1.
pub fn predicted_classes(scores: &[f32], width: usize) -> Vec<u32> {
    let best = |row: &[f32]| match row {
        [logit] => u32::from(*logit > 0.0),
        row => {
            let mut best = 0;
            for (class, score) in row.iter().enumerate() {
                if *score > row[best] {
                    best = class;
                }
            }
            best as u32
        }
    };
    scores.chunks_exact(width.max(1)).map(best).collect()
}

/// Probabilities `[n, classes]` from scores; two columns from a logit.
pub fn probabilities(scores: Tensor<2>) -> Tensor<2> {
    if scores.dims()[1] == 1 {
        let positive = sigmoid(scores);
        return Tensor::cat(vec![1.0 - positive.clone(), positive], 1);
    }
    softmax(scores, 1)
}

/// The numbers of a tensor.
pub(crate) fn to_vec<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    to_f32(tensor.into_data())
}
