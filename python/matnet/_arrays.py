"""Whatever users have, as NumPy arrays that the extension takes.

The extension takes contiguous arrays in the machine's byte order, of float32, float64, int64, uint8, bool, or strings. Everything
else becomes one of these here, or a `ValueError` that names the argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]


def as_array(value: Any, name: str) -> Array:
    """Turn anything that holds an array into one, without a copy where it can be.

    Parameters
    ----------
    value : array-like
        A NumPy array, nested lists, an MNE ``Epochs``, an xarray ``DataArray``, a pandas or polars frame or series, a PyTorch
        tensor or anything else with ``__dlpack__``.
    name : str
        The argument, for errors.

    Returns
    -------
    numpy.ndarray
        The array, of whatever type.
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(
            f"{name}: a masked array, whose mask would be lost; fill it before, as with .filled(numpy.nan)"
        )
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if is_sparse(value):
        raise TypeError(
            f"{name}: a sparse matrix or array was passed, but dense data is required; use .toarray() to convert it"
        )
    if isinstance(value, (str, bytes)) or value is None:
        raise ValueError(f"{name}: {value!r}; an array expected")
    try:
        if is_epochs(value):
            return epochs_data(value)
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return np.from_dlpack(value)
        if hasattr(value, "detach") and hasattr(value, "requires_grad"):
            return np.asarray(value.detach().cpu())
        if callable(getattr(value, "to_numpy", None)):
            return np.asarray(value.to_numpy())
        return np.asarray(value)
    except Exception as error:
        raise ValueError(f"{name}: cannot be read as an array: {error}") from error


def dense(value: Any, name: str) -> Any:
    """Turn a tensor, or anything else that speaks DLPack, into an array; return whatever scikit-learn reads itself as it is."""
    speaks = hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray)
    return as_array(value, name) if speaks else value


def is_epochs(value: Any) -> bool:
    """Tell whether this is MNE's ``Epochs``, or a list of them, which is what scikit-learn makes of them when it splits them."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(is_epochs(item) for item in value)
    return callable(getattr(value, "get_data", None)) and hasattr(value, "info")


def epochs_data(value: Any) -> Array:
    """Return the numbers of MNE's ``Epochs``: ``[n, channels, times]``."""
    if isinstance(value, (list, tuple)):
        return np.concatenate([epochs_data(item) for item in value])
    # Newer versions want to know whether they may share memory.
    return np.asarray(value.get_data(copy=False))


def is_sparse(value: Any) -> bool:
    """Tell whether this is a sparse matrix or array of SciPy."""
    module = type(value).__module__ or ""
    return module.startswith("scipy.sparse") or hasattr(value, "todense")


def native(value: Any, name: str) -> Array:
    """Turn an array into one of the few types that the extension takes."""
    array = as_array(value, name)
    kind = array.dtype.kind
    if kind == "O":
        array = _from_objects(array, name)
        kind = array.dtype.kind
    if kind == "b":
        wanted: Any = np.bool_
    elif kind == "u" and array.dtype.itemsize == 1:
        wanted = np.uint8
    elif kind in "iu":
        if kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
            raise ValueError(f"{name}: {array.max()} is too large; integers below 2**63 expected")
        wanted = np.int64
    elif kind == "f":
        wanted = np.float32 if array.dtype.itemsize <= 4 else np.float64
    elif kind == "U":
        wanted = np.dtype(f"=U{max(1, array.dtype.itemsize // 4)}")
    elif kind == "S":
        wanted = np.dtype(f"=U{max(1, array.dtype.itemsize)}")
    elif kind == "T":
        wanted = np.dtype(str)
    elif kind == "c":
        raise ValueError(f"{name}: Complex data not supported; real numbers expected")
    else:
        raise ValueError(f"{name}: arrays of type {array.dtype} are not taken; numbers expected")
    try:
        with np.errstate(over="ignore"):
            return np.require(array, dtype=wanted, requirements=["C", "A"])
    except (TypeError, ValueError, UnicodeError) as error:
        raise ValueError(f"{name}: {error}") from error


def _from_objects(array: Array, name: str) -> Array:
    """Objects that are all numbers, or all strings."""
    flat = array.ravel().tolist()
    if any(isinstance(item, (str, bytes)) for item in flat):
        if not all(isinstance(item, str) for item in flat):
            raise ValueError(f"{name}: strings and other objects are mixed")
        return array.astype(str)
    if all(isinstance(item, (bool, np.bool_)) for item in flat) and flat:
        return array.astype(bool)
    if all(isinstance(item, (int, np.integer)) for item in flat) and flat:
        try:
            return array.astype(np.int64)
        except OverflowError as error:
            raise ValueError(f"{name}: {error}") from error
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name}: argument must be numbers or strings: {error}") from error


