"""Epochs one by one: weights, optimizer, schedule and random numbers go on."""

import json
import pickle

import numpy as np
import pytest

import matnet

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4, 5)).astype("float32")
Y = (X[:, 0, 0] > 0).astype(int)

OPTIONS = {
    "adam": {},
    "dropout and batch norm": {"dropout": 0.3, "input_dropout": 0.1, "depth": 2, "batch_norm": True},
    "cosine schedule": {"schedule": "cosine", "warmup_epochs": 1.0, "learning_rate": 0.01},
    "momentum": {"optimizer": "sgd", "momentum": 0.9, "learning_rate": 0.05},
    "moving average": {"ema_decay": 0.9, "optimizer": "adamw", "weight_decay": 0.01},
    "vectors": {"form": "vector", "hidden": (8,)},
}


def same(a, b, files=("config.toml", "best.safetensors", "metrics.csv", "result.json", "last.ckpt")):
    for file in files:
        assert a._files[file] == b._files[file], file


@pytest.mark.parametrize("name", OPTIONS)
def test_as_many_calls_as_epochs_are_fit(name):
    options = {"hidden": (4, 4), "epochs": 4, "batch_size": 16, "random_state": 5, **OPTIONS[name]}
    whole = matnet.MatrixClassifier(**options).fit(X, Y)
    parts = matnet.MatrixClassifier(**options)
    for _ in range(4):
        # What was learnt survives a pickle, the optimizer included.
        parts = pickle.loads(pickle.dumps(parts.partial_fit(X, Y)))
    same(whole, parts, ("config.toml", "best.safetensors", "metrics.csv", "result.json"))
    assert parts.n_iter_ == 4 and parts.history_["train_loss"] == whole.history_["train_loss"]
    assert np.array_equal(whole.predict_proba(X), parts.predict_proba(X))


def test_every_estimator_goes_on(tmp_path):
    for estimator, y in [
        (matnet.MatrixRegressor(scale_target=False), X[:, 0, 0]),
        (matnet.SequenceClassifier(), Y),
        (matnet.SequenceRegressor(scale_target=False), X[:, 0, :2]),
        (matnet.MatrixAutoEncoder(), None),
    ]:
        estimator.set_params(hidden=(3, 2), epochs=3, random_state=1, batch_size=20)
        whole = pickle.loads(pickle.dumps(estimator)).fit(X, y)
        first = pickle.loads(pickle.dumps(estimator)).partial_fit(X, y).partial_fit(X, y)
        first.save(tmp_path / type(estimator).__name__)
        parts = matnet.load(tmp_path / type(estimator).__name__).partial_fit(X, y)
        assert whole._files["best.safetensors"] == parts._files["best.safetensors"]


def test_parts_of_different_sizes():
    net = matnet.MatrixClassifier(hidden=(4, 4), batch_size=8, dropout=0.2, random_state=0, epochs=50)
    for at in range(6):
        net.partial_fit(X[: 10 * at + 10], Y[: 10 * at + 10], classes=[0, 1])
    assert net.n_iter_ == 6 and len(net.history_["train_loss"]) == 6
    again = matnet.MatrixClassifier(hidden=(4, 4), batch_size=8, dropout=0.2, random_state=0, epochs=50)
    for at in range(6):
        again.partial_fit(X[: 10 * at + 10], Y[: 10 * at + 10], classes=[0, 1])
    same(net, again)


def test_it_goes_on_after_fit_and_after_the_schedule():
    net = matnet.MatrixClassifier(hidden=(4, 4), epochs=3, schedule="linear", random_state=0).fit(X, Y)
    net.partial_fit(X, Y).partial_fit(X, Y)
    assert net.n_iter_ == 5 and len(net.history_["train_loss"]) == 5
    # From the best weights, where fit has chosen them by a validation split.
    net = matnet.MatrixClassifier(hidden=(4, 4), epochs=30, learning_rate=0.1, random_state=0)
    net.fit(X[:20], Y[:20], eval_set=(X[20:], 1 - Y[20:]))
    assert net.best_epoch_ < 30
    best = net.weights_
    net.set_params(learning_rate=1e-30).partial_fit(X, Y)
    assert all(np.array_equal(best[name], values) for name, values in net.weights_.items())
    assert net.n_iter_ == 31 and net.best_epoch_ == 31


def test_targets_stay_scaled_as_fit_has_scaled_them():
    y = 1000 + 50 * X[:, 0, 0]
    net = matnet.MatrixRegressor(hidden=(4, 4), epochs=100, learning_rate=0.01, random_state=0).fit(X, y)
    good, scaler = net.score(X, y), net._net.metadata()
    assert good > 0.8
    for _ in range(3):
        # The part has another mean.
        net.partial_fit(X[:20], y[:20])
    assert net.score(X, y) > 0.8 and json.loads(net._net.metadata())["preprocess"] == json.loads(scaler)["preprocess"]
    assert net.config_["data"]["scale_target"] is True


def test_the_learning_rate_may_change_but_not_the_net():
    net = matnet.MatrixClassifier(hidden=(4, 4), random_state=0).partial_fit(X, Y)
    net.set_params(learning_rate=0.05).partial_fit(X, Y)
    for change, message in [
        ({"hidden": (3, 3)}, "^hidden: .* before; a net that is trained further keeps it"),
        ({"optimizer": "sgd"}, "^optimizer: .*adam.* before"),
        ({"ema_decay": 0.9}, "^ema_decay: "),
        ({"patience": 3, "validation_fraction": 0.2}, "^patience: "),
        ({"scale": "standardize"}, "^scale: "),
        ({"missing": "mean"}, "^missing: "),
    ]:
        other = pickle.loads(pickle.dumps(net)).set_params(**change)
        with pytest.raises(ValueError, match=message):
            other.partial_fit(X, Y)
    with pytest.raises(ValueError, match="^scale_target: "):
        matnet.MatrixRegressor(scale_target=True).partial_fit(X, X[:, 0, 0])
    with pytest.raises(ValueError, match="trained on"):
        net.partial_fit(X[:, :3], Y)


def test_an_interrupted_epoch_is_not_counted():
    def interrupt(epoch, logs):
        raise KeyboardInterrupt

    net = matnet.MatrixClassifier(hidden=(4, 4), random_state=0, batch_size=8)
    net.partial_fit(X, Y).partial_fit(X, Y)
    net.set_params(callbacks=[interrupt])
    with pytest.warns(UserWarning, match="interrupted"):
        net.partial_fit(X, Y)
    net.set_params(callbacks=None).partial_fit(X, Y)
    assert net.n_iter_ in (3, 4) and np.isfinite(net.predict_proba(X)).all()
