"""Inputs of the estimators: whatever users have, as ``[n, rows, cols]`` or ``[n, time, rows, cols]`` of float32."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array, validate_data

from matnet._arrays import Array, Floats, as_array, dense, floats, is_epochs, is_ragged, naming, padded, require_finite


def matrices(net: Any, X: Any, *, reset: bool) -> Floats:
    """Matrices ``[n, rows, cols]``; ``[n, features]`` is filled into them row by row."""
    if isinstance(X, (list, tuple)) and not is_epochs(X) and _differ(X):
        first = np.shape(X[0])
        at = next(at for at, item in enumerate(X) if np.shape(item) != first)
        raise ValueError(
            f"X[{at}]: shape {np.shape(X[at])}; {first} expected, as in X[0] (SequenceClassifier and SequenceRegressor take "
            "samples of different lengths)"
        )
    x, flat = _numbers(net, X, reset=reset)
    if flat:
        x = x.reshape(len(x), *_shape(net, x.shape[1], None))
    if x.ndim != 3:
        raise ValueError(f"X: shape {x.shape}; [n, rows, cols], or [n, features], expected")
    _remember(net, x.shape[1:], flat, reset=reset)
    return np.ascontiguousarray(x)


def sequences(net: Any, X: Any, *, reset: bool) -> tuple[Floats, npt.NDArray[np.int64] | None]:
    """Sequences ``[n, time, rows, cols]`` and their lengths, if they differ.

    ``[n, time, channels]`` has one column per step; ``[n, features]`` one number, or the matrix that ``shape`` says. Of MNE's
    epochs and xarray's arrays the axis of time comes first.
    """
    X = _time_first(X)
    if is_ragged(X) or (isinstance(X, (list, tuple)) and _differ(X)):
        x, lengths = padded(list(X), "X", holes=_holes(net))
        x = x[..., None] if x.ndim == 3 else x
        _remember(net, x.shape[2:], False, reset=reset)
        return x, lengths
    if not reset and not net._flat and net._input_shape == (1, 1) and not _deep(X):
        # Sequences of one number per step, of which these have the same length.
        X = floats(X, "X")
        X = X[..., None] if X.ndim == 2 else X
    x, flat = _numbers(net, X, reset=reset)
    if flat:
        shape = getattr(net, "shape", None)
        rows, cols = (1, 1) if shape is None else _shape(net, None, shape)
        if x.shape[1] % (rows * cols):
            raise ValueError(f"shape: {shape}; {x.shape[1]} columns of X are no whole number of such matrices")
        x = x.reshape(len(x), -1, rows, cols)
    elif x.ndim == 3:
        x = x[..., None]
    if x.ndim != 4:
        raise ValueError(f"X: shape {x.shape}; [n, time, rows, cols], [n, time, channels] or [n, features] expected")
    _remember(net, x.shape[2:], flat, reset=reset)
    return np.ascontiguousarray(x), None


def _differ(X: Any) -> bool:
    """Whether samples, arrays or lists, have different shapes."""
    try:
        shapes = {np.shape(item) for item in X}
    except (TypeError, ValueError):
        # A list inside is no array.
        return False
    return len(shapes) > 1 and () not in shapes


def steps(y: Any, arrays: Mapping[str, Array]) -> Any:
    """Targets of every step of sequences of different lengths, a list as X is, as one padded array; others as they are."""
    lengths = arrays.get("length")
    listed = isinstance(y, (list, tuple)) or (isinstance(y, np.ndarray) and y.dtype.kind == "O" and y.ndim == 1)
    if lengths is None or not listed:
        return y
    if len(y) != len(lengths):
        raise ValueError(f"y: {len(y)} targets; {len(lengths)} expected, one for each sequence of X")
    if any(isinstance(item, (str, bytes)) or not hasattr(item, "__len__") for item in y):
        # A target for each sequence.
        return y
    parts = [as_array(item, f"y[{at}]") for at, item in enumerate(y)]
    counts = [len(part) if part.ndim else 0 for part in parts]
    if counts != lengths.tolist() and len(set(counts)) == 1:
        return y
    for at, (part, count, length) in enumerate(zip(parts, counts, lengths, strict=True)):
        if count != length or part.shape[1:] != parts[0].shape[1:]:
            wanted = ", ".join(map(str, (length, *parts[0].shape[1:])))
            raise ValueError(f"y[{at}]: shape {part.shape}; ({wanted}) expected, a target for each step of X[{at}]")
    whole = np.concatenate(parts)
    full = np.empty((len(parts), int(lengths.max()), *whole.shape[1:]), dtype=whole.dtype)
    # Behind the end of a sequence stands some target that there is; it does not count.
    full[:] = whole[0]
    for row, part in zip(full, parts, strict=True):
        row[: len(part)] = part
    return full


def cut(values: Array, arrays: Mapping[str, Array]) -> Array:
    """Predictions for the steps of every sequence; an array of arrays where sequences have lengths of their own."""
    lengths = arrays.get("length")
    if lengths is None:
        return values
    parts = np.empty(len(values), dtype=object)
    for at, length in enumerate(lengths):
        parts[at] = values[at, :length]
    return parts


def _time_first(X: Any) -> Any:
    if is_epochs(X):
        return as_array(X, "X").swapaxes(1, 2)
    dims = getattr(X, "dims", None)
    if isinstance(dims, tuple) and "time" in dims and len(dims) in (3, 4):
        return np.moveaxis(as_array(X, "X"), dims.index("time"), 1)
    return X


def _numbers(net: Any, X: Any, *, reset: bool) -> tuple[Array, bool]:
    """Checked numbers as float32, and whether they were a table ``[n, features]``."""
    X = as_array(X, "X") if isinstance(X, np.ma.MaskedArray) else dense(X, "X")
    finite: Any = "allow-nan" if _holes(net) else True
    if np.ndim(X) <= 2 if isinstance(X, np.ndarray) else not _deep(X):
        # Scikit-learn's own checks: names of features, sparse input, one-dimensional input, …
        with naming("X"):
            x = validate_data(net, X, reset=reset, dtype="numeric", ensure_all_finite=finite)
        if not np.issubdtype(x.dtype, np.number) and x.dtype != bool:
            raise ValueError(f"X: arrays of type {x.dtype} are not taken; numbers expected")
        x = floats(x, "X")
        _check_range(x, finite)
        return x, True
    x = floats(X, "X")
    if x.size == 0:
        raise ValueError(f"X: shape {x.shape} holds nothing; at least one sample expected")
    if finite is True:
        require_finite(x, "X")
    return x, False


def _holes(net: Any) -> bool:
    """Whether missing values are filled."""
    return getattr(net, "missing", None) not in (None, "error")


def _check_range(x: Floats, finite: Any) -> None:
    """Numbers that float32 cannot hold have become infinite."""
    if finite is True:
        require_finite(x, "X")


def _deep(X: Any) -> bool:
    if is_epochs(X):
        return True
    ndim = getattr(X, "ndim", None)
    if ndim is None:
        try:
            ndim = np.asarray(X).ndim
        except (TypeError, ValueError):
            # Scikit-learn's checks say what is wrong with it.
            return False
    return isinstance(ndim, int) and ndim > 2


def _shape(net: Any, features: int | None, shape: Any) -> tuple[int, int]:
    shape = getattr(net, "shape", None) if shape is None else shape
    if shape is None:
        assert features is not None
        return features, 1
    try:
        rows, cols = (int(side) for side in shape)
    except (TypeError, ValueError) as error:
        raise ValueError(f"shape: {shape!r}; (rows, cols) expected") from error
    if rows < 1 or cols < 1 or (features is not None and rows * cols != features):
        wanted = "" if features is None else f"; X has {features} columns, which rows times cols must be"
        raise ValueError(f"shape: {shape!r}{wanted}")
    return rows, cols


def _remember(net: Any, sides: tuple[int, ...], flat: bool, *, reset: bool) -> None:
    if reset:
        net._input_shape, net._flat = tuple(int(side) for side in sides), flat
        if not flat:
            net.n_features_in_ = int(np.prod(sides))
    elif tuple(sides) != tuple(net._input_shape):
        raise ValueError(f"X: matrices of shape {tuple(sides)}; the net was trained on {tuple(net._input_shape)}")


def names(net: Any, X: Any, table: Array, *, reset: bool, argument: str = "X") -> None:
    """Remember the names of the columns of a frame and their number, or compare them, as scikit-learn does."""
    with naming(argument):
        validate_data(net, X if hasattr(X, "columns") else table, reset=reset, skip_check_array=True)


def weights(sample_weight: Any, count: int) -> Array | None:
    """Weights of samples; `None` if all are the same."""
    if sample_weight is None:
        return None
    with naming("sample_weight"):
        weight = check_array(sample_weight, ensure_2d=False, dtype=[np.float64, np.float32], input_name="sample_weight")
    if weight.ndim == 0:
        return None
    if weight.shape != (count,):
        raise ValueError(f"sample_weight: shape {weight.shape}; one for each of {count} samples expected")
    if (weight < 0).any():
        raise ValueError("sample_weight: negative; numbers from 0 expected")
    if not (weight > 0).any():
        raise ValueError("sample_weight: every weight is zero; some above 0 expected")
    return np.ascontiguousarray(weight, dtype=np.float64)
