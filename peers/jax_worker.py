"""JAX's side of `peers/bench`: serves requests, one JSON object per line, as `matnet-bench --worker` does.

The nets of `matnet_torch` as functions of their parameters, jitted by XLA for the CPU, in the two layouts of `torch_worker`. A
recurrence is a `lax.scan`; the maps of all gates are joined, and the input's part is computed for all steps at once. One
training step, its gradients and Adam included, is a single compiled function whose buffers are used again.
"""

import json
import sys

import jax
import jax.numpy as jnp
from jax import Array, lax, nn
from safetensors.numpy import load_file
from worker import forget_peak, held, limit_memory, serve, timed

Weights = dict[str, Array]
ACTIVATIONS = {"identity": lambda x: x, "relu": nn.relu, "sigmoid": nn.sigmoid, "tanh": jnp.tanh}


class BatchFirst:
    """States are [batch, rows, cols]."""

    def enter(self, x: Array) -> Array:
        return x

    def leave(self, x: Array) -> Array:
        return x

    def map(self, x: Array, row_map: Array, col_map: Array) -> Array:
        return jnp.einsum("ro,brc,cp->bop", row_map, x, col_map)

    def gates(self, x: Array, row_map: Array, col_map: Array) -> Array:
        """UᵀXV of every gate: [gates, batch, rows_out, cols_out]."""
        left = jnp.einsum("gro,brc->gboc", row_map, x)
        return jnp.einsum("gboc,gcp->gbop", left, col_map)

    def bias(self, bias: Array) -> Array:
        return jnp.expand_dims(bias, -3)


class RowsFirst:
    """States are [rows, batch, cols]."""

    def enter(self, x: Array) -> Array:
        return jnp.swapaxes(x, -3, -2)

    leave = enter

    def map(self, x: Array, row_map: Array, col_map: Array) -> Array:
        return jnp.einsum("ro,rbc->obc", row_map, x) @ col_map

    def gates(self, x: Array, row_map: Array, col_map: Array) -> Array:
        left = jnp.einsum("gro,rbc->gobc", row_map, x)
        return jnp.einsum("gobc,gcp->gobp", left, col_map)

    def bias(self, bias: Array) -> Array:
        return jnp.expand_dims(bias, -2)


LAYOUTS = {"batch-first": BatchFirst, "rows-first": RowsFirst}


def part(weights: Weights, name: str) -> Weights:
    return {key.removeprefix(name): value for key, value in weights.items() if key.startswith(name)}


def dense(weights: Weights, x: Array) -> Array:
    return x.reshape(len(x), -1) @ weights["weight"] + weights["bias"]


def apply_map(layout, weights: Weights, x: Array, activation: str) -> Array:
    return ACTIVATIONS[activation](
        layout.map(x, weights["row_map"], weights["col_map"]) + layout.bias(weights["bias"])
    )


def step(kind: str, f, state: tuple[Array, Array], inputs: Array, from_state) -> tuple[Array, Array]:
    """One step of a recurrence; the gates come first."""
    h, c = state
    if kind == "gru":
        z, r = nn.sigmoid(inputs[:2] + from_state(h, slice(0, 2)))
        candidate = f(inputs[2] + from_state(r * h, slice(2, 3))[0])
        return h + z * (candidate - h), c
    sums = inputs + from_state(h, slice(None))
    if kind == "rnn":
        return f(sums[0]), c
    i, forget, o = nn.sigmoid(sums[:3])
    c = forget * c + i * jnp.tanh(sums[3])
    return o * jnp.tanh(c), c


def sequence(layout, cell: Weights, config: dict, x: Array, steps: int = 0) -> Array:
    """All hidden states from the zero state; `x` has a first dimension of steps, or is the same for so many `steps`."""
    kind, f = config["cell"], ACTIVATIONS[config["activation"]]
    bias = layout.bias(cell["bias"])
    gates = lambda x: layout.gates(x, cell["input_row_map"], cell["input_col_map"]) + bias
    inputs = gates(x) if steps else jax.vmap(gates)(x)
    zero = jnp.zeros(inputs.shape[1:] if steps else inputs.shape[2:])
    from_state = lambda h, some: layout.gates(h, cell["state_row_map"][some], cell["state_col_map"][some])

    def body(state, at_step):
        state = step(kind, f, state, inputs if steps else at_step, from_state)
        return state, state[0]

    return lax.scan(body, (zero, zero), None if steps else inputs, length=steps or None)[1]


def vector_sequence(cell: Weights, x: Array) -> Array:
    """The last hidden state of a vector LSTM."""
    joined = lambda stacked: jnp.swapaxes(stacked, 0, 1).reshape(stacked.shape[1], -1)
    inputs = x @ joined(cell["input_map"]) + cell["bias"].reshape(-1)
    state_map = joined(cell["state_map"])
    zero = jnp.zeros((x.shape[1], len(state_map)))

    def body(state, at_step):
        h, c = state
        i, forget, o, candidate = jnp.split(at_step + h @ state_map, 4, axis=1)
        c = nn.sigmoid(forget) * c + nn.sigmoid(i) * jnp.tanh(candidate)
        return (nn.sigmoid(o) * jnp.tanh(c), c), None

    return lax.scan(body, (zero, zero), inputs)[0][0]


