"""`matnet.torch`: every kind of net predicts in PyTorch what it predicts in matnet."""

import json
import warnings

import numpy as np
import pytest
from conftest import REPOSITORY, needs
from test_stories import STORIES

import matnet

torch = needs("torch")
needs("safetensors")
import matnet.torch  # noqa: E402

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 6, 4, 3)).astype("float32")
LENGTHS = rng.integers(1, 7, size=40)
RAGGED = [x[:length] for x, length in zip(X, LENGTHS, strict=True)]
EDGES = np.unique(rng.integers(0, 28, size=(90, 2)), axis=0)
FEATURES = rng.normal(size=(30, 5)).astype("float32")
LABELS = rng.integers(0, 3, size=30)


def trained(model, given, **tables):
    config = {"model": model, "train": {"epochs": 2, "learning_rate": 0.02}, **tables}
    return matnet.train(config, data=given, report=False)


def compare(run, *given, wanted, tolerance=2e-6):
    module = matnet.torch.from_run(run)
    assert isinstance(module, torch.nn.Module)
    shown = module.predict(*given).numpy()
    assert shown.shape == wanted.shape
    assert np.abs(shown - wanted).max() <= tolerance * max(1, np.abs(wanted).max())
    double = module.double()
    output = double(
        *(one.double() if isinstance(one, torch.Tensor) and one.is_floating_point() else one for one in given)
    )
    output.square().sum().backward()
    assert all(parameter.grad is not None for parameter in double.parameters())
    return module


MATRICES = {
    "plain": {"hidden": [3, 4]},
    "gated": {"hidden": [3, 4], "depth": 4, "skip": "gated", "batch_norm": True},
    "dense, tied": {"hidden": [3, 4], "depth": 4, "skip": "dense", "activation": "tanh"},
    "vector": {"form": "vector", "hidden": [7], "depth": 3, "skip": "highway"},
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name):
    x, model = X[:, 0], {"kind": "feedforward", **MATRICES[name]}
    for y in (x[:, 0, 0] > 0, x[:, 0, 0], x[:, :2, :2], x[:, 0] > 0):
        run = trained(model, {"x": x, "y": y}, data={"scale": "standardize", "scale_per": "entry"})
        compare(run, torch.from_numpy(x), wanted=run.predict(x))


def test_auto_encoder():
    run = trained({"kind": "autoencoder", "hidden": [3, 2], "depth": 4}, {"x": X[:, 0]})
    compare(run, torch.from_numpy(X[:, 0]), wanted=run.predict(X[:, 0]))


RECURRENT = {
    "lstm": {"cell": "lstm", "hidden": [3, 2]},
    "two directions": {"cell": "gru", "hidden": [3, 2], "layers": 2, "bidirectional": True},
    "vector": {"cell": "rnn", "form": "vector", "hidden": [5], "bidirectional": True},
}


@pytest.mark.parametrize("padded", [False, True], ids=["one length", "several lengths"])
@pytest.mark.parametrize("name", RECURRENT)
def test_sequences(name, padded):
    options = RECURRENT[name]
    given = RAGGED if padded else X
    projection = {"projection": [4] if options.get("form") == "vector" else [4, 2]}
    one_way = {key: value for key, value in options.items() if key != "bidirectional"}
    steps = X[..., :2] if not padded else [x[..., :2] for x in RAGGED]
    cases = [
        ("sequence-classifier", {**options, **projection}, X[:, 0, 0, 0] > 0),
        ("sequence-regressor", options, X[:, 0, 0, :2]),
        ("sequence-regressor", {**options, **projection}, X[:, 0, :2]),
        ("sequence-labeller", options, (X[:, :, 0, 0] > 0).astype(int)),
        ("seq2seq", {**one_way, "decoder_state": "encoder"}, X[:, :2]),
    ]
    if not padded:
        cases.append(("sequence-labeller", options, steps))
    for kind, model, y in cases:
        run = trained({"kind": kind, **model}, {"x": given, "y": y}, data={"scale": "standardize"})
        lengths = (torch.from_numpy(LENGTHS),) if padded else ()
        module = compare(run, torch.from_numpy(X), *lengths, wanted=run.predict(X, *([LENGTHS] if padded else [])))
        if padded:
            # Whatever stands in the padding.
            other = np.where(np.arange(6)[:, None, None] < LENGTHS[:, None, None, None], X, 7).astype("float32")
            assert torch.equal(
                module.predict(torch.from_numpy(other), *lengths), module.predict(torch.from_numpy(X), *lengths)
            )
    for wrong in (LENGTHS[:3], LENGTHS - 1, LENGTHS + 6, LENGTHS / 2):
        with pytest.raises(ValueError, match="^lengths: "):
            module.predict(torch.from_numpy(X), torch.from_numpy(wrong))


