"""The estimators beyond what scikit-learn's own checks ask."""

import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score
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
    # Contiguous, but no number lies where the processor expects it.
    unaligned = np.frombuffer(b"?" + X.tobytes(), dtype=np.float32, offset=1).reshape(X.shape)
    assert not unaligned.flags.aligned
    assert np.array_equal(quick().fit(unaligned, Y).predict_proba(unaligned), whole.predict_proba(X))
    masked = np.ma.masked_array(X, mask=False)
    assert np.array_equal(whole.predict_proba(masked), whole.predict_proba(X))
    masked[0, 0, 0] = np.ma.masked
    for given in (masked, masked.reshape(60, 20)):
        with pytest.raises(ValueError, match="^X: a masked array"):
            whole.predict(given)
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
        ({"random_state": "seven"}, "random_state: "),
        ({"validation_fraction": 2}, "validation_fraction: "),
        ({"n_jobs": 0}, "n_jobs: "),
        ({"patience": 3}, "patience: .*pass eval_set to fit, or set validation_fraction"),
        ({"callbacks": print}, "callbacks: "),
    ]:
        with pytest.raises(ValueError, match=f"^{argument}"):
            quick(**given).fit(X, Y)
    for wrong in (None, "abc", [], {"a": 1}, 3, X[0, 0], np.full((60, 2), "a"), X.astype(complex), X * np.inf, X[:0]):
        with pytest.raises(ValueError, match="^X: "):
            quick().fit(wrong, Y)
    mixed = np.array(["a", 1] * 30, dtype=object)
    missing = np.array(["a", "b", np.nan] * 20, dtype=object)
    for wrong in ([None] * 60, X[:, 0, 0], Y * 0, X[:, 0], "abc", 3, mixed, missing):
        with pytest.raises(ValueError, match="^y"):
            quick().fit(X, wrong)
    with pytest.raises(TypeError, match="hiden"):
        matnet.MatrixClassifier(hiden=3)
    for wrong in (-np.ones(60), np.ones(59), np.full(60, np.nan), "balanced", 0 * Y):
        with pytest.raises(ValueError, match="^sample_weight: "):
            quick().fit(X, Y, sample_weight=wrong)
    with pytest.raises(ValueError, match="^y: "):
        quick().fit(X, Y[:9])
    with pytest.raises(ValueError, match="^y: "):
        matnet.MatrixRegressor().fit(X, ["a"] * 60)
    with pytest.raises(ValueError, match="^eval_set: "):
        quick().fit(X, Y, eval_set=X)
    with pytest.raises(ValueError, match="^eval_set: y: class 7 is not one of"):
        quick().fit(X, Y, eval_set=(X, np.full(60, 7)))
    with pytest.raises(ValueError, match="^eval_set: .*inconsistent numbers of samples"):
        quick().fit(X, Y, eval_set=(X, Y[:9]))


def test_validation_stops_early():
    net = quick(epochs=200, patience=2, learning_rate=0.05).fit(X, Y, eval_set=(X[:20], Y[:20]))
    assert net.n_iter_ < 200 and len(net.history_["valid_loss"]) == net.n_iter_
    assert net.best_epoch_ <= net.n_iter_
    listed = quick(epochs=200, patience=2, learning_rate=0.05).fit(X, Y, eval_set=[(X[:20], Y[:20])])
    assert listed.history_ == net.history_
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
    for hidden in (8, (8,)):
        vector = quick().set_params(form="vector", hidden=hidden).fit(X, Y)
        assert vector.config_["model"]["form"] == "vector" and vector.config_["model"]["hidden"] == [8]


def test_scikit_learn_tools():
    flat = X.reshape(60, 20)
    pipeline = make_pipeline(StandardScaler(), quick(shape=(4, 5)))
    assert len(cross_val_score(pipeline, flat, Y, cv=3)) == 3
    search = GridSearchCV(quick(), {"hidden": [(2, 2), (3, 3)]}, cv=2).fit(X, Y)
    assert search.best_params_["hidden"] in [(2, 2), (3, 3)]
    for given in (flat, X):
        calibrated = CalibratedClassifierCV(quick(), cv=2).fit(given, Y)
        assert calibrated.predict_proba(given).shape == (60, 2)
    assert cross_val_predict(quick(), X, Y, cv=2, method="predict_proba").shape == (60, 2)
    sequences = [x[: 2 + at % 3] for at, x in enumerate(X)]
    net = matnet.SequenceClassifier(hidden=(2, 2), epochs=1, random_state=0)
    assert len(GridSearchCV(net, {"cell": ["gru", "rnn"]}, cv=2).fit(sequences, Y).predict(sequences)) == 60
    heard = []
    scores = cross_val_score(quick(callbacks=[Heard(heard)]), X, Y, cv=3)
    assert len(scores) == 3 and len(heard) == 9, "copies of an estimator tell the same callbacks"