def forward(row: dict, layout, weights: Weights, x: Array) -> Array:
    config = {"cell": "lstm", "activation": "tanh"} | row["config"]
    cell = lambda name: part(weights, f"{name}.layer.0.")
    if row["net"] == "feedforward":
        h = layout.enter(x)
        for at in range(config["depth"]):
            h = apply_map(layout, part(weights, f"layer.{at}."), h, row["config"].get("activation", "relu"))
        return dense(part(weights, "head."), layout.leave(h))
    steps = jnp.swapaxes(x, 0, 1)
    if config.get("form") == "vector":
        h = vector_sequence(cell("recurrent"), steps.reshape(*steps.shape[:2], -1))
        projection = part(weights, "head.projection.")
        return dense(part(weights, "head."), nn.relu(h @ projection["weight"] + projection["bias"].reshape(-1)))
    steps = layout.enter(steps)
    if row["net"] == "sequence_classifier":
        h = sequence(layout, cell("recurrent"), config, steps)[-1]
        h = apply_map(layout, part(weights, "head.projection."), h, "relu")
        return dense(part(weights, "head."), layout.leave(h))
    last = sequence(layout, cell("encoder"), config, steps)[-1]
    hidden = sequence(layout, cell("decoder"), config, last, config["steps"])
    head, f = part(weights, "head."), row["config"].get("output_activation", "identity")
    frames = jax.vmap(lambda h: layout.leave(apply_map(layout, head, h, f)))(hidden)
    return jnp.swapaxes(frames, 0, 1)


def loss_of(row: dict, output: Array, target: Array) -> Array:
    if row["net"] == "feedforward":
        classes = target.astype(int)[:, None]
        return -jnp.take_along_axis(nn.log_softmax(output), classes, 1).mean()
    if row["net"] == "sequence_classifier":
        return (nn.softplus(output) - target * output).mean()
    return ((output - target) ** 2).mean()


class Task:
    """A loaded row in one layout."""

    def __init__(self, row: dict, layout: str, file: str):
        stored = {key: jnp.asarray(value) for key, value in load_file(file).items()}
        self.input, self.target = stored["input"], stored["target"]
        self.weights = part(stored, "weight.")
        layout = LAYOUTS.get(layout, BatchFirst)()
        loss = lambda weights, x, y: loss_of(row, forward(row, layout, weights, x), y)
        zeros = lambda: {name: jnp.zeros_like(weight) for name, weight in self.weights.items()}
        self.moments, self.count = (zeros(), zeros()), 0

        def train(weights, moments, count, x, y):
            value, gradients = jax.value_and_grad(loss)(weights, x, y)
            first, second = moments
            first = {name: 0.9 * first[name] + 0.1 * g for name, g in gradients.items()}
            second = {name: 0.999 * second[name] + 0.001 * g * g for name, g in gradients.items()}
            rate = 1e-3 / (1 - 0.9**count)
            root = lambda name: jnp.sqrt(second[name] / (1 - 0.999**count)) + 1e-8
            weights = {name: weights[name] - rate * first[name] / root(name) for name in weights}
            return value, weights, (first, second)

        self.trains = row["mode"] == "train"
        if self.trains:
            self.function = jax.jit(train, donate_argnums=(0, 1))
        else:
            self.function = jax.jit(lambda weights, x: forward(row, layout, weights, x).sum())

    def step(self) -> float:
        if not self.trains:
            return self.function(self.weights, self.input).block_until_ready()
        self.count += 1
        value, self.weights, self.moments = self.function(
            self.weights, self.moments, float(self.count), self.input, self.target
        )
        jax.block_until_ready(self.weights)
        return value

    def warm_up(self) -> float:
        first = float(self.step())
        for _ in range(2):
            self.step()
        return first


def sgemm(side: int) -> float:
    """The fastest of a few large products, in GFLOP/s."""
    a = jnp.full((side, side), 0.5)
    product = jax.jit(lambda a: a @ a)
    best = min(timed(lambda: product(a).block_until_ready()) for _ in range(6))
    return 2 * side**3 / best / 1e6


def main() -> None:
    limit_memory()
    idle = held("VmRSS:")
    task: list[Task] = []

    def load(request: dict) -> dict:
        task[:] = [Task(request["row"], request["layout"], request["file"])]
        answer = {"loss": task[0].warm_up()}
        forget_peak()
        return answer

    def run(request: dict) -> dict:
        times = [timed(task[0].step) for _ in range(request["repeats"])]
        return {"ms": times, "memory": held("VmHWM:") - idle}

    serve(
        {
            "info": lambda _: {"jax": jax.__version__, "threads": int(sys.argv[1])},
            "sgemm": lambda request: {"jax": sgemm(request["side"])},
            "load": load,
            "run": run,
        }
    )


if __name__ == "__main__":
    main()