GRAPHS = {
    "column-net, mean": {"kind": "column-net", "hidden": 4, "depth": 3},
    "column-net, tied": {"kind": "column-net", "hidden": 4, "depth": 3, "tied": True, "activation": "tanh"},
    "column-net, attention": {"kind": "column-net", "hidden": 4, "depth": 2, "aggregation": "attention", "heads": 3},
    "column-net, concat": {"kind": "column-net", "hidden": 4, "depth": 2, "aggregation": "concat", "num_neighbors": 20},
    "gcn": {"kind": "gcn", "hidden": [6, 5]},
    "chebyshev": {"kind": "chebyshev", "hidden": [6], "order": 3},
    "chebyshev, order 0": {"kind": "chebyshev", "hidden": [6], "order": 0},
    "chebyshev, estimated": {"kind": "chebyshev", "hidden": [6], "order": 2, "lambda_max": "estimated"},
}


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(name, directed):
    graph = {"features": FEATURES, "edges": EDGES, "directed": np.array([directed])}
    run = trained(GRAPHS[name], {**graph, "labels": LABELS}, data={"normalize": "rows"})
    edges, tolerance = torch.from_numpy(EDGES), 1e-4 if "estimated" in name else 2e-6
    wanted = run.predict(graph)
    module = compare(run, torch.from_numpy(FEATURES), edges, None, directed, wanted=wanted, tolerance=tolerance)
    again = module.float().predict(torch.from_numpy(FEATURES), edges.T.repeat(1, 2), None, directed)
    assert np.allclose(again, wanted, atol=tolerance)


def test_relations_of_graphs():
    names = np.where(rng.random(len(EDGES)) < 0.5, "cites", "likes")
    graph = {"features": FEATURES, "edges": EDGES, "relations": names}
    for name in ("column-net, mean", "column-net, attention", "gcn"):
        run = trained(GRAPHS[name], {**graph, "labels": LABELS})
        module = compare(run, torch.from_numpy(FEATURES), torch.from_numpy(EDGES), names, wanted=run.predict(graph))
        only = trained(GRAPHS[name], {**graph, "labels": LABELS}, data={"directed": ["cites"]})
        compare(only, torch.from_numpy(FEATURES), torch.from_numpy(EDGES), names, wanted=only.predict(graph))
    module = module.float()
    for given, argument in [((EDGES + 30,), "edges"), ((EDGES[:, :1],), "edges"), ((EDGES, names[:3]), "relations")]:
        with pytest.raises(ValueError, match=f"^{argument}: "):
            module.predict(torch.from_numpy(FEATURES), *given)


def test_estimators_on_graphs():
    known = np.where(np.arange(30) < 20, LABELS, -1)
    net = matnet.GraphClassifier(epochs=3, random_state=0).fit(FEATURES, known, EDGES)
    module = matnet.torch.from_run(net)
    shown = module.predict(torch.from_numpy(FEATURES), torch.from_numpy(EDGES)).numpy()
    assert np.allclose(shown, net.predict_proba(), atol=1e-5)


@pytest.mark.parametrize("kind", ["memory-network", "end-to-end-memory"])
def test_stories(kind):
    run = trained({"kind": kind, "embedding_dim": 6}, STORIES)
    module = matnet.torch.from_run(run)
    assert module.words == run.classes
    assert np.allclose(module.predict(STORIES).numpy(), run.predict(STORIES), atol=1e-5)