class Heard(matnet.Callback):
    """Keeps what it hears."""

    def __init__(self, heard):
        self.heard = heard

    def on_epoch_end(self, epoch, logs):
        self.heard.append(epoch)


def test_a_weight_stands_for_copies_of_a_sample():
    # In one batch per epoch, up to the rounding of float32. With several a sample of weight 2 is in one step, two samples may be in two.
    weight = rng.integers(0, 4, size=60)
    copies = np.repeat(np.arange(60), weight)
    options = {"hidden": (3, 3), "epochs": 20, "batch_size": 1000, "random_state": 0}
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    for net, x, y in [
        (matnet.MatrixClassifier(**options), X, Y),
        (matnet.MatrixRegressor(**options), X, X[:, 0, 0] ** 2),
        (matnet.MatrixRegressor(**options, scale_target=False), X, X[:, 0, :2]),
        (matnet.MatrixRegressor(**options, scale="min-max", scale_per="row"), X, X[:, 0, 0]),
        (matnet.MatrixClassifier(**options, missing="mean", scale="standardize"), holes, Y),
        (matnet.SequenceClassifier(**options, scale="standardize"), X, Y),
    ]:
        weighted = clone(net).fit(x, y, sample_weight=weight)
        repeated = clone(net).fit(x[copies], y[copies])
        plain = clone(net).fit(x, y)

        def far(one, other):
            return max(np.abs(one.weights_[name] - other.weights_[name]).max() for name in one.weights_)

        assert far(weighted, repeated) < 1e-3 < far(plain, repeated)


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


def test_lists_of_any_kind():
    lengths = [2 + at % 3 for at in range(60)]
    sequences = [x[:length] for x, length in zip(X, lengths, strict=True)]
    names = ["yes" if y else "no" for y in Y]
    net = matnet.SequenceClassifier(hidden=(3, 3), epochs=2, random_state=0)
    wanted = net.fit(sequences, np.array(names)).predict_proba(sequences)
    nested = [x.tolist() for x in sequences]
    assert np.array_equal(net.fit(nested, names).predict_proba(nested), wanted)
    assert len(cross_val_score(net, nested, names, groups=np.arange(60) % 6, cv=GroupKFold(3))) == 3
    # One number per step.
    single = [x[:, 0] for x in sequences]
    wanted = net.fit([x[:, None] for x in single], names).predict_proba([x[:, None] for x in single])
    for given in (single, [x.tolist() for x in single]):
        assert np.array_equal(net.fit(given, names).predict_proba(given), wanted)
        assert np.array_equal(net.predict_proba([given[0]]), net.predict_proba(given)[:1])
    holes = [x.copy() for x in sequences]
    holes[3][1, 1] = np.nan
    with pytest.raises(ValueError, match=r"^X\[3\]: NaN"):
        net.fit(holes, names)
    assert len(clone(net).set_params(missing="forward").fit(holes, names).predict(holes)) == 60
    values = matnet.SequenceRegressor(hidden=(3, 3), epochs=1, random_state=0).fit(nested, X[:, 0, 0].tolist())
    assert values.predict(nested).shape == (60,)
    with pytest.raises(ValueError, match=r"^X\[1\]: shape \(3, 5\); \(2, 5\) expected, as in X\[0\]"):
        quick().fit(sequences, Y)


