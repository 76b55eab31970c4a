"""Small runs of every kind of net that can be exported, with every option that changes the graph."""

from dataclasses import dataclass, field

import numpy


@dataclass
class Case:
    name: str
    config: str
    # Arrays of the training file: x, y and, for sequences of different lengths, length.
    arrays: dict = field(default_factory=dict)
    # What is predicted; by default the first of the training samples.
    inputs: numpy.ndarray | None = None
    lengths: numpy.ndarray | None = None
    # The template this comes from, which `matnet new` writes.
    template: str | None = None


COUNT = 40


def noise(*shape, seed=0):
    return numpy.random.default_rng([seed, *shape]).standard_normal(shape).astype("float32")


def classes(count=3, *shape):
    return (numpy.arange(COUNT * int(numpy.prod(shape, dtype=int))) % count).reshape(COUNT, *shape).astype("int64")


def feedforward():
    x = noise(COUNT, 6, 5)
    options = {
        "plain": "depth = 3",
        "shapes": "hidden = [[7, 4], [3, 8], [5, 5]]\nactivation = 'tanh'",
        "batch-norm": "depth = 3\nbatch_norm = true",
        "highway": "depth = 3\nskip = 'highway'\nactivation = 'tanh'",
        "gated": "depth = 3\nskip = 'gated'\nblock = 2",
        "residual": "depth = 3\nskip = 'residual'\nblock = 2\nbatch_norm = true",
        "dense": "depth = 5\nskip = 'dense'\nreach = 2",
        "tied": "depth = 4\ntied = true\ndropout = 0.2",
        "vector": "form = 'vector'\nhidden = [9]\ndepth = 3\nskip = 'highway'\nbatch_norm = true\nactivation = 'sigmoid'",
        "vector-dense": "form = 'vector'\nhidden = [9]\ndepth = 3\nskip = 'dense'\ninput_dropout = 0.1",
    }
    for name, text in options.items():
        hidden = "" if "hidden" in text else "hidden = [4, 3]\n"
        yield Case(f"feedforward-{name}", f"[model]\nkind = 'feedforward'\n{hidden}{text}", {"x": x, "y": classes()})
    plain = "[model]\nkind = 'feedforward'\nhidden = [4, 3]\n"
    yield Case("feedforward-logit", f"{plain}output = 1", {"x": x, "y": classes(2)})
    flags = (noise(COUNT, 3, seed=1) > 0).astype("int64")
    yield Case("feedforward-labels", f"[data]\ntarget = 'labels'\n{plain}", {"x": x, "y": flags})
    values = 50 + 9 * noise(COUNT, 2, seed=2)
    yield Case("feedforward-values", f"[data]\ntarget = 'value'\n{plain}", {"x": x, "y": values})
    matrices = 20 + 5 * noise(COUNT, 3, 7, seed=3)
    yield Case("feedforward-matrices", f"[data]\nscale_target = true\n{plain}", {"x": x, "y": matrices})
    yield Case(
        "feedforward-vector-matrices",
        "[model]\nkind = 'feedforward'\nform = 'vector'\nhidden = [8]\noutput_activation = 'sigmoid'",
        {"x": x, "y": 1 / (1 + numpy.exp(-noise(COUNT, 3, 7)))},
    )
    far = 100 + 30 * noise(COUNT, 6, 5, seed=4) * numpy.arange(1, 6, dtype="float32")
    for per in ["whole", "row", "column", "entry"]:
        config = f"[data]\nscale = 'standardize'\nscale_per = '{per}'\npermute = true\n{plain}"
        yield Case(f"scale-{per}", config, {"x": far, "y": classes()})
    config = f"[data]\nlog = {{ offset = 0.5 }}\nscale = 'min-max'\n{plain}"
    yield Case("log", config, {"x": abs(far), "y": classes()})
    holes = numpy.where(noise(COUNT, 6, 5, seed=5) > 1, numpy.nan, x).astype("float32")
    for method in ["zero", "mean", "forward"]:
        config = f"[data]\nmissing = '{method}'\nmissing_mask = {str(method != 'zero').lower()}\nscale = 'standardize'\n{plain}"
        yield Case(f"missing-{method}", config, {"x": holes, "y": classes()})


def autoencoders():
    x = noise(COUNT, 6, 5)
    for name, text in {
        "matrix": "hidden = [4, 3]\ndepth = 4",
        "vector": "form = 'vector'\nhidden = [8]\ndepth = 4\nactivation = 'tanh'\noutput_activation = 'sigmoid'",
        "shapes": "hidden = [[7, 4], [2, 6]]\ndepth = 4",
    }.items():
        yield Case(f"autoencoder-{name}", f"[data]\nscale = 'min-max'\n[model]\nkind = 'autoencoder'\n{text}", {"x": x})
    config = "[data]\nscale = 'min-max'\n[model]\nkind = 'autoencoder'\nhidden = [4, 3]\ndepth = 2\n[train]\nloss = 'bce'"
    yield Case("autoencoder-logits", config, {"x": x})


