"""Estimators with the interface of scikit-learn.

Every option of a net's config is a keyword of the same name; `None` stands for the default of the config. A fitted estimator is
saved as a run folder, which the command takes, and `load` makes an estimator of any run folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import (
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from matnet import _inputs, _parameters
from matnet._arrays import Array, as_array, dense, floats, naming
from matnet._base import Net, class_names, unique_classes
from matnet._graph import GraphClassifier
from matnet._series import Forecaster

__all__ = [
    "Forecaster",
    "GraphClassifier",
    "MatrixAutoEncoder",
    "MatrixClassifier",
    "MatrixRegressor",
    "SequenceClassifier",
    "SequenceRegressor",
    "load",
]

Self = TypeVar("Self", bound="_Samples")
EvalSet = tuple[Any, Any] | list[tuple[Any, Any]] | None


class _Samples(Net):
    """An estimator of samples: matrices or sequences with a target each."""

    #: The kinds of nets for a target per sample, and for a target per step.
    _kinds: tuple[str, ...] = ()
    _sequences = False

    def _x(self, X: Any, *, reset: bool) -> dict[str, Array]:
        if not self._sequences:
            return {"x": _inputs.matrices(self, X, reset=reset)}
        x, lengths = _inputs.sequences(self, X, reset=reset)
        return {"x": x} if lengths is None else {"x": x, "length": lengths}

    def _y(self, y: Any, arrays: dict[str, Array], *, reset: bool) -> tuple[dict[str, Array], str]:
        """The arrays of the targets of these inputs, and the kind of net."""
        raise NotImplementedError

    def _learn(
        self: Self,
        X: Any,
        y: Any,
        sample_weight: Any,
        eval_set: EvalSet,
        *,
        reset: bool = True,
        data: dict[str, Any] | None = None,
        partial: bool = False,
    ) -> Self:
        arrays = self._x(X, reset=reset)
        if y is None:
            raise ValueError(
                f"y: requires y to be passed, but the target y is None ({type(self).__name__} learns from targets)"
            )
        targets, kind = self._y(_inputs.steps(y, arrays), arrays, reset=reset)
        with naming("y"):
            check_consistent_length(arrays["x"], targets["y"])
        weight = _inputs.weights(sample_weight, len(arrays["x"]))
        if weight is not None:
            arrays["weight"] = weight
        others = None
        if eval_set is not None:
            others = self._held_out(eval_set)
        about = {"target": self._target, **(data or {})}
        self._train(kind, {**arrays, **targets}, others, data=about, partial=partial)
        return self

    def _held_out(self, eval_set: Any) -> dict[str, Array]:
        """The arrays of `eval_set`: a pair, or a list with one, as some other packages have it."""
        if isinstance(eval_set, list) and len(eval_set) == 1:
            eval_set = eval_set[0]
        if not isinstance(eval_set, (tuple, list)) or len(eval_set) != 2:
            raise ValueError("eval_set: a pair (X, y) expected")
        X, y = eval_set
        with naming("eval_set"):
            arrays = self._x(X, reset=False)
            targets, _ = self._y(_inputs.steps(y, arrays), arrays, reset=False)
            check_consistent_length(arrays["x"], targets["y"])
        return arrays | targets

    def _predicted(self, X: Any, wanted: str = "predictions") -> npt.NDArray[Any]:
        check_is_fitted(self)
        arrays = self._x(X, reset=False)
        lengths = arrays["length"].tolist() if "length" in arrays else []
        values = self._predict_arrays(arrays["x"], lengths, wanted)
        return _inputs.cut(values, arrays) if self._per_step else values

    @property
    def _per_step(self) -> bool:
        """Whether every step of a sequence has a prediction."""
        return self._trained_kind == "sequence-labeller"


class _Classifier(ClassifierMixin, _Samples):  # type: ignore[misc]
    """Classes, or several labels at once."""

    classes_: npt.NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.required = True
        tags.non_deterministic = False
        return tags

    def _y(self, y: Any, arrays: dict[str, Array], *, reset: bool) -> tuple[dict[str, Array], str]:
        target = as_array(y, "y")
        if target.ndim == 2 and target.shape[1] > 1:
            if self._sequences and target.shape[1] == arrays["x"].shape[1]:
                return self._classes(target, reset=reset), self._kinds[1]
            return self._labels(target, reset=reset), self._kinds[0]
        with naming("y"):
            target = column_or_1d(dense(y, "y"), warn=True)
            if target.dtype.kind == "O":
                # Scikit-learn's check fails with a TypeError where classes have no order.
                unique_classes(target)
            check_classification_targets(target)
        return self._classes(target, reset=reset), self._kinds[0]

    def _labels(self, target: Array, *, reset: bool) -> dict[str, Array]:
        if type_of_target(target, input_name="y") != "multilabel-indicator":
            raise ValueError(f"y: shape {target.shape}; classes [n], or 0 and 1 for each of several labels, expected")
        flags = np.ascontiguousarray(check_array(target, input_name="y"), dtype=np.bool_)
        if reset:
            self.classes_, self._target = np.arange(flags.shape[1]), "labels"
        elif flags.shape[1] != len(self.classes_):
            raise ValueError(f"y: {flags.shape[1]} labels; the net has {len(self.classes_)}")
        return {"y": flags}

    def _classes(self, target: Array, *, reset: bool) -> dict[str, Array]:
        if reset:
            self.classes_ = unique_classes(target)
            self._target = "class"
            if len(self.classes_) < 2:
                raise ValueError(
                    f"y: {len(self.classes_)} class {self.classes_.tolist()}; a classifier needs at least 2 classes"
                )
        try:
            found = np.searchsorted(self.classes_, target)
        except TypeError as error:
            raise ValueError(f"y: {error}; some of {self.classes_.tolist()} expected") from error
        found = np.clip(found, 0, len(self.classes_) - 1)
        unknown = self.classes_[found] != target
        if unknown.any():
            raise ValueError(f"y: class {target[unknown][0]} is not one of {self.classes_.tolist()}")
        return {
            "y": np.ascontiguousarray(found, dtype=np.int64),
            "classes": class_names(self.classes_),
        }

    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None, eval_set: EvalSet = None) -> Self:
        """Train the net.

        Parameters
        ----------
        X : array-like
            The samples.
        y : array-like
            A class for each sample; or 0 and 1 for each of several labels ``[n, labels]``.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample in the loss.
        eval_set : tuple (X, y), optional
            Samples that select the best epoch, and end the training early with `patience`.

        Returns
        -------
        self
            The estimator.
        """
        return self._learn(X, y, sample_weight, eval_set)

    def partial_fit(self: Self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train one more epoch, on these samples.

        Weights, moments of the optimizer, learning rate schedule and random numbers go on from call to call: on the same samples,
        `epochs` calls give what `fit` gives. `epochs` is the length of the schedule. Inputs are not scaled: `scale` would change
        from call to call.

        Parameters
        ----------
        X, y : array-like
            Samples and classes.
        classes : array-like, optional
            All classes that there will be; needed at the first call if these samples have not all of them.
        sample_weight : array-like, optional
            The weight of each sample.

        Returns
        -------
        self
            The estimator.
        """
        refuse_fitted_transforms(self)
        first = not hasattr(self, "_files")
        if classes is not None:
            with naming("classes"):
                whole = unique_classes(as_array(classes, "classes"))
            if first:
                self.classes_, self._target = whole, "class"
                self._x(X, reset=True)
                first = False
            elif not np.array_equal(whole, self.classes_):
                raise ValueError(
                    f"classes: {whole.tolist()}; {self.classes_.tolist()} expected, as in the first call, or none"
                )
        return self._learn(X, y, sample_weight, None, reset=first, partial=True)

    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """Predict the probability of every class.

        Parameters
        ----------
        X : array-like
            The samples.

        Returns
        -------
        numpy.ndarray of shape (n, classes)
            Probabilities; ``(n, time, classes)`` for classes per step, or an array of arrays ``(time, classes)`` if X is a list of
            sequences.
        """
        values = self._predicted(X)
        if values.dtype == object:
            return of_each(values, self._normalized)
        return self._normalized(values)

    def _normalized(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
        """Probabilities of float32 sum to 1 up to rounding; here they do so as float64."""
        exact = values.astype(np.float64)
        return exact if self._target == "labels" else exact / exact.sum(-1, keepdims=True)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most probable class of every sample.

        Parameters
        ----------
        X : array-like
            The samples.

        Returns
        -------
        numpy.ndarray of shape (n,)
            Classes; ``(n, time)`` for classes per step, or an array of arrays if X is a list of sequences; 0 and 1 for several
            labels.
        """
        values = self.predict_proba(X)
        if self._target == "labels":
            return (values > 0.5).astype(int)
        if values.dtype == object:
            return of_each(values, lambda steps: self.classes_[steps.argmax(-1)])
        predicted: npt.NDArray[Any] = self.classes_[values.argmax(-1)]
        return predicted

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of samples, or of steps, whose class is predicted.

        Parameters
        ----------
        X, y : array-like
            Samples and classes.
        sample_weight : array-like, optional
            The weight of each sample.

        Returns
        -------
        float
            The accuracy.
        """
        predicted = self.predict(X)
        if self._per_step:
            predicted, y, sample_weight = one_by_one(predicted, y, sample_weight)
        return float(accuracy_score(as_array(y, "y"), predicted, sample_weight=sample_weight))


def of_each(parts: Array, work: Callable[[Array], Array]) -> Array:
    """What some work makes of each array of an array of arrays."""
    made = np.empty(len(parts), dtype=object)
    for at, part in enumerate(parts):
        made[at] = work(part)
    return made


def one_by_one(predicted: Array, y: Any, sample_weight: Any) -> tuple[Array, Array, Any]:
    """Predictions and targets of all steps of all sequences, and the weight of each step."""
    check_consistent_length(predicted, y, sample_weight)
    parts = [as_array(part, f"y[{at}]") for at, part in enumerate(y)]
    for at, (part, steps) in enumerate(zip(parts, predicted, strict=True)):
        # Targets may be padded.
        parts[at] = part = part[: len(steps)] if part.ndim else part
        if part.shape != steps.shape:
            raise ValueError(f"y[{at}]: shape {part.shape}; {steps.shape} expected, a target for each step of X[{at}]")
    lengths = [len(steps) for steps in predicted]
    weight = None if sample_weight is None else np.repeat(as_array(sample_weight, "sample_weight"), lengths)
    return np.concatenate(list(predicted)), np.concatenate(parts), weight


class _Regressor(RegressorMixin, _Samples):  # type: ignore[misc]
    """Values or matrices."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.required = True
        return tags

    def _y(self, y: Any, arrays: dict[str, Array], *, reset: bool) -> tuple[dict[str, Array], str]:
        with naming("y"):
            target = check_array(dense(y, "y"), ensure_2d=False, allow_nd=True, dtype="numeric", input_name="y")
        target = floats(target, "y").astype(np.float64)
        kind = self._kinds[0]
        if target.ndim == 4 and self._sequences:
            kind = self._kinds[1] if target.shape[1] == arrays["x"].shape[1] else self._kinds[2]
        if not 1 <= target.ndim <= 4:
            raise ValueError(f"y: shape {target.shape}; [n], [n, k] or matrices [n, rows, cols] expected")
        if reset:
            self._target, self._single = "value" if target.ndim <= 2 else "matrix", target.ndim == 1
        return {"y": np.ascontiguousarray(target)}, kind

    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None, eval_set: EvalSet = None) -> Self:
        """Train the net.

        Parameters
        ----------
        X : array-like
            The samples.
        y : array-like
            Values ``[n]`` or ``[n, k]``, or a matrix ``[n, rows, cols]`` for each sample; for sequences also a matrix for each
            step ``[n, time, rows, cols]``, or the matrices that follow.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample in the loss.
        eval_set : tuple (X, y), optional
            Samples that select the best epoch, and end the training early with `patience`.

        Returns
        -------
        self
            The estimator.
        """
        return self._learn(X, y, sample_weight, eval_set)

    def partial_fit(self: Self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train one more epoch, on these samples.

        Weights, moments of the optimizer, learning rate schedule and random numbers go on from call to call: on the same samples,
        `epochs` calls give what `fit` gives with ``scale_target=False``. `epochs` is the length of the schedule. Inputs are not
        scaled, and targets only as `fit` has scaled them before.

        Parameters
        ----------
        X, y : array-like
            Samples and targets.
        sample_weight : array-like, optional
            The weight of each sample.

        Returns
        -------
        self
            The estimator.
        """
        refuse_fitted_transforms(self)
        return self._learn(
            X,
            y,
            sample_weight,
            None,
            reset=not hasattr(self, "_files"),
            data={"scale_target": False} if as_array(y, "y").ndim <= 2 else None,
            partial=True,
        )

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict values or matrices.

        Parameters
        ----------
        X : array-like
            The samples.

        Returns
        -------
        numpy.ndarray
            As `y` was; for matrices per step an array of arrays if X is a list of sequences.
        """
        values = self._predicted(X)
        if self._target == "value":
            # As scikit-learn's regressors have them.
            values = values.astype(np.float64)
        return values[:, 0] if self._single else values

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R²; where targets are matrices, the mean of that of their entries.

        Parameters
        ----------
        X, y : array-like
            Samples and targets.
        sample_weight : array-like, optional
            The weight of each sample.

        Returns
        -------
        float
            R².
        """
        predicted = self.predict(X)
        if self._per_step:
            predicted, y, sample_weight = one_by_one(predicted, y, sample_weight)
        target = as_array(y, "y")
        if predicted.ndim > 2:
            predicted, target = predicted.reshape(len(predicted), -1), target.reshape(len(target), -1)
        return float(r2_score(target, predicted, sample_weight=sample_weight))


def refuse_fitted_transforms(net: Any) -> None:
    """Fail if something would be fitted to every part of the data anew."""
    for name, harmless, instead in (
        ("scale", ("none",), "scale the data before, with StandardScaler"),
        ("missing", ("error", "zero"), "fill the data before, with SimpleImputer"),
        ("scale_target", (False,), "scale the targets before, or begin with fit"),
    ):
        value = getattr(net, name, None)
        scaled = name == "scale_target" and hasattr(net, "_files") and net.config_["data"].get(name)
        if value is not None and value not in harmless and not scaled:
            raise ValueError(f"{name}: partial_fit would fit it to every part anew; {instead}")


class MatrixClassifier(_parameters.MatrixClassifierParameters, _Classifier):
    """Classify matrices, or rows of a table, with a deep feed-forward net whose hidden states are matrices.

    ``form="vector"`` trains the twin whose states are vectors.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : numpy.ndarray
        The classes.
    n_features_in_ : int
        The numbers of a sample.
    history_ : dict of str to list of float
        The scores of every epoch.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from matnet import MatrixClassifier
    >>> digits = load_digits()
    >>> net = MatrixClassifier(hidden=(10, 10), epochs=20, learning_rate=0.005, random_state=0)
    >>> net.fit(digits.images / 16, digits.target).score(digits.images / 16, digits.target) > 0.95
    True
    """

    _spec, _kinds = "MatrixClassifier", ("feedforward",)


class MatrixRegressor(_parameters.MatrixRegressorParameters, _Regressor):
    """Predict values, or matrices, for matrices or rows of a table.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_features_in_ : int
        The numbers of a sample.
    history_ : dict of str to list of float
        The scores of every epoch.

    Examples
    --------
    >>> import numpy as np
    >>> from matnet import MatrixRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 4, 4))
    >>> net = MatrixRegressor(epochs=60, learning_rate=0.01, random_state=0).fit(X, X.sum(axis=(1, 2)))
    >>> net.predict(X).shape
    (200,)
    """

    _spec, _kinds = "MatrixRegressor", ("feedforward",)


class SequenceClassifier(_parameters.SequenceClassifierParameters, _Classifier):
    """Classify sequences of matrices with a recurrent net, as a whole or step by step.

    ``X`` is ``[n, time, rows, cols]``, ``[n, time, channels]``, a list of arrays of different lengths, or ``[n, features]``. A `y`
    of shape ``[n, time]`` gives every step a class.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : numpy.ndarray
        The classes.
    history_ : dict of str to list of float
        The scores of every epoch.

    Examples
    --------
    >>> import numpy as np
    >>> from matnet import SequenceClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal(size=(int(n), 3)) for n in rng.integers(4, 9, size=40)]
    >>> y = [int(x.mean() > 0) for x in X]
    >>> net = SequenceClassifier(hidden=(4, 2), epochs=3, random_state=0).fit(X, y)
    >>> net.predict_proba(X).shape
    (40, 2)
    """

    _spec, _kinds = "SequenceClassifier", ("sequence-classifier", "sequence-labeller")
    _sequences = True


class SequenceRegressor(_parameters.SequenceRegressorParameters, _Regressor):
    """Predict values or matrices for sequences of matrices: one, one per step, or those that follow.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    history_ : dict of str to list of float
        The scores of every epoch.

    Examples
    --------
    >>> import numpy as np
    >>> from matnet import SequenceRegressor
    >>> X = np.random.default_rng(0).normal(size=(40, 6, 3))
    >>> net = SequenceRegressor(hidden=(4, 2), epochs=3, random_state=0).fit(X, X.mean(axis=(1, 2)))
    >>> net.predict(X).shape
    (40,)
    """

    _spec, _kinds = "SequenceRegressor", ("sequence-regressor", "sequence-labeller", "seq2seq")
    _sequences = True


class MatrixAutoEncoder(
    _parameters.MatrixAutoEncoderParameters,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    _Samples,
):
    """Encode matrices with a tied denoising auto-encoder.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    history_ : dict of str to list of float
        The scores of every epoch.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from matnet import MatrixAutoEncoder
    >>> X = load_digits().images[:200] / 16
    >>> coder = MatrixAutoEncoder(hidden=(4, 4), epochs=5, random_state=0).fit(X)
    >>> codes = coder.transform(X)
    >>> codes.shape, coder.inverse_transform(codes).shape, coder.score_samples(X).shape
    ((200, 4, 4), (200, 8, 8), (200,))
    """

    _spec, _kinds = "MatrixAutoEncoder", ("autoencoder",)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, eval_set: Any = None) -> MatrixAutoEncoder:
        """Train the auto-encoder.

        Parameters
        ----------
        X : array-like
            The matrices.
        y : None
            Not used.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample in the loss.
        eval_set : array-like, optional
            Matrices that select the best epoch.

        Returns
        -------
        self
            The estimator.
        """
        arrays = self._x(X, reset=True)
        return self._encode(arrays, sample_weight, None if eval_set is None else self._x(eval_set, reset=False))

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MatrixAutoEncoder:
        """Train one more epoch, on these matrices.

        Weights, moments of the optimizer, learning rate schedule and random numbers go on from call to call. Inputs are not
        scaled.

        Parameters
        ----------
        X : array-like
            The matrices.
        y : None
            Not used.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample in the loss.

        Returns
        -------
        self
            The estimator.
        """
        refuse_fitted_transforms(self)
        arrays = self._x(X, reset=not hasattr(self, "_files"))
        return self._encode(arrays, sample_weight, None, partial=True)

    def _encode(
        self, arrays: dict[str, Array], sample_weight: Any, eval_arrays: Any, *, partial: bool = False
    ) -> MatrixAutoEncoder:
        weight = _inputs.weights(sample_weight, len(arrays["x"]))
        if weight is not None:
            arrays["weight"] = weight
        self._train("autoencoder", arrays, eval_arrays, partial=partial)
        code = self._predict_arrays(arrays["x"][:1], [], "code")
        self._code_shape = code.shape[1:]
        return self

    @property
    def _n_features_out(self) -> int:
        return int(np.prod(self._code_shape))

    def _as_given(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return values.reshape(len(values), -1) if self._flat else values

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """Encode.

        Parameters
        ----------
        X : array-like
            The matrices.

        Returns
        -------
        numpy.ndarray of shape (n, rows, cols)
            The codes; ``(n, features)`` if X is a table.
        """
        return self._as_given(self._predicted(X, "code"))

    def inverse_transform(self, X: Any) -> npt.NDArray[np.float32]:
        """Decode.

        Parameters
        ----------
        X : array-like
            Codes, as `transform` gives them.

        Returns
        -------
        numpy.ndarray
            The reconstructions, in the units of the scaled inputs if `scale` is set.
        """
        check_is_fitted(self)
        codes = floats(X, "X")
        if codes.ndim < 2 or codes.size != len(codes) * self._n_features_out:
            raise ValueError(f"X: shape {codes.shape}; codes [n, {', '.join(map(str, self._code_shape))}] expected")
        return self._as_given(self._net.decode(codes.reshape(len(codes), *self._code_shape)))

    def predict(self, X: Any) -> npt.NDArray[np.float32]:
        """Reconstruct.

        Parameters
        ----------
        X : array-like
            The matrices.

        Returns
        -------
        numpy.ndarray
            What the decoder makes of their codes.
        """
        return self._as_given(self._predicted(X))

    def score_samples(self, X: Any) -> npt.NDArray[np.float32]:
        """Score every sample: the negative mean loss of its reconstruction, so that outliers have low scores.

        Parameters
        ----------
        X : array-like
            The matrices.

        Returns
        -------
        numpy.ndarray of shape (n,)
            The scores.
        """
        return -self._predicted(X, "score")[:, 0]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of `score_samples`.

        Parameters
        ----------
        X : array-like
            The matrices.
        y : None
            Not used.

        Returns
        -------
        float
            The mean score; higher is better.
        """
        return float(self.score_samples(X).mean())

    def _fitted(self) -> dict[str, Any]:
        return {**super()._fitted(), "_code_shape": self._code_shape}


ESTIMATORS: dict[str, Any] = {
    "MatrixClassifier": MatrixClassifier,
    "MatrixRegressor": MatrixRegressor,
    "SequenceClassifier": SequenceClassifier,
    "SequenceRegressor": SequenceRegressor,
    "MatrixAutoEncoder": MatrixAutoEncoder,
    "GraphClassifier": GraphClassifier,
    "Forecaster": Forecaster,
}


def load(folder: str | os.PathLike[str]) -> Any:
    """Make an estimator of a run folder, whether an estimator or the command has written it.

    Parameters
    ----------
    folder : path
        The folder.

    Returns
    -------
    estimator
        A fitted estimator of the kind that the net is for.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import matnet
    >>> X = np.random.default_rng(0).normal(size=(40, 3, 3))
    >>> net = matnet.MatrixClassifier(epochs=2, random_state=0).fit(X, X[:, 0, 0] > 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     net.save(f"{folder}/run")
    ...     again = matnet.load(f"{folder}/run")
    >>> bool((again.predict(X) == net.predict(X)).all())
    True
    """
    from matnet._loading import estimator_of

    return estimator_of(os.fspath(folder), ESTIMATORS)
