"""Run folders as estimators, whoever has written them."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

import matnet

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4, 5)).astype("float32")
SEQUENCES = X[..., None]
UP = np.where(X[:, 0, 0] > 0, "up", "down")
STEPS = (X[:, :, 0] > 0).astype(int) + 3

#: What the command is given, and what a user of the estimator has: name, model, arrays, X, y.
SAMPLES = {
    "classes": ("MatrixClassifier", {"kind": "feedforward"}, {"x": X, "y": UP}, X, UP),
    "vectors": ("MatrixClassifier", {"kind": "feedforward", "form": "vector", "hidden": [6]}, {"x": X, "y": UP}, X, UP),
    "labels": ("MatrixClassifier", {"kind": "feedforward"}, {"x": X, "y": X[:, 0, :3] > 0}, X, X[:, 0, :3] > 0),
    "value": ("MatrixRegressor", {"kind": "feedforward"}, {"x": X, "y": X[:, 0, 0]}, X, X[:, 0, 0]),
    "values": ("MatrixRegressor", {"kind": "feedforward"}, {"x": X, "y": X[:, 0]}, X, X[:, 0]),
    "matrices": ("MatrixRegressor", {"kind": "feedforward"}, {"x": X, "y": X[:, :2]}, X, X[:, :2]),
    "codes": ("MatrixAutoEncoder", {"kind": "autoencoder", "depth": 2}, {"x": X}, X, None),
    "sequences": ("SequenceClassifier", {"kind": "sequence-classifier"}, {"x": SEQUENCES, "y": UP}, X, UP),
    "steps": ("SequenceClassifier", {"kind": "sequence-labeller"}, {"x": SEQUENCES, "y": STEPS}, X, STEPS),
    "value of a sequence": (
        "SequenceRegressor",
        {"kind": "sequence-regressor"},
        {"x": SEQUENCES, "y": X[:, 0, 0]},
        X,
        X[:, 0, 0],
    ),
    "matrices of steps": (
        "SequenceRegressor",
        {"kind": "sequence-labeller"},
        {"x": SEQUENCES, "y": SEQUENCES},
        X,
        SEQUENCES,
    ),
    "following matrices": (
        "SequenceRegressor",
        {"kind": "seq2seq"},
        {"x": SEQUENCES, "y": SEQUENCES[:, :2]},
        X,
        SEQUENCES[:, :2],
    ),
}


def trained(model, arrays, folder, **data):
    config = {"data": data, "model": {"hidden": [3, 3], **model}, "train": {"epochs": 2}}
    return matnet.train(config, data=arrays, out=folder, report=False)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_run_on_samples(name, tmp_path):
    estimator, model, arrays, x, y = SAMPLES[name]
    run = trained(model, arrays, tmp_path / "run", scale="standardize")
    net = matnet.load(tmp_path / "run")
    assert type(net).__name__ == estimator
    if name == "codes":
        assert np.allclose(net.inverse_transform(net.transform(x)), net.predict(x), atol=1e-6)
        shown = net.predict(x)
    else:
        assert net.predict(x).shape == np.shape(y) and np.isfinite(net.score(x, y))
        shown = net.predict_proba(x) if hasattr(net, "predict_proba") else net.predict(x)
    if hasattr(net, "classes_") and name != "labels":
        assert set(np.unique(net.predict(x))) <= set(net.classes_) == set(np.unique(y))
    assert np.allclose(shown.reshape(40, -1), run.predict(arrays["x"]).reshape(40, -1), atol=1e-6)
    # It is an estimator as any other: it can be stored, saved and trained anew.
    assert np.array_equal(pickle.loads(pickle.dumps(net)).predict(x), net.predict(x))
    net.save(tmp_path / "saved")
    assert np.array_equal(matnet.load(tmp_path / "saved").predict(x), net.predict(x))
    again = clone(net).fit(x, y)
    assert again.n_iter_ == 2 and again.config_["data"]["scale"] == "standardize"


def test_a_run_on_a_graph(tmp_path):
    arrays = {"features": X[:, 0], "edges": rng.integers(0, 40, size=(90, 2)), "labels": UP}
    for kind, hidden in [("column-net", 4), ("gcn", [4]), ("chebyshev", [4])]:
        model = {"kind": kind, "hidden": hidden, **({"depth": 2} if kind == "column-net" else {})}
        run = trained(model, arrays, tmp_path / kind)
        net = matnet.load(tmp_path / kind)
        assert isinstance(net, matnet.GraphClassifier) and net.classes_.tolist() == ["down", "up"]
        given = {"features": arrays["features"], "edges": arrays["edges"]}
        assert np.allclose(net.predict_proba(X[:, 0], arrays["edges"]), run.predict(given), atol=1e-6)
        with pytest.raises(ValueError, match="^X: a graph expected"):
            net.predict()
        assert clone(net).fit(X[:, 0], UP, arrays["edges"]).predict().shape == (40,)


def test_a_run_on_a_table(tmp_path):
    table = X.reshape(-1, 5)
    for kind in ("seq2seq", "feedforward"):
        trained({"kind": kind}, {"x": table}, tmp_path / kind, window=8, horizon=2)
        net = matnet.load(tmp_path / kind)
        assert isinstance(net, matnet.Forecaster) and net.predict(table).shape == (2, 5)
        net.save(tmp_path / f"{kind} again")
        assert np.array_equal(matnet.load(tmp_path / f"{kind} again").predict(table), net.predict(table))
        assert clone(net).fit(table).predict().shape == (2, 5)


def test_what_the_command_wrote(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("mine.npz", x=X, y=np.arange(40) % 2 + 3)
    text = '[data]\nsource = "mine.npz"\n[model]\nkind = "feedforward"\nhidden = [3, 3]\n[train]\nepochs = 2\n'
    (tmp_path / "config.toml").write_text(text)
    command = [sys.executable, "-m", "matnet", "train", "config.toml", "--out", "run", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    net = matnet.load("run")
    assert isinstance(net, matnet.MatrixClassifier) and net.classes_.tolist() == [3, 4]
    assert np.allclose(net.predict_proba(X), matnet.load_run("run").predict(X), atol=1e-7)


def test_a_damaged_folder_is_refused(tmp_path):
    trained({"kind": "feedforward"}, {"x": X, "y": UP}, tmp_path / "run")
    weights = tmp_path / "run" / "best.safetensors"
    whole = weights.read_bytes()
    for damaged in (whole[:-7], whole[: len(whole) // 2], b"", whole[:-1] + bytes([whole[-1] ^ 1])):
        weights.write_bytes(damaged)
        with pytest.raises(ValueError, match="best.safetensors"):
            matnet.load(tmp_path / "run")
