"""Other packages, each the real one; a test whose package is not installed is skipped, and says so."""

import numpy as np
import pytest
from conftest import needs
from sklearn.model_selection import cross_val_score

import matnet

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4, 5)).astype("float32")
Y = (X[:, 0, 0] > 0).astype(int)


def classifier(**given):
    return matnet.MatrixClassifier(**{"epochs": 3, "random_state": 0, **given})


def test_pandas():
    pandas = needs("pandas")
    frame = pandas.DataFrame(X.reshape(40, 20), columns=[f"c{i}" for i in range(20)])
    net = classifier(shape=(4, 5)).fit(frame, pandas.Series(Y, name="y"))
    assert list(net.feature_names_in_) == list(frame.columns)
    assert np.array_equal(net.predict(frame), classifier().fit(X, Y).predict(X))
    dates = pandas.date_range("2026-01-01", periods=100, freq="h")
    table = pandas.DataFrame({"load": np.sin(np.arange(100) / 5), "wind": np.cos(np.arange(100) / 7)}, index=dates)
    forecaster = matnet.Forecaster(window=8, horizon=2, epochs=1, hidden=(2, 2), random_state=0).fit(table)
    assert list(forecaster.feature_names_in_) == ["load", "wind"] and forecaster.predict(table).shape == (2, 2)
    with pytest.raises(ValueError, match="^X: .*feature names should match"):
        forecaster.predict(table[["wind", "load"]])
    with pytest.raises(ValueError, match="^X: column 'date': "):
        forecaster.fit(table.rename_axis("date").reset_index())


@pytest.mark.parametrize("kind", ["str", "category", "object", "bool", "Int64", "float"])
def test_classes_of_a_series(kind):
    pandas = needs("pandas")
    values = {"bool": Y > 0, "Int64": Y + 5, "float": Y + 0.0}.get(kind, np.where(Y, "yes", "no"))
    y = pandas.Series(values).astype(kind)
    net = classifier().fit(X, y)
    assert net.classes_.tolist() == sorted(set(y.tolist())) and set(net.predict(X)) <= set(y)
    assert net.score(X, y) == np.mean(net.predict(X) == y.to_numpy())


def test_polars():
    polars = needs("polars")
    frame = polars.DataFrame(X.reshape(40, 20), schema=[f"c{i}" for i in range(20)])
    net = classifier(shape=(4, 5)).fit(frame, polars.Series(Y))
    assert np.array_equal(net.predict(frame), classifier().fit(X, Y).predict(X))
    t = np.arange(100)
    table = polars.DataFrame({"a": np.sin(t / 5), "b": np.cos(t / 7)})
    assert matnet.Forecaster(window=8, epochs=1, hidden=(2, 2), random_state=0).fit(table).predict().shape == (1, 2)


def test_xarray():
    xarray = needs("xarray")
    array = xarray.DataArray(X, dims=("trial", "channel", "time"))
    assert np.array_equal(classifier().fit(array, Y).predict(array), classifier().fit(X, Y).predict(X))
    # A sequence net reads along the axis called time.
    net = matnet.SequenceClassifier(hidden=(3, 3), epochs=1, random_state=0)
    assert np.array_equal(
        net.fit(array, Y).predict_proba(array),
        net.fit(X.swapaxes(1, 2), Y).predict_proba(X.swapaxes(1, 2)),
    )


def test_mne():
    mne = needs("mne")
    info = mne.create_info(["C3", "Cz", "C4", "Pz"], sfreq=100.0, ch_types="eeg")
    epochs = mne.EpochsArray(X.astype("float64"), info, verbose="error")
    assert np.array_equal(classifier().fit(epochs, Y).predict(epochs), classifier().fit(X, Y).predict(X))
    net = matnet.SequenceClassifier(hidden=(3, 3), epochs=1, random_state=0).fit(epochs, Y)
    assert net._input_shape == (4, 1)
    # Scikit-learn splits epochs into a list with one each.
    for one, array in [(classifier(), X), (net, X.swapaxes(1, 2))]:
        assert np.array_equal(cross_val_score(one, epochs, Y, cv=2), cross_val_score(one, array, Y, cv=2))