def floats(value: Any, name: str) -> Floats:
    """Turn an array of numbers into contiguous float32, without a copy if it is that already."""
    array = native(value, name)
    if array.dtype.kind == "U":
        raise ValueError(f"{name}: strings, where numbers are expected")
    with np.errstate(over="ignore"):
        return np.require(array, dtype=np.float32, requirements=["C", "A"])


@contextmanager
def naming(argument: str) -> Iterator[None]:
    """Let every `ValueError`, also those of scikit-learn, begin with the argument that it is about."""
    try:
        yield
    except ValueError as error:
        if str(error).startswith(argument):
            raise
        raise ValueError(f"{argument}: {error}") from error


def require_finite(array: Array, name: str) -> None:
    """Fail at the first number that is not finite."""
    if array.dtype.kind != "f" or array.size == 0:
        return
    # A sum is finite only if all numbers are, and takes no memory; it may overflow, so the numbers decide.
    with np.errstate(all="ignore"):
        if np.isfinite(array.sum(dtype=np.float64)):
            return
    bad = ~np.isfinite(array)
    if bad.any():
        place = tuple(int(at) for at in np.argwhere(bad)[0])
        what = "NaN" if np.isnan(array[place]) else "infinity"
        hint = "missing='mean' fills it" if what == "NaN" else "or a value too large for float32"
        raise ValueError(f"{name}: {what} at index {place}; finite numbers expected (Input contains {what}; {hint})")


def is_ragged(value: Any) -> bool:
    """Tell whether this is a list of arrays, one for each sample, whose lengths may differ."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "O" and value.ndim == 1 and value.size > 0 and np.ndim(value[0]) > 0
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(hasattr(item, "shape") and hasattr(item, "__len__") for item in value)


def padded(value: Sequence[Any], name: str, *, holes: bool = False) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Sequences ``[time, rows, cols]``, ``[time, channels]`` or ``[time]`` as one padded array, and their lengths.

    With `holes` numbers need not be finite.
    """
    samples = [floats(item, f"{name}[{at}]") for at, item in enumerate(value)]
    samples = [sample[:, None] if sample.ndim == 1 else sample for sample in samples]
    sides = samples[0].shape[1:]
    for at, sample in enumerate(samples):
        if sample.ndim not in (2, 3):
            raise ValueError(f"{name}[{at}]: shape {sample.shape}; [time, rows, cols] or [time, channels] expected")
        if sample.shape[1:] != sides:
            raise ValueError(f"{name}[{at}]: shape {sample.shape}; [time, {_comma(sides)}] expected, as in {name}[0]")
        if sample.size == 0:
            raise ValueError(f"{name}[{at}]: shape {sample.shape} holds nothing")
        if not holes:
            require_finite(sample, f"{name}[{at}]")
    lengths = np.array([len(sample) for sample in samples], dtype=np.int64)
    full = np.zeros((len(samples), int(lengths.max()), *sides), dtype=np.float32)
    for row, sample in zip(full, samples, strict=True):
        row[: len(sample)] = sample
    return full, lengths


def _comma(sides: tuple[int, ...]) -> str:
    return ", ".join(str(side) for side in sides)


def arrays_of(data: Any, name: str = "data") -> dict[str, Array]:
    """Turn a mapping of arrays into those that the extension takes; a bare array is ``x``."""
    if hasattr(data, "files") and hasattr(data, "__getitem__") and not hasattr(data, "keys"):
        data = {key: data[key] for key in data.files}
    if not hasattr(data, "keys"):
        data = {"x": data}
    arrays: dict[str, Array] = {}
    for key in data.keys():
        if not isinstance(key, str):
            raise ValueError(f"{name}: the key {key!r}; names of arrays expected, like 'x' and 'y'")
        value = data[key]
        if value is None:
            continue
        if key == "x" and is_ragged(value):
            arrays["x"], lengths = padded(list(value), f"{name}['x']", holes=True)
            if arrays["x"].ndim == 3:
                arrays["x"] = arrays["x"][..., None]
            arrays["length"] = lengths
        else:
            arrays[key] = native(value, f"{name}[{key!r}]")
    return arrays


def counted(count: int, noun: str) -> str:
    """A count with its noun, for messages: 1 row, 2 rows."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
