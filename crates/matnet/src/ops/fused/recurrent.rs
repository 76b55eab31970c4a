//! Recurrences on the kernels.

use burn::backend::flex::FlexTensor;
use matnet_kernels::{Kept, Level, Recurrent};

use super::{Either, FusedOp, Number, Schedule, dims, is_double, numbers, tensor};
use crate::ops::Cell;

/// A recurrence over tensors X, H₀, C₀, Ux, Vx, Uh, Vh, B.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecurrentOp(pub(super) Schedule);

impl FusedOp<8> for RecurrentOp {
    type Kept = Either<Kept<f32>, Kept<f64>>;

    fn forward(self, inputs: &[FlexTensor; 8], keep: bool) -> (FlexTensor, Self::Kept) {
        forward(inputs, self.0, keep)
    }

    fn backward(
        self,
        inputs: &[FlexTensor; 8],
        _: &FlexTensor,
        kept: &Self::Kept,
        gradient: FlexTensor,
        need: [bool; 8],
    ) -> [Option<FlexTensor>; 8] {
        match kept {
            Either::Single(kept) => backward(inputs, self.0, kept, &gradient, need[0]),
            Either::Double(kept) => backward(inputs, self.0, kept, &gradient, need[0]),
        }
    }
}

/// The outputs of the recurrence, and with `keep` what its backward pass needs.
pub(super) fn forward(
    inputs: &[FlexTensor; 8],
    schedule: Schedule,
    keep: bool,
) -> (FlexTensor, Either<Kept<f32>, Kept<f64>>) {
    fn run<E: Number>(inputs: &[FlexTensor; 8], schedule: Schedule, keep: bool) -> (FlexTensor, Kept<E>) {
        let recurrent = view::<E>(inputs, schedule);
        let [batch, rows, cols] = dims(&inputs[1]);
        let (output, kept) = recurrent.forward(Level::best(), keep);
        (tensor(output, &[batch, recurrent.outputs(), rows, cols]), kept)
    }
    if is_double(&inputs[0]) {
        let (output, kept) = run(inputs, schedule, keep);
        (output, Either::Double(kept))
    } else {
        let (output, kept) = run(inputs, schedule, keep);
        (output, Either::Single(kept))
    }
}

fn backward<E: Number>(
    inputs: &[FlexTensor; 8],
    schedule: Schedule,
    kept: &Kept<E>,
    gradient: &FlexTensor,
    need_input: bool,
) -> [Option<FlexTensor>; 8] {
    let recurrent = view::<E>(inputs, schedule);
    let gradients = recurrent.backward(Level::best(), kept, numbers(gradient), need_input);
    let all = [
        gradients.input,
        Some(gradients.hidden),
        recurrent.memory.map(|_| gradients.memory),
        Some(gradients.input_row_map),
        Some(gradients.input_col_map),
        Some(gradients.state_row_map),
        Some(gradients.state_col_map),
        Some(gradients.bias),
    ];
    let mut pairs = all.into_iter().zip(inputs);
    std::array::from_fn(|_| {
        let (gradient, input) = pairs.next()?;
        Some(tensor(gradient?, input.layout().shape()))
    })
}

/// The tensors seen as a recurrence.
fn view<E: Number>(inputs: &[FlexTensor; 8], schedule: Schedule) -> Recurrent<'_, E> {
    let [x, h, c, ux, vx, uh, vh, b] = inputs;
    let ([_, rows_in, _], [_, cols_in, _]) = (dims(ux), dims(vx));
    let [_, rows, cols] = dims(b);
    Recurrent {
        cell: schedule.cell.into(),
        input_size: [rows_in, cols_in],
        state_size: [rows, cols],
        steps: schedule.steps,
        input: numbers(x),
        constant: schedule.constant,
        hidden: numbers(h),
        memory: (schedule.cell == Cell::Lstm).then(|| numbers(c)),
        input_row_map: numbers(ux),
        input_col_map: numbers(vx),
        state_row_map: numbers(uh),
        state_col_map: numbers(vh),
        bias: numbers(b),
        all: schedule.all,
    }
}
