"""`matnet.train` and `Run`."""

import gc
import json
import sys
import tempfile
import warnings

import numpy as np
import pytest
from conftest import needs

import matnet

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4, 5)).astype("float32")
CONFIG = {"model": {"kind": "feedforward", "hidden": [4, 4]}, "train": {"epochs": 3}}

SAMPLES = {
    "feedforward": ({"x": X, "y": X[:, 0, 0] > 0}, {"hidden": [3, 3]}),
    "autoencoder": ({"x": X}, {"hidden": [3, 3], "depth": 2}),
    "sequence-classifier": ({"x": X[..., None], "y": X[:, 0, 0] > 0}, {"hidden": [3, 3]}),
    "sequence-regressor": ({"x": X[..., None], "y": X[:, 0, 0]}, {"hidden": [3, 3]}),
    "sequence-labeller": (
        {"x": X[..., None], "y": (X[:, :, 0] > 0).astype(int)},
        {"hidden": [3, 3]},
    ),
    "seq2seq": ({"x": X[..., None], "y": X[:, :2, :, None]}, {"hidden": [3, 3]}),
}
GRAPH = {
    "features": rng.normal(size=(30, 4)),
    "edges": rng.integers(0, 30, size=(60, 2)),
    "labels": rng.integers(0, 2, size=30),
}
GRAPHS = {
    "column-net": {"hidden": 4, "depth": 2},
    "gcn": {"hidden": [4]},
    "chebyshev": {"hidden": [4]},
}
OTHERS = {
    "turing-machine": {
        "data": {"task": "copy", "width": 3, "sequences_per_epoch": 16},
        "model": {},
    },
    "memory-network": {"data": {"source": "stories", "limit": 20}, "model": {}},
    "end-to-end-memory": {"data": {"source": "stories", "limit": 20}, "model": {}},
}


def test_every_kind_of_net_is_covered():
    assert {*SAMPLES, *GRAPHS, *OTHERS} == set(matnet.kinds())


@pytest.mark.parametrize("kind", SAMPLES)
def test_samples(kind):
    data, model = SAMPLES[kind]
    run = matnet.train({"model": {"kind": kind, **model}, "train": {"epochs": 1}}, data=data, report=False)
    assert len(run.predict(data["x"])) == 60
    assert run.result["kind"] == kind


@pytest.mark.parametrize("kind", GRAPHS)
def test_graphs(kind):
    config = {"model": {"kind": kind, **GRAPHS[kind]}, "train": {"epochs": 1}}
    run = matnet.train(config, data=GRAPH, report=False)
    shown = run.predict({"features": GRAPH["features"], "edges": GRAPH["edges"]})
    assert shown.shape == (30, 2)


@pytest.mark.parametrize("kind", OTHERS)
def test_nets_on_generated_data(kind):
    import tomllib

    config = tomllib.loads(matnet.new(kind))
    # The template as it is, but short.
    config["train"] |= {"epochs": 1, "batch_size": 8}
    if kind == "turing-machine":
        config["data"] |= {"sequences_per_epoch": 16, "valid_sequences": 8, "test_sequences": 8}
    run = matnet.train(config, report=False)
    assert run.result["epochs"] >= 1


def test_a_run_tells_everything(tmp_path):
    data = {"x": X, "y": np.where(X[:, 0, 0] > 0, "up", "down")}
    run = matnet.train(CONFIG, data=data, out=tmp_path / "run")
    assert run.config["model"]["hidden"] == [4, 4]
    assert run.classes == ["down", "up"]
    assert {row["split"] for row in run.history} == {"train", "valid"}
    assert sorted(len(part) for part in run.split.values()) == [6, 12, 42]
    assert "layer.0.row_map" in run.weights()
    assert run.report.startswith("<!DOCTYPE html>") or "<html" in run.report
    assert run._repr_html_().startswith("<iframe srcdoc=")
    copy = run.save(tmp_path / "copy")
    assert np.array_equal(copy.predict(X), matnet.load_run(tmp_path / "run").predict(X))
    assert matnet.load_run(tmp_path / "run").result == run.result
    with pytest.raises(FileNotFoundError, match="no run here"):
        matnet.load_run(tmp_path)


def test_metrics_are_a_frame(monkeypatch):
    pandas = needs("pandas")
    run = matnet.train(CONFIG, data={"x": X, "y": X[:, 0, 0] > 0}, report=False)
    assert isinstance(run.metrics, pandas.DataFrame)
    assert list(run.metrics["epoch"].unique()) == [1, 2, 3]
    # Whichever is installed.
    monkeypatch.setitem(sys.modules, "pandas", None)
    polars = needs("polars")
    assert isinstance(run.metrics, polars.DataFrame) and run.metrics["epoch"].unique().to_list() == [1, 2, 3]
    monkeypatch.setitem(sys.modules, "polars", None)
    assert run.metrics == run.history and run.metrics[0]["epoch"] == 1


