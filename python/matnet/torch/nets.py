"""The nets of matnet in PyTorch: the same equations, options and parameter names, written plainly.

Names and shapes of the parameters are those of matnet's safetensors files, so that a state dict fits both
sides. A config is a dict with the keys of matnet's config files; `build` makes the net from it.

Between layers a state is [batch, rows, cols]; a vector of n numbers is a state of one column, [batch, n, 1].
Dropout and noise are left out: they are random, and nothing random can be compared.
"""

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


def step(cell: str, activation: str, x: list[Tensor], state: State, from_state) -> State:
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

    def forward(self, inputs: list[Tensor], state: State | None = None) -> tuple[list[Tensor], State]:
        """From one input per step to one H per step, and the last state."""
        state = self.zeros(len(inputs[0])) if state is None else state
        hidden = []
        for x in inputs:
            from_input = [self.from_input(gate, x) for gate in range(GATES[self.cell])]
            state = step(self.cell, self.activation, from_input, state, self.from_state)
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


class Recurrent(nn.Module):
    """Recurrent layers, one on the other; the backward chain's states stand below the forward chain's."""

    def __init__(self, config: dict, source: Shape):
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
        self, inputs: list[Tensor], starts: list[State] | None = None
    ) -> tuple[list[Tensor], Tensor, list[State]]:
        """One H per step, the H that has read everything, and the last state of every cell."""
        starts = starts or [None] * (len(self.layer) + len(self.backward))
        ends, back_ends = [], []
        for index, cell in enumerate(self.layer):
            hidden, end = cell(inputs, starts[index])
            last = hidden[-1]
            ends.append(end)
            if self.backward:
                back, end = self.backward[index](inputs[::-1], starts[len(self.layer) + index])
                hidden = [torch.cat(pair, 1) for pair in zip(hidden, back[::-1])]
                last = torch.cat([last, back[-1]], 1)
                back_ends.append(end)
            inputs = hidden
        return hidden, last, ends + back_ends


class MatrixHead(Map):
    """A head that returns a matrix, σ(mat1(H)); a vector is reshaped to it."""

    def __init__(self, form: str, state: Shape, shape: Shape, activation: str):
        super().__init__(form, state, holding(form, shape), activation=activation)
        self.shape = shape

    def forward(self, state: Tensor) -> Tensor:
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


# Nets


class FeedForward(nn.Module):
    """Hidden layers to any depth, with or without skips, tied or not, then a head."""

    def __init__(self, config: dict):
        super().__init__()
        config = {
            "activation": "relu",
            "output_activation": "identity",
            "skip": "none",
            "block": 1,
        } | config
        self.form = form = config.get("form", "matrix")
        shapes = hidden_shapes(form, config["hidden"], config.get("depth"))
        self.depth = len(shapes)
        built = min(self.depth, 2) if config.get("tied") else self.depth
        sources = [holding(form, config["input"])] + shapes
        self.layer = nn.ModuleList(
            self.make_layer(config, index, sources[index], shapes[index]) for index in range(built)
        )
        self.head = make_head(form, shapes[-1], config["output"], config["output_activation"])

    def make_layer(self, config: dict, index: int, source: Shape, target: Shape) -> nn.Module:
        unit = lambda: Unit(self.form, source, target, config["activation"], config.get("batch_norm", False))
        kind = config["skip"]
        if index == 0 or kind == "none":
            return unit()
        candidate = [unit() for _ in range(config["block"])]
        if kind == "dense":
            return DenseSkip(candidate, min(config.get("reach") or self.depth, self.depth))
        return GatedSkip(kind, self.form, source, candidate)

    def forward(self, x: Tensor) -> Tensor:
        states = []
        for index in range(self.depth):
            layer = self.layer[min(index, len(self.layer) - 1)]
            if isinstance(layer, Unit):
                states.append(layer(states[-1] if states else enter(self.form, x)))
            else:
                states.append(layer(states))
        return self.head(states[-1])


