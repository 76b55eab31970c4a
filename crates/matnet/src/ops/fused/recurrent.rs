//! Recurrences on the kernels.

use burn::backend::flex::FlexTensor;
use matnet_kernels::{Keep, Kept, Level, Reads, Recurrent};

use super::{FusedOp, Number, Schedule, dims, numbers, shaped, tensor};
use crate::ops::{Cell, Lengths};

/// A recurrence over tensors X, H₀, C₀, Ux, Vx, Uh, Vh, B, or without Ux and Vx where X came mapped.
#[derive(Clone, Debug)]
pub(super) struct RecurrentOp(pub(super) Schedule);

impl<const N: usize> FusedOp<N> for RecurrentOp {
    type Kept<E: Number> = Kept<E>;

    const RECOMPUTES: bool = true;

    fn forward<E: Number>(&self, inputs: &[FlexTensor; N], keep: Keep) -> (FlexTensor, Kept<E>) {
        let recurrent = view::<E>(inputs, &self.0);
        let [batch, rows, cols] = dims(&inputs[1]);
        let (output, kept) = recurrent.forward(Level::best(), keep);
        (tensor(output, &[batch, recurrent.outputs(), rows, cols]), kept)
    }

    fn backward<E: Number>(
        &self,
        inputs: &[FlexTensor; N],
        _: &FlexTensor,
        kept: &Kept<E>,
        gradient: FlexTensor,
        need: [bool; N],
    ) -> [Option<FlexTensor>; N] {
        let recurrent = view::<E>(inputs, &self.0);
        let gradients = recurrent.backward(Level::best(), kept, numbers(&gradient), need[0]);
        let mut all =
            vec![gradients.input, Some(gradients.hidden), recurrent.cell_state.map(|_| gradients.cell_state)];
        if recurrent.reads != Reads::Mapped {
            all.extend([Some(gradients.input_row_map), Some(gradients.input_col_map)]);
        }
        all.extend([Some(gradients.state_row_map), Some(gradients.state_col_map), Some(gradients.bias)]);
        shaped(all, inputs)
    }
}

/// The tensors seen as a recurrence.
fn view<'a, E: Number>(inputs: &'a [FlexTensor], schedule: &'a Schedule) -> Recurrent<'a, E> {
    let [x, h, c, input_maps @ .., uh, vh, b] = inputs else {
        unreachable!("six tensors, or eight");
    };
    let [_, rows, cols] = dims(b);
    let (reads, input_size, [ux, vx]) = match input_maps {
        [ux, vx] => {
            let ([_, rows_in, _], [_, cols_in, _]) = (dims(ux), dims(vx));
            let reads = if schedule.constant { Reads::Constant } else { Reads::Steps };
            (reads, [rows_in, cols_in], [numbers(ux), numbers(vx)])
        }
        _ => (Reads::Mapped, [0, 0], [&[][..]; 2]),
    };
    Recurrent {
        cell: schedule.cell.into(),
        input_size,
        state_size: [rows, cols],
        steps: schedule.steps,
        lengths: schedule.lengths.as_ref().map(Lengths::as_slice),
        input: numbers(x),
        reads,
        hidden: numbers(h),
        cell_state: (schedule.cell == Cell::Lstm).then(|| numbers(c)),
        input_row_map: ux,
        input_col_map: vx,
        state_row_map: numbers(uh),
        state_col_map: numbers(vh),
        bias: numbers(b),
        all: schedule.all,
    }
}
