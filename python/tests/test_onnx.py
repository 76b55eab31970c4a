"""Exported nets in ONNX Runtime."""

import numpy as np
import pytest
from conftest import needs

import matnet

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 5, 4)).astype("float32")
Y = (X[:, 0, 0] > 0).astype(int)


def session(path):
    onnxruntime = needs("onnxruntime")
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def test_runs_and_estimators(tmp_path):
    config = {
        "data": {"scale": "standardize"},
        "model": {"kind": "feedforward", "hidden": [3, 3]},
        "train": {"epochs": 2},
    }
    run = matnet.train(config, data={"x": X, "y": Y}, report=False)
    run.export_onnx(tmp_path / "run.onnx")
    net = matnet.MatrixRegressor(epochs=2, random_state=0).fit(X, X[:, 0, :2])
    net.export_onnx(tmp_path / "net.onnx")
    for file, wanted in [("run", run.predict(X)), ("net", net.predict(X))]:
        opened = session(tmp_path / f"{file}.onnx")
        given = opened.run(None, {opened.get_inputs()[0].name: X})
        assert any(one.shape == wanted.shape and np.allclose(one, wanted, atol=1e-5) for one in given)


def test_lengths(tmp_path):
    sequences = [x[: 2 + at % 4] for at, x in enumerate(X)]
    net = matnet.SequenceClassifier(hidden=(3, 2), epochs=1, random_state=0).fit(sequences, Y)
    net.export_onnx(tmp_path / "net.onnx")
    opened = session(tmp_path / "net.onnx")
    names = [one.name for one in opened.get_inputs()]
    assert "lengths" in names
    padded = X[..., None].copy()
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
    given = opened.run(None, {next(name for name in names if name != "lengths"): padded, "lengths": lengths})
    wanted = net.predict_proba(sequences)
    assert any(one.shape == wanted.shape and np.allclose(one, wanted, atol=1e-5) for one in given)
    net.export_onnx(tmp_path / "fixed.onnx", lengths=False)
    assert "lengths" not in [one.name for one in session(tmp_path / "fixed.onnx").get_inputs()]


def test_what_cannot_be_exported(tmp_path):
    net = matnet.MatrixClassifier(epochs=1, random_state=0)
    with pytest.raises(ValueError, match="not fitted"):
        net.export_onnx(tmp_path / "net.onnx")
    net.fit(X, Y)
    with pytest.raises(ValueError, match="^lengths: "):
        net.export_onnx(tmp_path / "net.onnx", lengths=True)
    with pytest.raises(OSError, match="nowhere"):
        net.export_onnx(tmp_path / "nowhere" / "net.onnx")
    config = {"data": {"source": "citations"}, "train": {"epochs": 1}}
    config |= {"model": {"kind": "column-net", "hidden": 4, "aggregation": "concat"}}
    run = matnet.train(config, report=False)
    with pytest.raises(ValueError, match="cannot be exported to ONNX"):
        run.export_onnx(tmp_path / "net.onnx")
    assert not list(tmp_path.iterdir())
