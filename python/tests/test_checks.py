"""The checks that scikit-learn has for estimators."""

import functools

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import matnet

#: Checks that cannot hold for a net trained in float32, and why.
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "the check wants seven digits, and rounding grows from step to step",
}

ESTIMATORS = [
    matnet.MatrixClassifier(learning_rate=0.01),
    matnet.MatrixRegressor(learning_rate=0.01),
    matnet.MatrixAutoEncoder(learning_rate=0.01, epochs=5),
    matnet.SequenceClassifier(hidden=(6, 1), learning_rate=0.02, epochs=25),
    matnet.SequenceRegressor(hidden=(8, 1), learning_rate=0.02, epochs=80),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda net: EXPECTED)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("net", [*ESTIMATORS[:2], matnet.MatrixAutoEncoder(noise_ratio=0.0), *ESTIMATORS[3:]])
def test_weights_are_copies_up_to_rounding(net, monkeypatch):
    """Scikit-learn's check with the digits that float32 has after some steps; all its samples fit into one batch."""
    close = functools.partial(estimator_checks.assert_allclose_dense_sparse, rtol=1e-3, atol=1e-5)
    monkeypatch.setattr(estimator_checks, "assert_allclose_dense_sparse", close)
    estimator_checks.check_sample_weight_equivalence_on_dense_data(type(net).__name__, clone(net).set_params(epochs=10))
