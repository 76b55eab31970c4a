"""The checks that scikit-learn has for estimators."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import matnet

#: Checks that cannot hold for a net trained by stochastic gradient descent, and why.
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "a sample of weight 2 is in one batch of an epoch, two equal samples "
    "may be in two: the steps differ",
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