def sequences():
    x, lengths = noise(COUNT, 9, 4, 3), numpy.arange(COUNT) % 9 + 1
    padded = x.copy()
    for at, length in enumerate(lengths):
        padded[at, length:] = 0
    different = {"x": padded, "length": lengths.astype("int64")}
    kind = "[model]\nkind = 'sequence-classifier'\n"
    for cell in ["rnn", "lstm", "gru"]:
        for form, hidden in [("matrix", "[3, 5]"), ("vector", "[6]")]:
            text = f"{kind}cell = '{cell}'\nform = '{form}'\nhidden = {hidden}\n"
            yield Case(f"classifier-{cell}-{form}", text, {"x": x, "y": classes()})
            both = f"{text}bidirectional = true\nlayers = 2\n"
            yield Case(f"classifier-{cell}-{form}-lengths", both, {**different, "y": classes()})
    plain = f"{kind}hidden = [3, 5]\n"
    yield Case("classifier-projection", f"{plain}projection = [2, 4]\noutput = 1", {"x": x, "y": classes(2)})
    config = f"[data]\nscale = 'standardize'\nscale_per = 'row'\naugment = {{ crop = 5 }}\n{plain}"
    yield Case("classifier-crop", config, {"x": x, "y": classes()})
    yield Case("classifier-crop-lengths", config, {**different, "y": classes()})
    holes = numpy.where(noise(COUNT, 9, 4, 3, seed=5) > 1, numpy.nan, padded).astype("float32")
    config = f"[data]\nmissing = 'forward'\nmissing_mask = true\n{plain}"
    yield Case("classifier-missing-lengths", config, {**different, "x": holes, "y": classes()})
    regressor = "[model]\nkind = 'sequence-regressor'\ncell = 'gru'\nactivation = 'relu'\n"
    values = {**different, "y": 50 + 9 * noise(COUNT, seed=2)}
    yield Case("regressor-value-lengths", f"[data]\ntarget = 'value'\n{regressor}hidden = [3, 5]", values)
    text = f"{regressor}form = 'vector'\nhidden = [6]\nprojection = [5]"
    yield Case("regressor-matrix", text, {"x": x, "y": noise(COUNT, 2, 3)})
    labeller = "[model]\nkind = 'sequence-labeller'\nhidden = [3, 5]\nbidirectional = true\n"
    yield Case("labeller-classes", labeller, {"x": x, "y": classes(3, 9)})
    yield Case("labeller-classes-lengths", labeller, {**different, "y": classes(3, 9)})
    matrices = {**different, "y": 10 + noise(COUNT, 9, 2, 3)}
    yield Case("labeller-matrices-lengths", f"[data]\nscale_target = true\n{labeller}layers = 2", matrices)
    vector = "[model]\nkind = 'sequence-labeller'\nform = 'vector'\nhidden = [6]\ncell = 'rnn'\n"
    yield Case("labeller-vector-matrices", vector, {"x": x, "y": noise(COUNT, 9, 2, 3)})
    seq2seq = "[model]\nkind = 'seq2seq'\n"
    for cell, form, hidden in [("rnn", "matrix", "[3, 5]"), ("lstm", "matrix", "[3, 5]"), ("gru", "vector", "[6]")]:
        text = f"{seq2seq}cell = '{cell}'\nform = '{form}'\nhidden = {hidden}\n"
        own = f"[data]\ncontext_length = 6\n{text}decoder_state = 'encoder'\nlayers = 2"
        yield Case(f"seq2seq-{cell}-{form}-own-future", own, {"x": x})
        yield Case(f"seq2seq-{cell}-{form}-lengths", text, {**different, "y": noise(COUNT, 4, 2, 2)})


def signals():
    x = 3 + noise(COUNT, 2, 90)
    lengths = (numpy.arange(COUNT) * 7 % 86 + 5).astype("int64")
    padded = numpy.where(numpy.arange(90)[None, :, None, None] < lengths[:, None, None, None], x.transpose(0, 2, 1)[..., None], 0)
    different = {"x": padded.astype("float32"), "length": lengths, "y": classes()}
    plain = "[model]\nkind = 'sequence-classifier'\nhidden = [3, 5]\n"
    for mean in ["of-signal", "of-window"]:
        for value in ["magnitude", "density"]:
            rate = ", sample_rate = 100.0" if value == "density" else ""
            stft = f"window = 16, overlap = 11, mean = '{mean}', value = '{value}'{rate}"
            config = f"[data]\nspectrogram = {{ {stft} }}\nscale = 'standardize'\n{plain}"
            yield Case(f"spectrogram-{mean}-{value}", config, {"x": x, "y": classes()})
            yield Case(f"spectrogram-{mean}-{value}-lengths", config, different)
    config = f"[data]\nlog_mel = {{ sample_rate = 100, n_mels = 5, fft_size = 32, hop = 8 }}\nscale = 'standardize'\n{plain}"
    yield Case("log-mel", config, {"x": x, "y": classes()})
    yield Case("log-mel-lengths", config, different)