def test_a_toml_file_and_a_finished_run(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(
        '[data]\nsource = "optdigits"\nlimit = 100\n[model]\nkind = "feedforward"\nhidden = [4, 4]\n[train]\nepochs = 1\n'
    )
    first = matnet.train(path, out=tmp_path / "run", report=False)
    again = matnet.train(path, out=tmp_path / "run", report=False)
    assert first.result == again.result
    with pytest.raises(ValueError, match="^out: .*another config"):
        matnet.train({**CONFIG, "data": {"source": "optdigits"}}, out=tmp_path / "run", report=False)


def test_wrong_configs_name_the_key(tmp_path):
    data = {"x": X, "y": X[:, 0, 0] > 0}
    for change, message in [
        (
            {"model": {"kind": "feedforward", "hiden": 3}},
            "model.hiden: no such key; did you mean `hidden`",
        ),
        ({"model": {"kind": "nothing"}}, "model.kind: nothing"),
        ({"train": {"learning_rate": -1.0}}, "train.learning_rate"),
        ({"train": {"learning_rate": float("nan")}}, "config"),
        ({"train": {"epochs": 2**70}}, "config"),
        ({"nonsense": {}}, "nonsense"),
    ]:
        with pytest.raises(ValueError, match=message):
            matnet.train({**CONFIG, **change}, data=data, report=False)
    with pytest.raises(ValueError, match="config"):
        matnet.train(3, data=data)
    with pytest.raises(FileNotFoundError):
        matnet.train(tmp_path / "missing.toml")
    for given, message in [
        ({"data": {"x": X, "y": [1, 2, 3]}}, r"data\['y'\]: shape"),
        ({"data": {"x": X[:, 0], "y": data["y"]}}, r"data\['x'\]: shape"),
        ({"data": {"x": X, "labels": data["y"]}}, "data: labels would be ignored"),
        ({"data": data, "valid": {"x": X, "y": X[:, 0]}}, "valid: "),
        ({"data": data, "test": {"x": X * np.nan, "y": data["y"]}}, "test: sample 0 holds NaN"),
    ]:
        with pytest.raises(ValueError, match=f"^{message}"):
            matnet.train(CONFIG, **given, report=False)
    run = matnet.train(CONFIG, data=data, report=False)
    with pytest.raises(ValueError, match="^data: the net takes"):
        run.predict(X[:, :2])


def test_callbacks_hear_and_stop():
    heard = []

    def two(epoch, logs):
        heard.append((epoch, sorted(logs)))
        return epoch == 2

    data = {"x": X, "y": X[:, 0, 0] > 0}
    run = matnet.train({**CONFIG, "train": {"epochs": 50}}, data=data, callbacks=[two], report=False)
    assert [epoch for epoch, _ in heard] == [1, 2]
    assert {"train_loss", "valid_loss", "valid_error"} <= set(heard[0][1])
    assert run.result is None and len(run.predict(X)) == 60

    class Wrong(matnet.Callback):
        def on_epoch_end(self, epoch, logs):
            raise ZeroDivisionError(json.dumps(epoch))

    with pytest.raises(ZeroDivisionError, match="1"):
        matnet.train(CONFIG, data=data, callbacks=[Wrong()], report=False)
    with pytest.raises(ValueError, match="callbacks"):
        matnet.train(CONFIG, data=data, callbacks=["x"], report=False)


def test_progress(capsys):
    data = {"x": X, "y": X[:, 0, 0] > 0}
    matnet.train(CONFIG, data=data, report=False)
    assert capsys.readouterr().err == ""
    matnet.train(CONFIG, data=data, report=False, progress=True)
    assert "epoch" in capsys.readouterr().err


def test_progress_without_tqdm(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    matnet.train(CONFIG, data={"x": X, "y": X[:, 0, 0] > 0}, report=False, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["epoch 1/3", "epoch 2/3", "epoch 3/3"]


def test_a_notebook_shows_progress_and_the_report():
    nbformat, nbclient = needs("nbformat"), needs("nbclient")
    needs("ipykernel")
    code = f"""
import numpy as np
import matnet
x = np.random.default_rng(0).normal(size=(60, 4, 5))
matnet.train({CONFIG!r}, data={{"x": x, "y": x[:, 0, 0] > 0}})
"""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(book, timeout=300).execute()
    outputs = book.cells[0].outputs
    assert any("epoch" in str(output) for output in outputs if output.output_type != "execute_result")
    shown = next(output for output in outputs if output.output_type == "execute_result")
    assert shown.data["text/html"].startswith("<iframe srcdoc=")


def test_a_run_without_a_folder_goes_with_its_object(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    data = {"x": X, "y": X[:, 0, 0] > 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = matnet.train(CONFIG, data=data, report=False)
        assert list(tmp_path.iterdir()) == [run.folder.parent]
        del run
        gc.collect()
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="learning_rate"):
        matnet.train({**CONFIG, "train": {"learning_rate": -1.0}}, data=data, report=False)
    gc.collect()
    assert not list(tmp_path.iterdir())