class DLPack:
    """Something that speaks DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **given):
        return self.array.__dlpack__(**given)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_in_and_out():
    run = matnet.train(
        {"model": {"kind": "feedforward", "hidden": [3, 3]}, "train": {"epochs": 1}},
        data={"x": DLPack(X), "y": Y},
        report=False,
    )
    given = run.predict(DLPack(X))
    assert np.array_equal(np.from_dlpack(given), run.predict(X))
    # Estimators take it, too, as matrices and as a table.
    wanted = classifier().fit(X, Y).predict_proba(X)
    assert np.array_equal(classifier().fit(DLPack(X), DLPack(Y)).predict_proba(DLPack(X)), wanted)
    table = DLPack(X.reshape(40, 20))
    net = classifier(shape=(4, 5)).fit(table, Y, eval_set=(table, DLPack(Y)))
    assert np.array_equal(np.from_dlpack(net.predict_proba(table)), net.predict_proba(X.reshape(40, 20)))
    values = X[:, 0, :2].copy()
    options = {"epochs": 2, "random_state": 0}
    assert np.array_equal(
        matnet.MatrixRegressor(**options).fit(X, DLPack(values)).predict(X),
        matnet.MatrixRegressor(**options).fit(X, values).predict(X),
    )


def test_networkx():
    networkx = needs("networkx")
    graph = networkx.karate_club_graph()
    club = np.array([data["club"] for _, data in graph.nodes(data=True)])
    known = np.where(np.isin(np.arange(34), [0, 1, 2, 31, 32, 33]), club, "")
    options = {"kind": "gcn", "epochs": 30, "learning_rate": 0.02, "random_state": 0}
    net = matnet.GraphClassifier(**options).fit(np.eye(34), known, graph)
    assert net.score(None, club) > 0.8
    pairs = np.array(graph.edges)
    adjacency = networkx.to_scipy_sparse_array(graph, weight=None)
    for edges in (pairs, adjacency, adjacency.tolil(), adjacency.toarray(), networkx.DiGraph(graph), pairs[:, ::-1]):
        again = matnet.GraphClassifier(**options).fit(np.eye(34), known, edges)
        assert np.allclose(again.predict_proba(), net.predict_proba(), atol=1e-4)
    # Names of nodes are theirs; numbers must be in order.
    named = networkx.relabel_nodes(graph, {node: f"member {node}" for node in graph})
    assert np.array_equal(net.predict(np.eye(34), named), net.predict())
    with pytest.warns(UserWarning, match="^edges: weights of edges are not used"):
        net.predict(np.eye(34), networkx.to_scipy_sparse_array(graph))
    for wrong, message in [
        (networkx.path_graph(5), "edges: a graph of 5 nodes; 34 expected"),
        (networkx.path_graph(range(33, -1, -1)), "edges: the nodes of the graph are numbers, but not in their order"),
    ]:
        with pytest.raises(ValueError, match=f"^{message}"):
            net.predict(np.eye(34), wrong)


def test_torch_tensors_and_modules(tmp_path):
    torch = needs("torch")
    needs("safetensors")
    import matnet.torch

    tensor = torch.from_numpy(X)
    net = classifier().fit(tensor, torch.from_numpy(Y))
    assert np.array_equal(net.predict_proba(tensor), classifier().fit(X, Y).predict_proba(X))
    assert np.array_equal(net.predict_proba(tensor.requires_grad_()), net.predict_proba(X))
    assert torch.from_dlpack(matnet.load_run(saved(net, tmp_path)).predict(X)).shape == (40, 2)
    regressor = matnet.MatrixRegressor(epochs=2, random_state=0, scale="standardize").fit(X, X[:, 0, :2])
    sequences = matnet.SequenceClassifier(hidden=(3, 3), epochs=1, random_state=0).fit(X, Y)
    for one, given, wanted in [
        (net, X, net.predict_proba(X)),
        (regressor, X, regressor.predict(X)),
        (sequences, X[..., None], sequences.predict_proba(X)),
    ]:
        module = matnet.torch.from_run(one)
        assert isinstance(module, torch.nn.Module)
        assert np.allclose(module.predict(torch.from_numpy(given)), wanted, atol=1e-5)
        module(torch.from_numpy(given)).sum().backward()
        assert all(parameter.grad is not None for parameter in module.parameters())


def test_torch_geometric():
    torch = needs("torch")
    needs("torch_geometric")
    from torch_geometric.datasets import KarateClub

    graph = KarateClub()[0]
    y = torch.where(graph.train_mask, graph.y, -1)
    net = matnet.GraphClassifier(kind="gcn", epochs=100, learning_rate=0.02, random_state=0)
    net.fit(graph.x, y, graph.edge_index)
    assert net.score(None, graph.y) > 0.6
    assert np.array_equal(net.predict(graph.x, graph.edge_index), net.predict())
    again = net.fit(graph.x.numpy(), y.numpy(), graph.edge_index.numpy())
    assert again.classes_.tolist() == [0, 1, 2, 3]


def saved(net, folder):
    net.save(folder / "run")
    return folder / "run"


def test_dask_runs_cross_validation_on_several_workers():
    distributed = needs("distributed")
    import joblib
    from sklearn.model_selection import GridSearchCV

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster), joblib.parallel_backend("dask"):
            search = GridSearchCV(classifier(n_jobs=1), {"hidden": [(2, 2), (3, 3)]}, cv=2).fit(X, Y)
    alone = GridSearchCV(classifier(n_jobs=1), {"hidden": [(2, 2), (3, 3)]}, cv=2).fit(X, Y)
    assert np.array_equal(search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


def test_joblib_processes():
    scores = cross_val_score(classifier(n_jobs=1), X, Y, cv=4, n_jobs=2)
    assert np.array_equal(scores, cross_val_score(classifier(n_jobs=1), X, Y, cv=4))


def test_optuna_prunes():
    optuna = needs("optuna")
    from matnet.callbacks import OptunaPruning

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        rate = trial.suggest_float("learning_rate", 1e-4, 1e-1, log=True)
        net = classifier(learning_rate=rate, epochs=4, callbacks=[OptunaPruning(trial)])
        net.fit(X, Y, eval_set=(X[:10], Y[:10]))
        return min(net.history_["valid_loss"])

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0), pruner=optuna.pruners.MedianPruner(1, 1))
    study.optimize(objective, n_trials=8)
    states = {trial.state for trial in study.trials}
    assert optuna.trial.TrialState.PRUNED in states and study.best_trial
    with pytest.raises(ValueError, match="monitor"):
        classifier(callbacks=[OptunaPruning(study.ask(), "nothing")]).fit(X, Y)


def test_tensorboard(tmp_path):
    needs("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    from matnet.callbacks import TensorBoardLogger

    net = classifier(callbacks=[TensorBoardLogger(str(tmp_path))]).fit(X, Y)
    read = EventAccumulator(str(tmp_path))
    read.Reload()
    losses = [event.value for event in read.Scalars("train/loss")]
    assert np.allclose(losses, net.history_["train_loss"])
    # What goes wrong before the first epoch is said as it is.
    with pytest.raises(ValueError, match="^learning_rate: "):
        net.set_params(learning_rate=-1).fit(X, Y)


def test_mlflow(tmp_path):
    mlflow = needs("mlflow")
    from matnet.callbacks import MLflowLogger

    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    with mlflow.start_run() as run:
        net = classifier(callbacks=[MLflowLogger()]).fit(X, Y)
    logged = mlflow.MlflowClient().get_metric_history(run.info.run_id, "train_loss")
    assert np.allclose([metric.value for metric in logged], net.history_["train_loss"])
    with mlflow.start_run():
        assert len(cross_val_score(net, X, Y, cv=2)) == 2


def test_ray(tmp_path):
    ray = needs("ray")
    import joblib
    from ray.util.joblib import register_ray

    register_ray()
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        with joblib.parallel_backend("ray"):
            scores = cross_val_score(classifier(n_jobs=1), X, Y, cv=2)
    finally:
        ray.shutdown()
    assert np.array_equal(scores, cross_val_score(classifier(n_jobs=1), X, Y, cv=2))