def templates():
    """What `matnet new` writes, trained for an epoch; the two that name no data of ours get some."""
    steps = {"x": noise(COUNT, 9, 4, 3)}
    yield Case("template-feedforward", "", template="feedforward", inputs=abs(noise(7, 28, 28)))
    yield Case("template-autoencoder", "", template="autoencoder", inputs=abs(noise(7, 28, 28)))
    lengths = numpy.array([7, 29, 12, 20, 1, 15, 9])
    yield Case("template-sequence-classifier", "", template="sequence-classifier", inputs=noise(7, 29, 12, 1), lengths=lengths)
    yield Case("template-seq2seq", "", template="seq2seq", inputs=noise(7, 100, 2, 3))
    yield Case("template-sequence-labeller", "", {**steps, "y": classes(3, 9)}, template="sequence-labeller")
    yield Case("template-sequence-regressor", "", {**steps, "y": noise(COUNT, 2)}, template="sequence-regressor")


def forecasts(write_table):
    """Windows over a table, which is a file of its own."""
    table = numpy.cumsum(noise(200, 3), axis=0) + 100
    write_table(table)
    inputs = numpy.stack([table[at : at + 30] for at in range(7)]).astype("float32")
    for level in ["none", "last", "standardize"]:
        windows = "source = 'table.csv'\nwindow = 20\nhorizon = 4\nscale = 'standardize'\n"
        if level != "none":
            windows += f"normalize_window = '{level}'\n"
        for kind, hidden in [("feedforward", "[5, 3]"), ("seq2seq", "[4, 2]")]:
            text = f"[data]\n{windows}[model]\nkind = '{kind}'\nhidden = {hidden}\n"
            yield Case(f"forecast-{kind}-{level}", text, inputs=inputs)


@dataclass
class GraphCase:
    name: str
    # The table [model], or none for a template.
    model: str
    directed: bool = False
    relations: tuple = ()
    normalize: str = "none"
    template: str | None = None


def graphs():
    """Nets on graphs. Their graphs have self loops and a node without neighbours."""
    for kind in ["gcn", "column-net", "chebyshev"]:
        yield GraphCase(f"template-{kind}", "", template=kind)
    yield GraphCase("gcn", "kind = 'gcn'\nhidden = [9, 4]", normalize="rows")
    yield GraphCase("gcn-directed", "kind = 'gcn'\nhidden = []\nactivation = 'tanh'", directed=True)
    yield GraphCase("chebyshev", "kind = 'chebyshev'\nhidden = [9]\norder = 3", normalize="rows")
    yield GraphCase("chebyshev-directed", "kind = 'chebyshev'\nhidden = [9, 4]\norder = 2", directed=True)
    yield GraphCase("chebyshev-order-0", "kind = 'chebyshev'\nhidden = [9]\norder = 0")
    column = "kind = 'column-net'\nhidden = 5\ndepth = 3\n"
    yield GraphCase("column-mean", column)
    yield GraphCase("column-mean-tied", f"{column}tied = true\nactivation = 'tanh'", directed=True)
    yield GraphCase("column-mean-relations", column, relations=("cites", "same author"))
    yield GraphCase("column-attention", f"{column}aggregation = 'attention'\nheads = 3")
    attention = f"{column}aggregation = 'attention'\nheads = 2\ntied = true"
    yield GraphCase("column-attention-relations", attention, directed=True, relations=("cites", "same author"))


def random_graph(case, width, nodes, seed):
    """A graph as an .npz has it, and as the inputs of an ONNX file."""
    random = numpy.random.default_rng([seed, nodes])
    features = abs(random.standard_normal((nodes, width))).astype("float32")
    names = case.relations or ("edges",)
    lists, given = {}, {"features": features}
    for relation in names:
        # Each pair once, a few self loops, and none at the last node.
        pairs = {tuple(pair) if case.directed else tuple(sorted(pair)) for pair in random.integers(0, nodes - 1, (2 * nodes, 2)).tolist()}
        lists[relation] = sorted(pairs | {(3, 3)})
        both = {end for a, b in lists[relation] for end in ([(a, b)] if case.directed else [(a, b), (b, a)])}
        name = f"edges.{relation}" if case.relations else "edges"
        given[name] = numpy.array(sorted(both), dtype="int64").T.copy()
    arrays = {
        "features": features,
        "edges": numpy.array([pair for relation in names for pair in lists[relation]]),
        "labels": numpy.arange(nodes) % 3,
        "directed": numpy.array([case.directed]),
    }
    if case.relations:
        arrays["relations"] = numpy.array([relation for relation in names for _ in lists[relation]])
    return arrays, given


def every(write_table):
    for cases in [templates(), feedforward(), autoencoders(), sequences(), signals(), forecasts(write_table)]:
        yield from cases
