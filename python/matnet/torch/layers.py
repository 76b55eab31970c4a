"""Operations and layers of matnet in PyTorch: the same equations, options and parameter names, written plainly.

Between layers a state is [batch, rows, cols]; a vector of n numbers is a state of one column, [batch, n, 1].
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

Shape = tuple[int, int]
State = tuple[Tensor, Tensor | None]  # H, and C of an LSTM

ACTIVATIONS = {
    "identity": lambda x: x,
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}

GATES = {"rnn": 1, "lstm": 4, "gru": 3}


# Operations


def two_sided(x: Tensor, row_map: Tensor, col_map: Tensor) -> Tensor:
    """UᵀXV for every X."""
    return row_map.mT @ (x @ col_map)


def mat1(x: Tensor, row_map: Tensor, col_map: Tensor, bias: Tensor | None, activation: str) -> Tensor:
    """σ(UᵀXV + B)"""
    mapped = two_sided(x, row_map, col_map)
    return ACTIVATIONS[activation](mapped if bias is None else mapped + bias)


def mat2(p: Tensor, q: Tensor, maps: dict[str, Tensor], activation: str) -> Tensor:
    """σ(UpᵀPVp + UqᵀQVq + B)"""
    total = two_sided(p, maps["p_row_map"], maps["p_col_map"])
    total = total + two_sided(q, maps["q_row_map"], maps["q_col_map"])
    return ACTIVATIONS[activation](total + maps["bias"] if "bias" in maps else total)


def step(
    cell: str, activation: str, x: list[Tensor], state: State, from_state: Callable[[int, Tensor], Tensor]
) -> State:
    """One step of a recurrence.

    `x` has the input's part of every gate, bias included; `from_state(gate, h)` gives the state's part.
    """
    f = ACTIVATIONS[activation]
    h, c = state
    if cell == "rnn":
        return f(x[0] + from_state(0, h)), None
    if cell == "lstm":
        i, forget, o = (torch.sigmoid(x[gate] + from_state(gate, h)) for gate in range(3))
        c = forget * c + i * torch.tanh(x[3] + from_state(3, h))
        return o * torch.tanh(c), c
    z, r = (torch.sigmoid(x[gate] + from_state(gate, h)) for gate in range(2))
    candidate = f(x[2] + from_state(2, r * h))
    return (1 - z) * h + z * candidate, None


# Layers


class Map(nn.Module):
    """σ(UᵀXV + B) between matrices, or σ(Wᵀx + b) between states of one column."""

    def __init__(
        self,
        form: str,
        source: Shape,
        target: Shape,
        bias: bool = True,
        activation: str = "identity",
    ):
        super().__init__()
        self.form, self.activation = form, activation
        if form == "matrix":
            self.row_map = nn.Parameter(torch.zeros(source[0], target[0]))
            self.col_map = nn.Parameter(torch.zeros(source[1], target[1]))
            self.bias = nn.Parameter(torch.zeros(target)) if bias else None
        else:
            self.weight = nn.Parameter(torch.zeros(source[0], target[0]))
            self.bias = nn.Parameter(torch.zeros(target[0])) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        if self.form == "matrix":
            return mat1(x, self.row_map, self.col_map, self.bias, self.activation)
        return self.dense(x.squeeze(-1)).unsqueeze(-1)

    def dense(self, x: Tensor) -> Tensor:
        mapped = x @ self.weight
        return ACTIVATIONS[self.activation](mapped if self.bias is None else mapped + self.bias)

    def transposed(self, h: Tensor, bias: Tensor, activation: str) -> Tensor:
        """The way back with the same maps and another bias: σ(U H Vᵀ + B)."""
        if self.form == "matrix":
            return mat1(h, self.row_map.mT, self.col_map.mT, bias, activation)
        return ACTIVATIONS[activation](self.weight @ h + bias)


class BatchNorm(nn.Module):
    """Batch norm of every entry on its own; the running variance is that of n samples, not n − 1."""

    epsilon, momentum = 1e-5, 0.1

    def __init__(self, shape: Shape):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(shape))
        self.shift = nn.Parameter(torch.zeros(shape))
        self.register_buffer("running_mean", torch.zeros(shape))
        self.register_buffer("running_variance", torch.ones(shape))

    def forward(self, x: Tensor) -> Tensor:
        mean, variance = self.running_mean, self.running_variance
        if self.training:
            mean, variance = x.mean(0), x.var(0, correction=0)
            self.running_mean.lerp_(mean.detach(), self.momentum)
            self.running_variance.lerp_(variance.detach(), self.momentum)
        return self.scale * (x - mean) / torch.sqrt(variance + self.epsilon) + self.shift


class Unit(Map):
    """One layer of a deep net: σ(norm(map(X))); the norm stands in the place of the bias."""

    def __init__(self, form: str, source: Shape, target: Shape, activation: str, norm: bool):
        super().__init__(form, source, target, bias=not norm, activation="identity" if norm else activation)
        self.norm = BatchNorm(target) if norm else None
        self.after = activation

    def forward(self, x: Tensor) -> Tensor:
        mapped = super().forward(x)
        return mapped if self.norm is None else ACTIVATIONS[self.after](self.norm(mapped))


class GatedSkip(nn.Module):
    """R ⊙ H + Z ⊙ F(H): gated (both learned), highway (R = 1 − Z), residual (both 1)."""

    def __init__(self, kind: str, form: str, shape: Shape, candidate: list[Unit]):
        super().__init__()
        gate = lambda: Map(form, shape, shape, activation="sigmoid")
        self.kind = kind
        self.candidate = nn.Sequential(*candidate)
        self.transform = gate() if kind in ("gated", "highway") else None
        self.carry = gate() if kind == "gated" else None

    def forward(self, earlier: list[Tensor]) -> Tensor:
        h = earlier[-1]
        candidate = self.candidate(h)
        if self.kind == "residual":
            return h + candidate
        assert self.transform is not None
        z = self.transform(h)
        r = 1 - z if self.carry is None else self.carry(h)
        return r * h + z * candidate


class DenseSkip(nn.Module):
    """Σₖ Rₖ Hₜ₋ₖ + F(Hₜ₋₁), the Rₖ a softmax over one score per earlier layer, the nearest first."""

    def __init__(self, candidate: list[Unit], reach: int):
        super().__init__()
        self.candidate = nn.Sequential(*candidate)
        self.scores = nn.Parameter(torch.zeros(reach))

    def forward(self, earlier: list[Tensor]) -> Tensor:
        nearest = earlier[::-1][: len(self.scores)]
        gates = torch.softmax(self.scores[: len(nearest)], 0)
        return self.candidate(earlier[-1]) + sum(gate * h for gate, h in zip(gates, nearest))


class Cell(nn.Module):
    """The RNN, LSTM or GRU, matrix or vector; the maps of all gates are stacked."""

    def __init__(self, form: str, cell: str, activation: str, source: Shape, target: Shape):
        super().__init__()
        self.form, self.cell, self.activation, self.shape = form, cell, activation, target
        zeros = lambda *shape: nn.Parameter(torch.zeros(GATES[cell], *shape))
        if form == "matrix":
            self.input_row_map = zeros(source[0], target[0])
            self.input_col_map = zeros(source[1], target[1])
            self.state_row_map = zeros(target[0], target[0])
            self.state_col_map = zeros(target[1], target[1])
            self.bias = zeros(*target)
        else:
            self.input_map = zeros(source[0], target[0])
            self.state_map = zeros(target[0], target[0])
            self.bias = zeros(target[0])

    def zeros(self, batch: int) -> State:
        state = self.bias.new_zeros(batch, *self.shape)
        return state, state if self.cell == "lstm" else None

    def forward(
        self, inputs: list[Tensor], state: State | None = None, lengths: Tensor | None = None
    ) -> tuple[list[Tensor], State]:
        """From one input per step to one H per step, and the last state, which a sequence keeps after its own length."""
        state = self.zeros(len(inputs[0])) if state is None else state
        hidden = []
        for at, x in enumerate(inputs):
            from_input = [self.from_input(gate, x) for gate in range(GATES[self.cell])]
            following = step(self.cell, self.activation, from_input, state, self.from_state)
            state = following if lengths is None else kept(state, following, at < lengths)
            hidden.append(state[0])
        return hidden, state

    def from_input(self, gate: int, x: Tensor) -> Tensor:
        if self.form == "matrix":
            return two_sided(x, self.input_row_map[gate], self.input_col_map[gate]) + self.bias[gate]
        return self.input_map[gate].mT @ x + self.bias[gate].unsqueeze(-1)

    def from_state(self, gate: int, h: Tensor) -> Tensor:
        if self.form == "matrix":
            return two_sided(h, self.state_row_map[gate], self.state_col_map[gate])
        return self.state_map[gate].mT @ h


def kept(state: State, following: State, goes_on: Tensor) -> State:
    """The following state of the sequences that go on, the former of the others."""
    goes_on = goes_on[:, None, None]
    h, c = (None if new is None else torch.where(goes_on, new, old) for old, new in zip(state, following))
    return h, c


def turned(steps: list[Tensor], lengths: Tensor | None) -> list[Tensor]:
    """The steps in reverse order, those of each sequence within its own length."""
    if lengths is None:
        return steps[::-1]
    stacked = torch.stack(steps, 1)
    at = torch.arange(len(steps), device=lengths.device)
    places = torch.where(at < lengths[:, None], lengths[:, None] - 1 - at, at)
    return list(stacked[torch.arange(len(stacked), device=lengths.device)[:, None], places].unbind(1))


class Recurrent(nn.Module):
    """Recurrent layers, one on the other; the backward chain's states stand below the forward chain's."""

    def __init__(self, config: dict[str, Any], source: Shape):
        super().__init__()
        form, hidden = config["form"], state_shape(config["form"], config["hidden"])
        both = config["bidirectional"]
        self.output = (hidden[0] * (2 if both else 1), hidden[1])
        sources = [source] + [self.output] * (config["layers"] - 1)
        chain = lambda: nn.ModuleList(
            Cell(form, config["cell"], config["activation"], each, hidden) for each in sources
        )
        self.layer = chain()
        self.backward = chain() if both else nn.ModuleList()

    def forward(
        self,
        inputs: list[Tensor],
        starts: list[State] | None = None,
        lengths: Tensor | None = None,
    ) -> tuple[list[Tensor], Tensor, list[State]]:
        """One H per step, the H that has read everything, and the last state of every cell."""
        begins: list[State | None] = [*starts] if starts else [None] * (len(self.layer) + len(self.backward))
        ends, back_ends = [], []
        for index, cell in enumerate(self.layer):
            hidden, end = cell(inputs, begins[index], lengths)
            last = hidden[-1]
            ends.append(end)
            if self.backward:
                start = begins[len(self.layer) + index]
                back, end = self.backward[index](turned(inputs, lengths), start, lengths)
                hidden = [torch.cat(pair, 1) for pair in zip(hidden, turned(back, lengths))]
                last = torch.cat([last, back[-1]], 1)
                back_ends.append(end)
            inputs = hidden
        return hidden, last, ends + back_ends


class MatrixHead(Map):
    """A head that returns a matrix, σ(mat1(H)) of the state or of a projection of it; a vector is reshaped to it."""

    def __init__(
        self,
        form: str,
        state: Shape,
        shape: Shape,
        activation: str,
        projection: Map | None = None,
        projection_shape: Shape | None = None,
    ):
        super().__init__(form, projection_shape or state, holding(form, shape), activation=activation)
        self.shape, self.projection = shape, projection

    def forward(self, state: Tensor) -> Tensor:
        state = state if self.projection is None else self.projection(state)
        return super().forward(state).reshape(-1, *self.shape)


class ClassHead(Map):
    """A head that returns a score per class from the flattened state, or from a projection of it."""

    def __init__(
        self,
        state: Shape,
        classes: int,
        projection: Map | None = None,
        projection_shape: Shape | None = None,
    ):
        rows, cols = projection_shape or state
        super().__init__("vector", (rows * cols, 1), (classes, 1))
        self.projection = projection

    def forward(self, state: Tensor) -> Tensor:
        state = state if self.projection is None else self.projection(state)
        return self.dense(state.flatten(1))


# Shapes


def state_shape(form: str, sides: list[int]) -> Shape:
    """[rows, cols] of a matrix, [n] of a vector → (rows, cols)."""
    return (sides[0], sides[1]) if form == "matrix" else (sides[0], 1)


def holding(form: str, shape: Sequence[int]) -> Shape:
    """The shape of the state that holds a matrix of this shape."""
    return (shape[0], shape[1]) if form == "matrix" else (shape[0] * shape[1], 1)


def hidden_shapes(form: str, hidden: list[Any], depth: int | None) -> list[Shape]:
    """One shape repeated, or a list of shapes."""
    if isinstance(hidden[0], list):
        return [state_shape(form, sides) for sides in hidden]
    return [state_shape(form, hidden)] * (depth or 1)


def make_head(
    form: str,
    state: Shape,
    output: int | Sequence[int],
    activation: str,
    projection: Map | None = None,
    projection_shape: Shape | None = None,
) -> nn.Module:
    """Scores for a number of classes, or a matrix."""
    if isinstance(output, int):
        return ClassHead(state, output, projection, projection_shape)
    return MatrixHead(form, state, (output[0], output[1]), activation, projection, projection_shape)


def enter(form: str, x: Tensor) -> Tensor:
    """Matrices [batch, rows, cols] become states."""
    return x if form == "matrix" else x.reshape(len(x), -1, 1)


def enter_steps(form: str, x: Tensor) -> list[Tensor]:
    """Sequences [batch, time, rows, cols] become one state per step."""
    return [enter(form, each) for each in x.unbind(1)]


def within(steps: Tensor, lengths: Tensor) -> Tensor:
    """Steps [batch, time, …] with zeros after the end of each sequence."""
    goes_on = torch.arange(steps.shape[1], device=lengths.device) < lengths[:, None]
    return steps * goes_on.reshape(*goes_on.shape, *[1] * (steps.ndim - 2)).to(steps)
