"""PyTorch's side of `peers/bench`: serves requests, one JSON object per line, as `matnet-bench --worker` does.

Nets and parameters are those of `matnet_torch`; only the forward pass is written for speed here, in two layouts. In both, the maps of all gates are joined, and the input's part of a recurrence is
computed for all steps at once.
"""

import sys
import tempfile
import warnings

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

import matnet_torch as peer
from worker import forget_peak, held, limit_memory, serve, timed

# PyTorch Geometric uses what PyTorch means to drop, and says so in every process.
warnings.filterwarnings("ignore", category=FutureWarning)
try:
    # Before the idle memory is read, so that the library itself does not count.
    import matnet_pyg as pyg
except ImportError:
    pyg = None


class BatchFirst:
    """States are [batch, rows, cols]: a product for all samples, then one for each, or the other way round."""

    gate_axis = 1

    def enter(self, x: Tensor) -> Tensor:
        return x

    def enter_steps(self, x: Tensor) -> Tensor:
        """[batch, time, rows, cols] → the states of all steps side by side."""
        return x.transpose(0, 1).flatten(0, 1)

    def split_steps(self, x: Tensor, steps: int) -> tuple[Tensor, ...]:
        """[time · batch, gates, rows, cols] → one of [batch, gates, rows, cols] per step."""
        return x.unflatten(0, (steps, -1)).unbind(0)

    def join_steps(self, states: list[Tensor]) -> Tensor:
        return torch.cat(states, 0)

    def leave_steps(self, x: Tensor, steps: int) -> Tensor:
        return x.unflatten(0, (steps, -1)).transpose(0, 1)

    def bias(self, bias: Tensor) -> Tensor:
        return bias

    def map(self, x: Tensor, row_map: Tensor, col_map: Tensor) -> Tensor:
        return row_map.mT @ (x @ col_map)

    def joined(self, row_map: Tensor) -> Tensor:
        """U of all gates as one: [gates, rows, rows_out] → [gates · rows_out, rows]."""
        return row_map.mT.flatten(0, 1)

    def gates(self, x: Tensor, joined: Tensor, col_map: Tensor) -> Tensor:
        """UᵀXV of every gate: [batch, gates, rows_out, cols_out]."""
        return (joined @ x).unflatten(1, (len(col_map), -1)) @ col_map

    def zeros(self, like: Tensor, batch: int, shape: peer.Shape) -> Tensor:
        return like.new_zeros(batch, *shape)

    def flat(self, x: Tensor) -> Tensor:
        return x.flatten(1)


class RowsFirst:
    """States are [rows, batch, cols]: both products are one large product for all samples."""

    gate_axis = 0

    def enter(self, x: Tensor) -> Tensor:
        return x.transpose(0, 1).contiguous()

    def enter_steps(self, x: Tensor) -> Tensor:
        return x.permute(2, 1, 0, 3).flatten(1, 2)

    def split_steps(self, x: Tensor, steps: int) -> tuple[Tensor, ...]:
        return x.unflatten(2, (steps, -1)).unbind(2)

    def join_steps(self, states: list[Tensor]) -> Tensor:
        return torch.cat(states, 1)

    def leave_steps(self, x: Tensor, steps: int) -> Tensor:
        return x.unflatten(1, (steps, -1)).permute(2, 1, 0, 3)

    def bias(self, bias: Tensor) -> Tensor:
        return bias.unsqueeze(-2)

    def map(self, x: Tensor, row_map: Tensor, col_map: Tensor) -> Tensor:
        return self.gates(x, row_map.mT, col_map.unsqueeze(0)).squeeze(0)

    def joined(self, row_map: Tensor) -> Tensor:
        return row_map.mT.flatten(0, 1)

    def gates(self, x: Tensor, joined: Tensor, col_map: Tensor) -> Tensor:
        """UᵀXV of every gate: [gates, rows_out, batch, cols_out]."""
        _, batch, cols = x.shape
        left = (joined @ x.flatten(1)).view(len(col_map), -1, cols)
        product = left[0] @ col_map[0] if len(col_map) == 1 else torch.bmm(left, col_map)
        return product.view(len(col_map), -1, batch, col_map.shape[-1])

    def zeros(self, like: Tensor, batch: int, shape: peer.Shape) -> Tensor:
        return like.new_zeros(shape[0], batch, shape[1])

    def flat(self, x: Tensor) -> Tensor:
        return x.transpose(0, 1).flatten(1)


Layout = BatchFirst | RowsFirst


def apply_map(layout: Layout, map: peer.Map, x: Tensor) -> Tensor:
    mapped = layout.map(x, map.row_map, map.col_map) + layout.bias(map.bias)
    return peer.ACTIVATIONS[map.activation](mapped)


