"""The nets of matnet in PyTorch: the same equations, options and parameter names, written plainly.

Names and shapes of the parameters are those of matnet's safetensors files, so that a state dict fits both
sides. A config is a dict with the keys of matnet's config files; `build` makes the net from it.

Dropout and noise are left out: they are random, and nothing random can be compared.
"""

from typing import Any

import torch
from torch import Tensor, nn

from matnet.torch.layers import (
    Cell,
    DenseSkip,
    GatedSkip,
    Map,
    Recurrent,
    Shape,
    Unit,
    enter,
    enter_steps,
    hidden_shapes,
    holding,
    make_head,
    state_shape,
    within,
)


class FeedForward(nn.Module):
    """Hidden layers to any depth, with or without skips, tied or not, then a head."""

    def __init__(self, config: dict[str, Any]):
        super().__init__()
        config = {
            "activation": "relu",
            "output_activation": "identity",
            "skip": "none",
            "block": 1,
            **config,
        }
        self.form = form = config.get("form", "matrix")
        shapes = hidden_shapes(form, config["hidden"], config.get("depth"))
        self.depth = len(shapes)
        built = min(self.depth, 2) if config.get("tied") else self.depth
        sources = [holding(form, config["input"])] + shapes
        self.layer = nn.ModuleList(
            self.make_layer(config, index, sources[index], shapes[index]) for index in range(built)
        )
        self.head = make_head(form, shapes[-1], config["output"], config["output_activation"])

    def make_layer(self, config: dict[str, Any], index: int, source: Shape, target: Shape) -> nn.Module:
        unit = lambda: Unit(self.form, source, target, config["activation"], config.get("batch_norm", False))
        kind = config["skip"]
        if index == 0 or kind == "none":
            return unit()
        candidate = [unit() for _ in range(config["block"])]
        if kind == "dense":
            return DenseSkip(candidate, min(config.get("reach") or self.depth, self.depth))
        return GatedSkip(kind, self.form, source, candidate)

    def forward(self, x: Tensor) -> Tensor:
        states: list[Tensor] = []
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

    def __init__(self, config: dict[str, Any]):
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


RECURRENT: dict[str, Any] = {
    "form": "matrix",
    "cell": "lstm",
    "activation": "tanh",
    "layers": 1,
    "bidirectional": False,
}


class SequenceClassifier(nn.Module):
    """Recurrent layers, and scores, values or a matrix from the state that has read everything."""

    def __init__(self, config: dict[str, Any]):
        super().__init__()
        config = RECURRENT | config
        self.form = form = config["form"]
        self.recurrent = Recurrent(config, holding(form, config["input"]))
        state, projection, shape = self.recurrent.output, None, None
        if config.get("projection"):
            shape = state_shape(form, config["projection"])
            projection = Map(form, state, shape, activation=config.get("projection_activation", "relu"))
        activation = config.get("output_activation", "identity")
        self.head = make_head(form, state, config["output"], activation, projection, shape)

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        _, last, _ = self.recurrent(enter_steps(self.form, x), lengths=lengths)
        return self.head(last)


class SequenceLabeller(nn.Module):
    """Recurrent layers and a matrix or scores at every step."""

    def __init__(self, config: dict[str, Any]):
        super().__init__()
        config = RECURRENT | config
        self.form = form = config["form"]
        self.recurrent = Recurrent(config, holding(form, config["input"]))
        activation = config.get("output_activation", "identity")
        self.head = make_head(form, self.recurrent.output, config["output"], activation)

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Zeros after the end of a sequence."""
        hidden, _, _ = self.recurrent(enter_steps(self.form, x), lengths=lengths)
        output = torch.stack([self.head(h) for h in hidden], 1)
        return output if lengths is None else within(output, lengths)


class Seq2Seq(nn.Module):
    """The decoder reads the encoder's last state at every step; what it gives is not fed back."""

    def __init__(self, config: dict[str, Any]):
        super().__init__()
        config = RECURRENT | {"cell": "rnn"} | config
        self.form = form = config["form"]
        self.steps, self.decoder_state = config["steps"], config.get("decoder_state", "zeros")
        self.encoder = Recurrent(config, holding(form, config["input"]))
        self.decoder = Recurrent(config, self.encoder.output)
        output = config.get("output") or config["input"]
        self.head = make_head(form, self.decoder.output, output, config.get("output_activation", "identity"))

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        _, last, ends = self.encoder(enter_steps(self.form, x), lengths=lengths)
        hidden, _, _ = self.decoder([last] * self.steps, ends if self.decoder_state == "encoder" else None)
        return torch.stack([self.head(h) for h in hidden], 1)


class Memory:
    """The memory of a Turing machine [batch, slots, width], the weights of its heads, and what was read."""

    def __init__(self, config: dict[str, Any], like: Tensor):
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

    def __init__(self, config: dict[str, Any]):
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
    "sequence_regressor": SequenceClassifier,
    "sequence_labeller": SequenceLabeller,
    "seq2seq": Seq2Seq,
    "turing_machine": TuringMachine,
}


def build(net: str, config: dict[str, Any]) -> nn.Module:
    """The net of this kind with all parameters zero, to be filled."""
    return NETS[net](config)
