"""The estimators beyond what scikit-learn's own checks ask."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import matnet
from matnet import _native, _parameters
from matnet.estimators import ESTIMATORS

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4, 5)).astype("float32")
Y = (X[:, 0, 0] > 0).astype(int)


def quick(**given):
    return matnet.MatrixClassifier(**{"epochs": 3, "random_state": 0, **given})


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_option_of_the_config_is_a_keyword(name):
    known = set(inspect.signature(ESTIMATORS[name]).parameters)
    for kind in _parameters.SPECS[name].kinds:
        _, model, train = _native.keys(kind)
        renamed = {key for (_, key) in _parameters.RENAMED}
        for section, keys in (("model", model), ("train", train)):
            assert set(keys) - _parameters.LEFT_OUT[section] - renamed <= known
    assert "Parameters\n" in ESTIMATORS[name].__doc__ and "{parameters}" not in ESTIMATORS[name].__doc__


def test_shapes_of_inputs():
    whole = quick().fit(X, Y)
    flat = quick(shape=(4, 5)).fit(X.reshape(60, 20), Y)
    assert np.array_equal(whole.predict_proba(X), flat.predict_proba(X.reshape(60, 20)))
    assert whole.n_features_in_ == flat.n_features_in_ == 20
    for odd in (X.astype("float64"), X.astype(">f4"), np.asfortranarray(X), X[::-1][::-1]):
        assert np.array_equal(quick().fit(odd, Y).predict_proba(odd), whole.predict_proba(X))
    frozen = X.copy()
    frozen.flags.writeable = False
    assert np.array_equal(whole.predict_proba(frozen), whole.predict_proba(X))
    assert whole.predict_proba(X.astype("float16")).shape == (60, 2)
    with pytest.raises(ValueError, match="shape"):
        quick(shape=(3, 5)).fit(X.reshape(60, 20), Y)
    with pytest.raises(ValueError, match=r"X: matrices of shape \(4, 4\)"):
        whole.predict(X[:, :, :4])
    with pytest.raises(ValueError, match="X: shape .* holds nothing"):
        whole.predict(X[:0])


def test_errors_name_the_argument():
    for given, argument in [
        ({"learning_rate": -1}, "learning_rate: "),
        ({"hidden": [0, 3]}, "hidden"),
        ({"hidden": "many"}, "hidden"),
        ({"activation": "cube"}, "activation: "),
        ({"epochs": 0}, "epochs: "),
        ({"dropout": 2.0}, "dropout: "),
        ({"random_state": -3}, "random_state: "),
        ({"validation_fraction": 2}, "validation_fraction: "),
        ({"n_jobs": 0}, "n_jobs: "),
        ({"patience": 3}, "patience: "),
    ]:
        with pytest.raises(ValueError, match=f"^{argument}"):
            quick(**given).fit(X, Y)
    with pytest.raises(TypeError, match="hiden"):
        matnet.MatrixClassifier(hiden=3)
    with pytest.raises(ValueError, match="^sample_weight: "):
        quick().fit(X, Y, sample_weight=-np.ones(60))
    with pytest.raises(ValueError, match="^eval_set: "):
        quick().fit(X, Y, eval_set=X)
    with pytest.raises(ValueError, match="class 7 is not one of"):
        quick().fit(X, Y, eval_set=(X, np.full(60, 7)))


def test_validation_stops_early():
    net = quick(epochs=200, patience=2, learning_rate=0.05).fit(X, Y, eval_set=(X[:20], Y[:20]))
    assert net.n_iter_ < 200 and len(net.history_["valid_loss"]) == net.n_iter_
    assert net.best_epoch_ <= net.n_iter_
    drawn = quick(validation_fraction=0.2).fit(X, Y)
    assert "valid_error" in drawn.history_


def test_pickle_clone_and_threads():
    net = quick(n_jobs=1).fit(X, Y)
    again = pickle.loads(pickle.dumps(net))
    assert np.array_equal(net.predict_proba(X), again.predict_proba(X))
    assert clone(net).get_params() == net.get_params()
    assert not hasattr(clone(net), "classes_")
    other = quick(n_jobs=2).fit(X, Y)
    assert np.array_equal(net.predict_proba(X), other.predict_proba(X))
    assert quick().set_params(form="vector", hidden=(8,)).fit(X, Y).config_["model"]["form"] == "vector"


def test_scikit_learn_tools():
    flat = X.reshape(60, 20)
    pipeline = make_pipeline(StandardScaler(), quick(shape=(4, 5)))
    assert len(cross_val_score(pipeline, flat, Y, cv=3)) == 3
    search = GridSearchCV(quick(), {"hidden": [(2, 2), (3, 3)]}, cv=2).fit(X, Y)
    assert search.best_params_["hidden"] in [(2, 2), (3, 3)]
    calibrated = CalibratedClassifierCV(quick(shape=(4, 5)), cv=2).fit(flat, Y)
    assert calibrated.predict_proba(flat).shape == (60, 2)


def test_sequences_of_different_lengths():
    sequences = [x[: 2 + at % 3] for at, x in enumerate(X)]
    net = matnet.SequenceClassifier(hidden=(3, 3), epochs=2, random_state=0).fit(sequences, Y)
    alone = np.concatenate([net.predict_proba([sequence]) for sequence in sequences])
    assert np.allclose(alone, net.predict_proba(sequences), atol=1e-6)
    steps = (X[:, :, 0] > 0).astype(int)
    labeller = matnet.SequenceClassifier(hidden=(3, 3), epochs=2, random_state=0).fit(X, steps)
    assert labeller.predict(X).shape == (60, 4) and 0 <= labeller.score(X, steps) <= 1
    for y, shape in [(X[:, 0, 0], (60,)), (X[:, 0, :2], (60, 2)), (X[:, :2], (60, 2, 5))]:
        net = matnet.SequenceRegressor(hidden=(3, 3), epochs=1, random_state=0).fit(X, y)
        assert net.predict(X).shape == shape and np.isfinite(net.score(X, y))


def test_labels_values_and_matrices():
    flags = X[:, 0, :3] > 0
    net = quick().fit(X, flags)
    assert net.predict(X).shape == net.predict_proba(X).shape == (60, 3)
    matrix = matnet.MatrixRegressor(epochs=2, random_state=0).fit(X, X[:, :2, :2])
    assert matrix.predict(X).shape == (60, 2, 2)
    words = np.where(Y, "yes", "no")
    assert set(quick().fit(X, words).predict(X)) <= {"yes", "no"}


def test_partial_fit_knows_classes_that_come_later():
    net = matnet.MatrixClassifier(learning_rate=0.02, random_state=0)
    net.partial_fit(X[:20], Y[:20], classes=[0, 1, 2])
    for _ in range(5):
        net.partial_fit(X, Y)
    assert net.predict_proba(X).shape == (60, 3)
    with pytest.raises(ValueError, match="class 7"):
        net.partial_fit(X, Y + 6)


def test_auto_encoder():
    coder = matnet.MatrixAutoEncoder(hidden=(3, 3), epochs=3, random_state=0).fit(X)
    codes = coder.transform(X)
    assert codes.shape == (60, 3, 3)
    assert np.allclose(coder.inverse_transform(codes), coder.predict(X), atol=1e-6)
    errors = ((coder.predict(X) - X) ** 2).mean(axis=(1, 2))
    assert np.allclose(coder.score_samples(X), -errors, atol=1e-5)
    with pytest.raises(ValueError, match="codes"):
        coder.inverse_transform(codes[:, :2])


def test_graph():
    edges = rng.integers(0, 60, size=(200, 2))
    features = X.reshape(60, 20)
    partly = np.where(np.arange(60) < 30, Y, -1)
    for kind in ("column-net", "gcn", "chebyshev"):
        net = matnet.GraphClassifier(kind=kind, epochs=5, random_state=0).fit(features, partly, edges)
        assert net.predict_proba().shape == (60, 2)
        assert np.array_equal(net.predict(), net.predict(features, edges.T))
        assert np.array_equal(pickle.loads(pickle.dumps(net)).predict(), net.predict())
        assert 0 <= net.score(None, Y) <= 1
    names = np.where(Y, "a", "b").astype(object)
    names[40:] = None
    held = matnet.GraphClassifier(epochs=3, random_state=0).fit(features, names, edges, eval_set=range(30, 40))
    assert "valid_loss" in held.history_ and set(held.predict()) <= {"a", "b"}
    for given, argument in [
        ({"edges": edges + 100}, "edges"),
        ({"edges": edges[:, :1]}, "edges"),
        ({"y": Y[:5]}, "y"),
        ({"y": np.full(60, -1)}, "y"),
        ({"X": features[0]}, "X"),
    ]:
        with pytest.raises(ValueError, match=f"^{argument}: "):
            matnet.GraphClassifier(epochs=1).fit(**{"X": features, "y": partly, "edges": edges, **given})


def test_forecaster():
    t = np.arange(300)
    table = np.stack([np.sin(t / 8), np.cos(t / 11), t / 300], axis=1)
    for kind in ("seq2seq", "feedforward"):
        net = matnet.Forecaster(
            kind=kind,
            window=12,
            horizon=3,
            hidden=(6, 2),
            epochs=3,
            validation_fraction=0.2,
            random_state=0,
        ).fit(table)
        assert net.predict().shape == (3, 3)
        assert np.allclose(net.predict(), net.predict(table[-12:]))
        assert net.predict(np.stack([table[:12], table[12:24]])).shape == (2, 3, 3)
        assert np.isfinite(net.score(table))
    with pytest.raises(ValueError, match="^X: "):
        net.predict(table[:5])


@pytest.mark.parametrize("name", ["MatrixClassifier", "MatrixAutoEncoder", "SequenceRegressor", "Forecaster"])
def test_save_and_load(name, tmp_path):
    net = ESTIMATORS[name](epochs=2, random_state=0)
    given = (X.reshape(-1, 5),) if name == "Forecaster" else (X, X[:, 0, 0]) if "Reg" in name else (X, Y)
    net.fit(*given)
    net.save(tmp_path / "run")
    again = matnet.load(tmp_path / "run")
    assert type(again) is type(net) and again.get_params() == net.get_params()
    assert np.array_equal(again.predict(given[0]), net.predict(given[0]))
    with pytest.raises(FileExistsError):
        net.save(tmp_path / "run")


def test_a_run_of_the_command_is_an_estimator(tmp_path):
    config = {"model": {"kind": "feedforward", "hidden": [3, 3]}, "train": {"epochs": 2}}
    run = matnet.train(config, data={"x": X, "y": Y + 3}, out=tmp_path / "run", report=False)
    net = matnet.load(tmp_path / "run")
    assert isinstance(net, matnet.MatrixClassifier) and net.classes_.tolist() == [3, 4]
    assert np.allclose(net.predict_proba(X), run.predict(X), atol=1e-7)