def sequence(layout: Layout, cell: peer.Cell, x: Tensor, steps: int, constant: bool = False) -> list[Tensor]:
    """All hidden states from the zero state; `x` has all steps side by side, or one state for all."""
    f, kind = peer.ACTIVATIONS[cell.activation], cell.cell
    axis, count = layout.gate_axis, peer.GATES[kind]
    from_input = layout.gates(x, layout.joined(cell.input_row_map), cell.input_col_map)
    from_input = from_input + (cell.bias if axis == 1 else cell.bias.unsqueeze(2))
    inputs = [from_input] * steps if constant else layout.split_steps(from_input, steps)
    samples = inputs[0].shape[0 if axis == 1 else 2]
    col_map = cell.state_col_map
    joined = layout.joined(cell.state_row_map)
    if kind == "gru":
        joined, last = layout.joined(cell.state_row_map[:2]), layout.joined(cell.state_row_map[2:])
        col_map, last_col_map = col_map[:2], col_map[2:]
    h = c = layout.zeros(x, samples, cell.shape)
    hidden = []
    for x_t in inputs:
        if kind == "rnn":
            h = f((x_t + layout.gates(h, joined, col_map)).squeeze(axis))
        elif kind == "lstm":
            sums = x_t + layout.gates(h, joined, col_map)
            i, forget, o = torch.sigmoid(sums.narrow(axis, 0, 3)).unbind(axis)
            c = torch.addcmul(forget * c, i, torch.tanh(sums.select(axis, count - 1)))
            h = o * torch.tanh(c)
        else:
            z, r = torch.sigmoid(x_t.narrow(axis, 0, 2) + layout.gates(h, joined, col_map)).unbind(axis)
            candidate = f(x_t.select(axis, 2) + layout.gates(r * h, last, last_col_map).squeeze(axis))
            h = torch.lerp(h, candidate, z)
        hidden.append(h)
    return hidden


class Matrix(nn.Module):
    """A matrix net of the table in one of the layouts."""

    def __init__(self, row: dict, layout: Layout):
        super().__init__()
        self.net, self.layout, self.row = peer.build(row["net"], row["config"]), layout, row

    def forward(self, x: Tensor) -> Tensor:
        net, layout = self.net, self.layout
        steps = self.row.get("time", 0)
        if self.row["net"] == "feedforward":
            h = layout.enter(x)
            for layer in net.layer:
                h = apply_map(layout, layer, h)
            return net.head.dense(layout.flat(h))
        if self.row["net"] == "sequence_classifier":
            h = sequence(layout, net.recurrent.layer[0], layout.enter_steps(x), steps)[-1]
            h = h if net.head.projection is None else apply_map(layout, net.head.projection, h)
            return net.head.dense(layout.flat(h))
        last = sequence(layout, net.encoder.layer[0], layout.enter_steps(x), steps)[-1]
        hidden = sequence(layout, net.decoder.layer[0], last, net.steps, constant=True)
        return layout.leave_steps(apply_map(layout, net.head, layout.join_steps(hidden)), net.steps)


class VectorLstm(nn.Module):
    """The vector LSTM classifier, written out or with PyTorch's own LSTM."""

    def __init__(self, row: dict, own: bool):
        super().__init__()
        self.net = peer.build(row["net"], row["config"])
        cell = self.net.recurrent.layer[0]
        inputs, self.hidden = cell.input_map.shape[1:]
        self.lstm = nn.LSTM(inputs, self.hidden) if own else None

    def load(self) -> None:
        """PyTorch's LSTM has the gates in another order, I, F, Ĉ, O, and two biases."""
        cell = self.net.recurrent.layer[0]
        order = [0, 1, 3, 2]
        with torch.no_grad():
            self.lstm.weight_ih_l0.copy_(cell.input_map[order].mT.flatten(0, 1))
            self.lstm.weight_hh_l0.copy_(cell.state_map[order].mT.flatten(0, 1))
            self.lstm.bias_ih_l0.copy_(cell.bias[order].flatten())
            self.lstm.bias_hh_l0.zero_()
        self.net.recurrent = None

    def forward(self, x: Tensor) -> Tensor:
        x = x.flatten(2).transpose(0, 1)
        if self.lstm is not None:
            _, (h, _) = self.lstm(x)
            h = h[0]
        else:
            cell = self.net.recurrent.layer[0]
            joined = lambda stacked: stacked.transpose(0, 1).flatten(1)
            from_input = x @ joined(cell.input_map) + cell.bias.flatten()
            state_map = joined(cell.state_map)
            h = c = x.new_zeros(x.shape[1], self.hidden)
            for x_t in from_input.unbind(0):
                sums = torch.addmm(x_t, h, state_map)
                i, forget, o = torch.sigmoid(sums[:, : 3 * self.hidden]).chunk(3, 1)
                c = torch.addcmul(forget * c, i, torch.tanh(sums[:, 3 * self.hidden :]))
                h = o * torch.tanh(c)
        return self.net.head(h.unsqueeze(-1))


