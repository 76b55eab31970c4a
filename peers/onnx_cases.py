"""Small runs of every kind of net that can be exported, with every option that changes the graph."""

import re
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

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
    # The template this comes from, which `matnet new` writes, and settings for its training; by default few samples.
    template: str | None = None
    settings: list = field(default_factory=lambda: ["data.limit=80"])
    # Options of `matnet export`.
    options: list = field(default_factory=list)


COUNT = 40
TRAIN = Path(__file__).resolve().parent.parent / "crates/matnet-train"
REFERENCE = TRAIN / "tests/reference"


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


def write_series(path, x, lengths):
    """Signals `[n, channels, samples]` as a .ts file."""
    head = f"@problemName signals\n@timeStamps false\n@missing false\n@univariate false\n@dimensions {x.shape[1]}\n"
    same = "true" if len(set(lengths)) == 1 else "false"
    lines = [f"{head}@equalLength {same}\n@classLabel true 0 1 2\n@data\n"]
    for signal, length, label in zip(x, lengths, classes()):
        channels = [",".join(f"{value:.6f}" for value in channel[:length]) for channel in signal]
        lines.append(":".join([*channels, str(label)]) + "\n")
    path.write_text("".join(lines))


def signals(folder):
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
    # The windows of a spectrogram beside each other, as one matrix.
    for name, longest in [("spectrogram-joined", numpy.full(COUNT, 90)), ("spectrogram-joined-lengths", lengths)]:
        write_series(folder / f"{name}.ts", x, longest)
        stft = f"[data]\nsource = '{name}.ts'\nlayout = 'matrix'\nspectrogram = {{ window = 16, overlap = 11 }}\nscale = 'standardize'\n"
        config = f"{stft}[model]\nkind = 'feedforward'\nhidden = [3, 5]\n"
        if name.endswith("lengths"):
            yield Case(name, config, inputs=different["x"][:7], lengths=lengths[:7], options=["--lengths"])
        else:
            yield Case(name, config, inputs=x[:7])
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


def template_names():
    """The kinds of nets that `matnet new` knows; other files of the folder are parts of templates."""
    return {path.stem for path in (TRAIN / "templates").glob("*.toml") if f'kind = "{path.stem}"' in path.read_text()}


TURING_SETTINGS = ["data.sequences_per_epoch=64", "data.valid_sequences=4", "data.test_sequences=4"]


def turing_template():
    """The template of a Turing machine, for timing; its bits are compared by a check of its own."""
    inputs = (noise(7, 30, 1, 9) > 0).astype("float32")
    return Case("template-turing-machine", "", template="turing-machine", inputs=inputs, settings=TURING_SETTINGS)


def forecasts(folder):
    """Windows over a table, which is a file of its own."""
    table = numpy.cumsum(noise(200, 3), axis=0) + 100
    numpy.savetxt(folder / "table.csv", table, delimiter=",", header="a,b,c", comments="")
    inputs = numpy.stack([table[at : at + 30] for at in range(7)]).astype("float32")
    holes = noise(*inputs.shape, seed=6) > 1
    for level in ["none", "last", "standardize"]:
        windows = "source = 'table.csv'\nwindow = 20\nhorizon = 4\nscale = 'standardize'\n"
        if level != "none":
            windows += f"normalize_window = '{level}'\n"
        for kind, hidden in [("feedforward", "[5, 3]"), ("seq2seq", "[4, 2]")]:
            text = f"[data]\n{windows}[model]\nkind = '{kind}'\nhidden = {hidden}\n"
            yield Case(f"forecast-{kind}-{level}", text, inputs=inputs)
            if level == "last":
                filled = f"[data]\nmissing = 'forward'\nmissing_mask = true\n{windows}[model]\nkind = '{kind}'\nhidden = {hidden}\n"
                yield Case(f"forecast-{kind}-missing", filled, inputs=numpy.where(holes, numpy.nan, inputs).astype("float32"))


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


