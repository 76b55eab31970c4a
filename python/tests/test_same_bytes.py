"""The same config, data and seed give the same weights from the command and from Python, byte for byte."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import REPOSITORY

import matnet


def commands():
    """The console script of this package, and the binary that cargo built, if it is there."""
    yield "console script", [sys.executable, "-m", "matnet"]
    binary = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target")) / "release" / "matnet"
    if binary.exists():
        yield "binary", [os.fspath(binary)]


TRAIN = {"epochs": 3, "seed": 7}
MODELS = {
    "digits": {"kind": "feedforward", "hidden": [20, 20], "depth": 2, "dropout": 0.1},
    "vowels": {"kind": "sequence-classifier", "hidden": [8, 8], "cell": "gru"},
    "cora": {"kind": "column-net", "hidden": 10, "depth": 2, "dropout": 0.5},
}
DATA = {
    "digits": {"limit": 1000},
    "vowels": {"scale": "standardize", "scale_per": "entry"},
    "cora": {"normalize": "rows"},
}


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + "}"
    return repr(value).replace("'", '"') if not isinstance(value, bool) else str(value).lower()


def toml_file(config):
    return "\n".join(
        f"[{table}]\n" + "\n".join(f"{key} = {toml(value)}" for key, value in rows.items())
        for table, rows in config.items()
    )


def ragged(arrays):
    """What a user has: a list of recordings, each of its own length."""
    return [x[:n] for x, n in zip(arrays["x"], arrays["length"], strict=True)]


@pytest.mark.parametrize("name", MODELS)
def test_same_bytes(name, request, tmp_path, monkeypatch):
    arrays = request.getfixturevalue(name)
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / f"{name}.npz", **arrays)
    config = {
        "data": {"source": f"{name}.npz", **DATA[name]},
        "model": MODELS[name],
        "train": TRAIN,
    }
    (tmp_path / "config.toml").write_text(toml_file(config))
    given = dict(arrays)
    if name == "vowels":
        given["x"] = ragged(given)
        del given["length"]
    (tmp_path / f"{name}.npz").rename(tmp_path / "away.npz")
    run = matnet.train(config, data=given, out="python", report=False)
    (tmp_path / "away.npz").rename(tmp_path / f"{name}.npz")
    for what, command in commands():
        out = what.replace(" ", "-")
        done = subprocess.run([*command, "train", "config.toml", "--out", out, "--quiet"], capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        for file in ("config.toml", "best.safetensors", "metrics.csv", "split.json", "result.json"):
            ours, theirs = (tmp_path / folder / file for folder in ("python", out))
            assert ours.read_bytes() == theirs.read_bytes(), f"{file} of the {what}"
    assert run.result["epochs"] == 3


FIT = {
    "digits": lambda net, given: net.fit(given["x"], given["y"]),
    "vowels": lambda net, given: net.fit(ragged(given), given["y"]),
    "cora": lambda net, given: net.fit(given["features"], given["labels"], given["edges"]),
}


@pytest.mark.parametrize("name", MODELS)
def test_an_estimator_learns_what_the_command_learns(name, request, tmp_path, monkeypatch):
    arrays = {key: values for key, values in request.getfixturevalue(name).items() if key not in ("train", "test")}
    if name == "digits":
        arrays = {key: values[:1000] for key, values in arrays.items()}
    monkeypatch.chdir(tmp_path)
    options = {**MODELS[name], **DATA[name], "epochs": 3, "random_state": 7}
    kind = {"feedforward": matnet.MatrixClassifier, "sequence-classifier": matnet.SequenceClassifier}
    estimator = kind.get(options.pop("kind"), matnet.GraphClassifier)
    options.pop("limit", None)
    net = FIT[name](estimator(**options), arrays)
    np.savez(f"{name}.npz", **arrays)
    config = {table: net.config_[table] for table in ("data", "model", "train")}
    config["data"]["source"] = f"{name}.npz"
    # The names of the classes are those of the file.
    (tmp_path / "config.toml").write_text(toml_file(config))
    for what, command in commands():
        out = what.replace(" ", "-")
        done = subprocess.run([*command, "train", "config.toml", "--out", out, "--quiet"], capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        theirs = matnet.load_run(out).weights()
        assert list(theirs) == list(net.weights_)
        assert all(values.tobytes() == net.weights_[key].tobytes() for key, values in theirs.items())
        assert (tmp_path / out / "metrics.csv").read_bytes() == net._files["metrics.csv"]


def test_an_estimator_is_a_run_that_the_command_takes(vowels, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = [x[:n, :, 0] for x, n in zip(vowels["x"], vowels["length"], strict=True)]
    net = matnet.SequenceClassifier(hidden=(6, 6), epochs=2, random_state=3).fit(X, vowels["y"])
    net.save("saved")
    np.savez("x.npz", x=vowels["x"], length=vowels["length"])
    for what, command in commands():
        arguments = ["predict", "saved", "--input", "x.npz", "--output", f"{what}.npy"]
        done = subprocess.run([*command, *arguments], capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        given = np.load(f"{what}.npy")
        assert np.array_equal(given, matnet.load_run("saved").predict(X))
    again = matnet.load("saved")
    assert np.array_equal(again.predict(X), net.predict(X))
    shutil.rmtree("saved")
    assert np.array_equal(again.predict_proba(X), net.predict_proba(X))