class OnGraph(nn.Module):
    """A net on a graph: along edges with PyG's scatter, or (where there are no heads) with PyTorch's sparse matrices."""

    def __init__(self, row: dict, layout: str, edges: Tensor, nodes: int):
        super().__init__()
        self.layout, self.kind = layout, row["net"]
        config = row["config"]
        self.net = pyg.Gcn(config, cached=True) if self.kind == "gcn" else pyg.ColumnNet(config)
        self.links = pyg.relations([edges], directed=False)
        if layout == "sparse":
            source, target = self.links[0]
            weight = torch.ones(len(source))
            if self.kind == "column_net":
                weight = 1 / torch.bincount(target, minlength=nodes)[target].float()
            entries = torch.sparse_coo_tensor(torch.stack([target, source]), weight, (nodes, nodes))
            self.links = [entries.coalesce().to_sparse_csr()]
            for layer in self.net.layer if self.kind == "column_net" else []:
                layer.aggregate = lambda relation, mean, h: mean @ h

    def forward(self, x: Tensor) -> Tensor:
        return self.net(self.links, x)


LOSSES = {
    "column_net": functional.cross_entropy,
    "gcn": functional.cross_entropy,
    "feedforward": lambda output, target: functional.cross_entropy(output, target.long()),
    "sequence_classifier": functional.binary_cross_entropy_with_logits,
    "seq2seq": functional.mse_loss,
}


class Task:
    """A loaded row, in one layout; compiled in a mode of torch.compile, or not."""

    def __init__(self, row: dict, layout: str, compiled: str | None, file: str):
        stored = load_file(file)
        weights = {key.removeprefix("weight."): stored[key] for key in stored if key.startswith("weight.")}
        self.input, self.target, self.trains = stored["input"], stored["target"], row["mode"] == "train"
        if "graph" in row:
            net = OnGraph(row, layout, stored["edges"], len(self.input))
            net.net.load_state_dict(weights)
        elif row["config"].get("form") == "vector":
            net = VectorLstm(row, own=layout == "nn.LSTM")
            net.net.load_state_dict(weights)
            if net.lstm is not None:
                net.load()
        else:
            net = Matrix(row, {"batch-first": BatchFirst, "rows-first": RowsFirst}[layout]())
            net.net.load_state_dict(weights)
        self.net = net.train(self.trains)
        loss = LOSSES[row["net"]]
        if self.trains:
            self.function = lambda x, y: loss(net(x), y)
        else:
            self.function = lambda x, y: net(x).sum()
        if compiled and compiled != "onnx":
            # Weights that never change may become constants of the program.
            torch._inductor.config.freezing = not self.trains
            self.function = torch.compile(self.function, dynamic=False, mode=compiled)
        self.fused = None
        if self.trains:
            self.optimizer = torch.optim.Adam(net.parameters(), fused=True)

    def step(self) -> Tensor:
        if not self.trains:
            with torch.inference_mode():
                return self.function(self.input, self.target)
        loss = self.function(self.input, self.target)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss

    def warm_up(self) -> float:
        """Returns the first loss; also selects the faster of PyTorch's two implementations of Adam."""
        first = self.step().item()
        for _ in range(2):
            self.step()
        if self.trains:
            self.function(self.input, self.target).backward()
            times = {}
            for fused in (False, True):
                optimizer = torch.optim.Adam(self.net.parameters(), fused=fused)
                optimizer.step()
                times[fused] = min(timed(optimizer.step) for _ in range(5)), optimizer
            self.fused = times[True][0] <= times[False][0]
            self.optimizer = times[self.fused][1]
            self.optimizer.zero_grad()
            self.step()
        return first


class OnnxTask(Task):
    """The net of an inference row in ONNX Runtime, exported by PyTorch."""

    def __init__(self, row: dict, layout: str, compiled: str, file: str):
        import onnxruntime

        super().__init__(row, layout, compiled, file)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/net.onnx"
            torch.onnx.export(self.net.eval(), (self.input,), path, dynamo=True, input_names=["x"], verbose=False)
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = torch.get_num_threads()
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        inputs = {"x": self.input.numpy()}
        self.function = lambda x, y: session.run(None, inputs)[0].sum()


def sgemm(side: int) -> float:
    """The fastest of a few large products, in GFLOP/s."""
    a, b = torch.full((side, side), 0.5), torch.full((side, side), 0.5)
    best = min(timed(lambda: a @ b) for _ in range(6))
    return 2 * side**3 / best / 1e6


def main() -> None:
    limit_memory()
    torch.set_num_threads(int(sys.argv[1]))
    idle = held("VmRSS:")
    task: list[Task] = []

    def load(request: dict) -> dict:
        kind = OnnxTask if request["compiled"] == "onnx" else Task
        task[:] = [kind(request["row"], request["layout"], request["compiled"], request["file"])]
        answer = {"loss": task[0].warm_up(), "fused_adam": task[0].fused}
        forget_peak()
        return answer

    def run(request: dict) -> dict:
        times = [timed(task[0].step) for _ in range(request["repeats"])]
        return {"ms": times, "memory": held("VmHWM:") - idle}

    serve(
        {
            "info": lambda _: {"torch": torch.__version__, "threads": torch.get_num_threads()},
            "sgemm": lambda request: {"torch": sgemm(request["side"])},
            "load": load,
            "run": run,
        }
    )


if __name__ == "__main__":
    main()