class Decoder(nn.Module):
    """What a layer of the decoder has of its own."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(shape))


class AutoEncoder(nn.Module):
    """The decoder goes back through the encoder's maps; only its biases are its own."""

    def __init__(self, config: dict):
        super().__init__()
        self.form = form = config.get("form", "matrix")
        self.activation = config.get("activation", "relu")
        self.output_activation = config.get("output_activation", "identity")
        shapes = hidden_shapes(form, config["hidden"], config["depth"] // 2)
        sources = [holding(form, config["input"])] + shapes[:-1]
        self.encoder = nn.ModuleList(
            Map(form, source, target, activation=self.activation) for source, target in zip(sources, shapes)
        )
        self.decoder = nn.ModuleList(Decoder(shape) for shape in reversed(sources))

    def forward(self, x: Tensor) -> Tensor:
        h = enter(self.form, x)
        for layer in self.encoder:
            h = layer(h)
        for index, (layer, own) in enumerate(zip(reversed(self.encoder), self.decoder)):
            last = index + 1 == len(self.decoder)
            h = layer.transposed(h, own.bias, self.output_activation if last else self.activation)
        return h.reshape(x.shape)


RECURRENT = {
    "form": "matrix",
    "cell": "lstm",
    "activation": "tanh",
    "layers": 1,
    "bidirectional": False,
}


class SequenceClassifier(nn.Module):
    """Recurrent layers and scores from the state that has read everything."""

    def __init__(self, config: dict):
        super().__init__()
        config = RECURRENT | config
        self.form = form = config["form"]
        self.recurrent = Recurrent(config, holding(form, config["input"]))
        state, projection, shape = self.recurrent.output, None, None
        if config.get("projection"):
            shape = state_shape(form, config["projection"])
            projection = Map(form, state, shape, activation=config.get("projection_activation", "relu"))
        self.head = ClassHead(state, config["output"], projection, shape)

    def forward(self, x: Tensor) -> Tensor:
        _, last, _ = self.recurrent(enter_steps(self.form, x))
        return self.head(last)


class SequenceRegressor(SequenceClassifier):
    """The same for values."""

    def __init__(self, config: dict):
        if not isinstance(config["output"], int):
            raise NotImplementedError("output: only values, not matrices, for a sequence are there")
        super().__init__(config)


class SequenceLabeller(nn.Module):
    """Recurrent layers and a matrix or scores at every step."""

    def __init__(self, config: dict):
        super().__init__()
        config = RECURRENT | config
        self.form = form = config["form"]
        self.recurrent = Recurrent(config, holding(form, config["input"]))
        activation = config.get("output_activation", "identity")
        self.head = make_head(form, self.recurrent.output, config["output"], activation)

    def forward(self, x: Tensor) -> Tensor:
        hidden, _, _ = self.recurrent(enter_steps(self.form, x))
        return torch.stack([self.head(h) for h in hidden], 1)


class Seq2Seq(nn.Module):
    """The decoder reads the encoder's last state at every step; what it gives is not fed back."""

    def __init__(self, config: dict):
        super().__init__()
        config = RECURRENT | {"cell": "rnn"} | config
        self.form = form = config["form"]
        self.steps, self.decoder_state = config["steps"], config.get("decoder_state", "zeros")
        self.encoder = Recurrent(config, holding(form, config["input"]))
        self.decoder = Recurrent(config, self.encoder.output)
        output = config.get("output") or config["input"]
        self.head = make_head(form, self.decoder.output, output, config.get("output_activation", "identity"))

    def forward(self, x: Tensor) -> Tensor:
        _, last, ends = self.encoder(enter_steps(self.form, x))
        hidden, _, _ = self.decoder([last] * self.steps, ends if self.decoder_state == "encoder" else None)
        return torch.stack([self.head(h) for h in hidden], 1)


class Memory:
    """The memory of a Turing machine [batch, slots, width], the weights of its heads, and what was read."""

    def __init__(self, config: dict, like: Tensor):
        slots, width = config.get("slots", 128), config.get("slot_width", 20)
        self.reads, self.writes = config.get("read_heads", 1), config.get("write_heads", 1)
        self.shift, self.width = config.get("shift_range", 1), width
        batch = len(like)
        self.memory = like.new_full((batch, slots, width), 1e-6)
        self.weights = like.new_zeros(batch, self.reads + self.writes, slots)
        self.weights[:, :, 0] = 1
        self.read = like.new_zeros(batch, self.reads, width)

    def step(self, addresses: Tensor, changes: Tensor) -> None:
        """Find, erase, add, read; addresses [batch, heads, width + 4 + 2·shift], changes [batch, 2·writes, width]."""
        key, strength, gate, shifts, sharpness = addresses.split([self.width, 1, 1, 1 + 2 * self.shift, 1], -1)
        key, softplus = torch.tanh(key), nn.functional.softplus
        length = lambda x: torch.sqrt((x * x).sum(-1) + 1e-2)
        similar = key @ self.memory.mT / (length(key).unsqueeze(-1) * length(self.memory).unsqueeze(1))
        content = torch.softmax(softplus(strength) * similar, -1)
        gate = torch.sigmoid(gate)
        mixed = gate * content + (1 - gate) * self.weights
        shares = torch.softmax(shifts, -1)
        moved = sum(
            shares[..., at : at + 1] * torch.roll(mixed, at - self.shift, -1) for at in range(1 + 2 * self.shift)
        )
        powers = (moved + 1e-8) ** (1 + softplus(sharpness))
        self.weights = powers / powers.sum(-1, keepdim=True)
        writing = self.weights[:, self.reads :]
        erased, added = (
            torch.sigmoid(changes[:, : self.writes]),
            torch.tanh(changes[:, self.writes :]),
        )
        memory = self.memory
        for head in range(self.writes):
            memory = memory * (1 - writing[:, head, :, None] * erased[:, head, None, :])
        self.memory = memory + writing.mT @ added
        self.read = self.weights[:, : self.reads] @ self.memory


class TuringMachine(nn.Module):
    """A controller with a memory beside it."""

    def __init__(self, config: dict):
        super().__init__()
        form = self.form = config["form"]
        self.config = config
        hidden = state_shape(form, config["hidden"])
        width, reads, writes = (
            config.get("slot_width", 20),
            config.get("read_heads", 1),
            config.get("write_heads", 1),
        )
        read = holding(form, (reads, width))
        rows, cols = config["input"]
        self.entry = Map("vector", (cols, 1), (width, 1), bias=False) if form == "matrix" else None
        seen = (rows + reads, width) if form == "matrix" else (rows * cols + read[0], 1)
        if config.get("controller", "lstm") == "lstm":
            self.controller = Cell(form, "lstm", "tanh", seen, hidden)
        else:
            self.controller = Map(form, seen, hidden, activation="tanh")
        self.address = Map(
            form,
            hidden,
            holding(form, (reads + writes, width + 4 + 2 * config.get("shift_range", 1))),
        )
        self.change = Map(form, hidden, holding(form, (2 * writes, width)))
        self.hidden_out = Map(form, hidden, holding(form, config["output"]))
        self.read_out = Map(form, read, holding(form, config["output"]), bias=False)

    def forward(self, x: Tensor) -> Tensor:
        memory = Memory(self.config, x)
        heads = memory.reads + memory.writes
        state, given = None, []
        for step in x.unbind(1):
            seen = enter(self.form, step) if self.entry is None else self.entry.dense(step)
            seen = torch.cat([seen, enter(self.form, memory.read)], 1)
            if isinstance(self.controller, Cell):
                (hidden,), state = self.controller([seen], state)
            else:
                hidden = self.controller(seen)
            memory.step(
                self.address(hidden).reshape(len(x), heads, -1),
                self.change(hidden).reshape(len(x), 2 * memory.writes, -1),
            )
            output = self.hidden_out(hidden) + self.read_out(enter(self.form, memory.read))
            given.append(output.reshape(len(x), *self.config["output"]))
        return torch.stack(given, 1)


NETS = {
    "feedforward": FeedForward,
    "autoencoder": AutoEncoder,
    "sequence_classifier": SequenceClassifier,
    "sequence_regressor": SequenceRegressor,
    "sequence_labeller": SequenceLabeller,
    "seq2seq": Seq2Seq,
    "turing_machine": TuringMachine,
}


def build(net: str, config: dict) -> nn.Module:
    """The net of this kind with all parameters zero, to be filled."""
    return NETS[net](config)


# Shapes


def state_shape(form: str, sides: list[int]) -> Shape:
    """[rows, cols] of a matrix, [n] of a vector → (rows, cols)."""
    return (sides[0], sides[1]) if form == "matrix" else (sides[0], 1)


def holding(form: str, shape) -> Shape:
    """The shape of the state that holds a matrix of this shape."""
    return (shape[0], shape[1]) if form == "matrix" else (shape[0] * shape[1], 1)


def hidden_shapes(form: str, hidden: list, depth: int | None) -> list[Shape]:
    """One shape repeated, or a list of shapes."""
    if isinstance(hidden[0], list):
        return [state_shape(form, sides) for sides in hidden]
    return [state_shape(form, hidden)] * (depth or 1)


def make_head(form: str, state: Shape, output, activation: str) -> nn.Module:
    """Scores for a number of classes, or a matrix."""
    if isinstance(output, int):
        return ClassHead(state, output)
    return MatrixHead(form, state, tuple(output), activation)


def enter(form: str, x: Tensor) -> Tensor:
    """Matrices [batch, rows, cols] become states."""
    return x if form == "matrix" else x.reshape(len(x), -1, 1)


def enter_steps(form: str, x: Tensor) -> list[Tensor]:
    """Sequences [batch, time, rows, cols] become one state per step."""
    return [enter(form, each) for each in x.unbind(1)]