def test_algorithms():
    data = {"source": "copy", "width": 3, "sequences_per_epoch": 16, "valid_sequences": 8, "test_sequences": 8}
    run = matnet.train(
        {"data": data, "model": {"kind": "turing-machine", "hidden": [4, 4]}, "train": {"epochs": 1}}, report=False
    )
    x = (rng.random(size=(5, 7, *run.config["model"]["input"])) < 0.5).astype("float32")
    module = matnet.torch.from_run(run)
    assert np.array_equal(
        module.predict(torch.from_numpy(x)).numpy(), run.predict(x).reshape(module.predict(torch.from_numpy(x)).shape)
    )


def test_adam_goes_on_between_calls_of_partial_fit():
    x, y = X[:, 0], (X[:, 0, 0, 0] > 0).astype(int)
    options = {"hidden": (3, 4), "depth": 2, "activation": "tanh", "batch_size": 40, "random_state": 2}
    # A step of this size changes nothing: these are the initial weights.
    module = matnet.torch.from_run(matnet.MatrixClassifier(learning_rate=1e-30, **options).partial_fit(x, y)).train()
    net, optimizer = (
        matnet.MatrixClassifier(learning_rate=0.01, **options),
        torch.optim.Adam(module.parameters(), lr=0.01),
    )
    for part in (slice(0, 40), slice(0, 25), slice(10, 40)):
        net.partial_fit(x[part], y[part])
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(
            two_scores(module(torch.from_numpy(x[part]))), torch.from_numpy(y[part])
        )
        loss.backward()
        optimizer.step()
    ours, theirs = net.weights_, {name[4:]: value.detach().numpy() for name, value in module.named_parameters()}
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        assert np.allclose(values, theirs[name], atol=1e-5), name


def two_scores(scores):
    """The scores of both classes, where one logit stands for them."""
    return torch.cat([torch.zeros_like(scores), scores], 1) if scores.shape[1] == 1 else scores


def test_what_is_not_there_is_refused():
    signals = rng.normal(size=(20, 2, 64)).astype("float32")
    run = trained(
        {"kind": "sequence-classifier", "hidden": [2, 2]},
        {"x": signals, "y": np.arange(20) % 2},
        data={"log_mel": {"fft_size": 16, "hop": 8, "sample_rate": 64.0, "n_mels": 4}},
    )
    with pytest.raises(NotImplementedError, match="log_mel"):
        matnet.torch.from_run(run)
    run = trained({"kind": "feedforward", "hidden": [2, 2]}, {"x": X[:, 0], "y": X[:, 0, 0, 0]})
    with pytest.raises(ValueError, match="^lengths: "):
        matnet.torch.from_run(run)(torch.from_numpy(X[:, 0]), torch.ones(40, dtype=torch.long))


REFERENCES = sorted((REPOSITORY / "crates" / "matnet" / "tests" / "reference" / "graph").glob("*.safetensors"))


@pytest.mark.parametrize("path", REFERENCES, ids=lambda path: path.stem)
def test_graphs_as_in_pytorch_geometric(path):
    from safetensors import safe_open

    from matnet.torch.graph import GRAPH_NETS, Graph

    with safe_open(path, framework="pt") as file:
        about = json.loads(file.metadata()["about"])
        tensors = {name: file.get_tensor(name).double() for name in file.keys()}  # noqa: SIM118
    kinds = {"column_net": "column-net", "gcn": "gcn", "chebyshev_net": "chebyshev"}
    net = GRAPH_NETS[kinds[about["kind"]]](about["config"]).double()
    net.load_state_dict({name[7:]: value for name, value in tensors.items() if name.startswith("weight.")})
    edges = [tensors[f"input.edges.{at}"].long() for at in range(about["config"].get("num_relations", 1))]
    x = tensors["input.input"].requires_grad_()
    graph = Graph(len(x), edges, [about["directed"]] * len(edges))
    with warnings.catch_warnings():
        # The reference leaves out the neighbours beyond the slots, too.
        warnings.simplefilter("ignore")
        output = net(graph, x)
    assert torch.allclose(output, tensors["output.output"], atol=1e-5)
    (output * tensors["weigh.output"]).sum().backward()
    assert torch.allclose(x.grad, tensors["grad.input"], atol=1e-4)
    for name, parameter in net.named_parameters():
        assert torch.allclose(parameter.grad, tensors[f"grad.weight.{name}"], atol=1e-4), name