def test_a_target_for_every_step_of_lists_of_sequences():
    lengths = [2 + at % 3 for at in range(60)]
    sequences = [x[:length] for x, length in zip(X, lengths, strict=True)]
    words = [np.where(x[:, 0] > 0, "up", "down") for x in sequences]
    net = matnet.SequenceClassifier(hidden=(3, 3), epochs=40, learning_rate=0.05, random_state=0)
    net.fit(sequences, words, eval_set=(sequences[:9], words[:9]))
    assert [len(one) for one in net.predict(sequences)] == lengths
    assert net.classes_.tolist() == ["down", "up"] and net.predict_proba(sequences)[1].shape == (3, 2)
    assert np.allclose(net.predict_proba(sequences)[1].sum(-1), 1)
    right = np.concatenate(list(net.predict(sequences))) == np.concatenate(words)
    assert net.score(sequences, words) == right.mean() > 0.8
    one = np.arange(60) == 1
    assert net.score(sequences, words, sample_weight=one) == np.mean(net.predict(sequences)[1] == words[1])
    assert len(cross_val_predict(net.set_params(epochs=1), sequences, words, cv=2)) == 60
    for wrong in (words[:-1] + [words[-1][:1]], words[:-1]):
        with pytest.raises(ValueError, match=r"^y\[59\]: shape \(1,\)|^y: 59 targets; 60 expected"):
            net.fit(sequences, wrong)
    # Several labels are no classes of steps.
    assert net.fit(sequences, [[0, 1, 0, 1, 1]] * 30 + [[1, 0, 0, 1, 0]] * 30).predict(sequences).shape == (60, 5)
    values = [x[:, :2, None] for x in sequences]
    regressor = matnet.SequenceRegressor(hidden=(3, 3), epochs=1, random_state=0).fit(sequences, values)
    assert [one.shape for one in regressor.predict(sequences)[:2]] == [(2, 2, 1), (3, 2, 1)]
    assert np.isfinite(regressor.score(sequences, values))


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
    net.partial_fit(X, Y, classes=[2, 1, 0])
    with pytest.raises(ValueError, match=r"^classes: \[0, 1\]; \[0, 1, 2\] expected"):
        net.partial_fit(X, Y, classes=[0, 1])


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
    sparse = scipy.sparse.coo_array((np.ones(200), edges.T), shape=(60, 60)).tocsr() != 0
    assert np.array_equal(net.predict(features, sparse), net.predict())
    # Nodes of weight 0 are as nodes without a class.
    some = np.where(np.arange(60) < 20, Y, -1)
    weighted = clone(net).fit(features, partly, edges, sample_weight=np.arange(60) < 20).weights_
    fewer = clone(net).fit(features, some, edges).weights_
    assert all(np.allclose(weighted[name], fewer[name], atol=1e-6) for name in fewer)
    names = np.where(Y, "a", "b").astype(object)
    names[40:] = None
    held = matnet.GraphClassifier(epochs=3, random_state=0).fit(features, names, edges, eval_set=range(30, 40))
    assert "valid_loss" in held.history_ and set(held.predict()) <= {"a", "b"}
    for given, argument in [
        ({"edges": edges + 100}, "edges"),
        ({"edges": edges - 1}, "edges: node -1"),
        ({"edges": scipy.sparse.eye_array(3)}, "edges: adjacency"),
        ({"sample_weight": np.ones(3)}, "sample_weight"),
        ({"sample_weight": (np.arange(60) >= 30).astype(int)}, "sample_weight"),
        ({"edges": edges[:, :1]}, "edges"),
        ({"y": Y[:5]}, "y"),
        ({"y": np.full(60, -1)}, "y"),
        ({"X": features[0]}, "X"),
    ]:
        with pytest.raises(ValueError, match=f"^{argument}"):
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
        split = net.set_params(validation_fraction=0).fit(table[:240], eval_set=table[240:])
        assert len(split.history_["valid_loss"]) == 3
        assert np.allclose(split.predict(), split.predict(table[:240]))
    with pytest.raises(ValueError, match="^eval_set: 2 columns; 3 expected"):
        net.fit(table, eval_set=table[:, :2])
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


def test_shapes_and_names_survive(tmp_path):
    column = matnet.MatrixRegressor(epochs=1, random_state=0).fit(X, X[:, 0, :1])
    column.save(tmp_path / "column")
    assert column.predict(X).shape == matnet.load(tmp_path / "column").predict(X).shape == (60, 1)
    # Numbers of NumPy are no other keywords, and dates are classes as others.
    options = {"hidden": np.array([3, 3]), "epochs": np.int64(1), "learning_rate": np.float32(0.25)}
    dates = np.where(Y, np.datetime64("2026-01-01"), np.datetime64("2027-01-01"))
    dated = matnet.MatrixClassifier(**options, random_state=np.int64(3)).fit(X, dates)
    dated.save(tmp_path / "dated")
    again = matnet.load(tmp_path / "dated")
    assert np.array_equal(again.predict(X), dated.predict(X)) and again.predict(X).dtype.kind == "M"
    assert np.array_equal(clone(again).fit(X, dates).predict_proba(X), dated.predict_proba(X))
    # The command and `Run` call classes as the user does.
    names = np.where(Y, "yes", "no")
    for at, (net, given, wanted) in enumerate(
        [
            (quick(), (X, names), ["no", "yes"]),
            (quick(), (X, Y * 10 - 5), ["-5", "5"]),
            (quick(), (X, Y * 2.0), ["0.0", "2.0"]),
            (quick(), (X, np.where(Y, "", "none")), ["0", "1"]),
            (matnet.GraphClassifier(epochs=1), (X[:, 0], names, [[0, 1]]), ["no", "yes"]),
            (matnet.GraphClassifier(epochs=1), (X[:, 0], np.where(Y, "s10", "s9"), [[0, 1]]), ["s10", "s9"]),
        ]
    ):
        net.fit(*given).save(tmp_path / str(at))
        assert matnet.load_run(tmp_path / str(at)).classes == wanted
        again, others = matnet.load(tmp_path / str(at)), given[:1] + given[2:]
        assert np.array_equal(again.classes_, net.classes_)
        assert np.array_equal(again.predict(*others), net.predict(*others))