def cora():
    """Features and edges of the dataset `citations`, as the inputs of an ONNX file."""
    with tarfile.open(Path(__file__).resolve().parent.parent / "data/cora.tar.gz") as archive:
        rows = [line.split() for line in archive.extractfile("cora/cora.content").read().decode().splitlines()]
        cites = archive.extractfile("cora/cora.cites").read().decode().split()
    place = {row[0]: at for at, row in enumerate(rows)}
    pairs = {(place[a], place[b]) for a, b in zip(cites[::2], cites[1::2]) if a != b}
    both = sorted(pairs | {(b, a) for a, b in pairs})
    features = numpy.array([row[1:-1] for row in rows], dtype="float32")
    return {"features": features, "edges": numpy.array(both, dtype="int64").T.copy()}


def turing_machines():
    """The template, and runs of the repository with what PyTorch gives for them."""
    return ["template-turing-machine", *sorted(folder.name for folder in REFERENCE.glob("turing-machine-*"))]


def story_nets():
    """The templates, small nets for their other options, and runs of the repository."""
    memory = "embedding_dim = 6\nmemory_size = 4\n"
    return {
        "template-memory-network": None,
        "template-end-to-end-memory": None,
        "stories-plain": f"kind = 'end-to-end-memory'\n{memory}empty_slots = false\ntemporal_encoding = false",
        "stories-layer-wise": f"kind = 'end-to-end-memory'\n{memory}tying = 'layer-wise'\nencoding = 'bag-of-words'",
        "stories-hops": f"kind = 'memory-network'\n{memory}hops = 3\nencoding = 'bag-of-words'",
    } | {folder.name: None for folder in sorted(REFERENCE.glob("*memory*"))}


# Stories with a question each, of different lengths; a test of positions, ages and a full memory.
STORIES = """1 Eve went to the garden.
2 Ann went to the hall.
3 Where is Eve?\tgarden\t1
4 Eve went to the office.
5 Eve went to the hall.
6 Ann went to the office.
7 Ben went to the garden.
8 Where is Ann?\toffice\t6
9 Where is Eve?\thall\t5
1 Ben went to the office.
2 Where is Ben?\toffice\t1
"""


def first_questions(count):
    """Stories with so many questions: those above, over and over."""
    lines, asked = [], 0
    while asked < count:
        for line in STORIES.splitlines():
            asked += "\t" in line
            lines.append(line)
            if asked == count:
                break
    return "\n".join(lines) + "\n"


def of_words(text, vocabulary):
    """The same stories in words of a vocabulary, which may lack some of theirs."""
    known = lambda word: word if word.lower() in vocabulary else vocabulary[len(word) % len(vocabulary)]
    return re.sub(r"[A-Za-z]+", lambda word: known(word[0]), text)


def numbered(text, vocabulary):
    """Stories and questions as numbers, padded with 0."""
    words = lambda text: [vocabulary.index(word) + 1 for word in re.split(r"[\s.?!,]+", text.lower()) if word]
    stories, questions, story = [], [], []
    for line in text.splitlines():
        number, line = line.split(" ", 1)
        story = [] if number == "1" else story
        if "\t" in line:
            stories.append(list(story))
            questions.append(words(line.split("\t")[0]))
        else:
            story.append(words(line))
    lengths = [max(map(len, stories)) + 1, max(len(line) for story in stories for line in story) + 2, max(map(len, questions)) + 1]
    padded = numpy.zeros((len(stories), lengths[0], lengths[1]), "int64")
    for at, story in enumerate(stories):
        for row, line in enumerate(story):
            padded[at, row, : len(line)] = line
    asked = numpy.zeros((len(questions), lengths[2]), "int64")
    for at, line in enumerate(questions):
        asked[at, : len(line)] = line
    return padded, asked


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


def every(folder):
    for cases in [templates(), feedforward(), autoencoders(), sequences(), signals(folder), forecasts(folder)]:
        yield from cases
