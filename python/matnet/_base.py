"""What all estimators share: from keywords to a config, training, and the run that an estimator keeps."""

from __future__ import annotations

import json
import os
import re
import tempfile
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from matnet import _native, _parameters
from matnet._arrays import Array, naming, native
from matnet._run import n_threads, plain, read_history, to_json, weights_file
from matnet.callbacks import Events

#: The names that arrays have in errors and in the config of the run.
SOURCE, EVAL_SOURCE = "X", "eval_set"

#: What goes into a run folder beside the files of the run: how to make the estimator again.
ESTIMATOR_FILE = "estimator.json"

#: Keywords in the place of the keys and arrays that errors name.
ARGUMENTS = {
    "seed": "random_state",
    "from": "from_run",
    "split": "validation_fraction",
    "split.valid": "validation_fraction",
    "source": "X",
    "valid": "eval_set",
}
ARRAYS = {
    "x": "X",
    "y": "y",
    "length": "X",
    "weight": "sample_weight",
    "classes": "y",
    "labels": "y",
}
ARRAYS |= {
    "features": "X",
    "edges": "edges",
    "relations": "relations",
    "train": "eval_set",
    "valid": "eval_set",
}

#: What a kind of net needs to be told, unless the user does.
DEFAULT_HIDDEN: dict[str, Any] = {"column-net": 20, "gcn": [16], "chebyshev": [16]}
#: Kinds whose `hidden` is a list with the units of each layer, where one number means one layer.
LISTED = ("gcn", "chebyshev")
DEFAULT_DEPTH = {"autoencoder": 2, "column-net": 2}


class Net(BaseEstimator):  # type: ignore[misc]
    """An estimator that keeps a run.

    Attributes
    ----------
    history_ : dict of str to list of float
        The scores of every epoch, like ``train_loss`` and ``valid_error``.
    n_iter_ : int
        Epochs that were trained.
    best_epoch_ : int
        The epoch whose weights were kept, from 1.
    """

    _spec: ClassVar[str]
    #: Whether Ctrl-C ended the last training. The next one that it ends raises, so that a grid search can be ended, too.
    _interrupted: ClassVar[bool] = False
    random_state: Any
    n_jobs: int | None
    verbose: bool
    validation_fraction: float

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_files")

    def _kind(self) -> str:
        """The kind of net that was asked for."""
        kind, known = self.get_params(deep=False)["kind"], _parameters.SPECS[self._spec].kinds
        if kind not in known:
            raise ValueError(f"kind: {kind!r}; one of {', '.join(known)} expected")
        return str(kind)

    def _config(self, kind: str, data: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """The config for a kind of net."""
        own_data, own_model, own_train = _native.keys(kind)
        known = {"data": own_data, "model": own_model, "train": own_train}
        tables: dict[str, dict[str, Any]] = {
            "data": {"source": SOURCE, "seed": seed, **data},
            "model": {"kind": kind},
            "train": {"seed": seed},
        }
        for name, option in _parameters.options(self._spec).items():
            value = getattr(self, name)
            if value is None:
                continue
            if option.key not in known[option.section]:
                if value != option.default:
                    raise ValueError(f"{name}: {value!r}; a {kind} net has no such option, leave it out")
                continue
            tables[option.section][option.key] = value
        model = tables["model"]
        if "hidden" not in model:
            vector = model.get("form") == "vector"
            model["hidden"] = DEFAULT_HIDDEN.get(kind, [64] if vector else [16, 16])
        if (kind in LISTED or model.get("form") == "vector") and isinstance(model["hidden"], (int, np.integer)):
            model["hidden"] = [model["hidden"]]
        if kind in DEFAULT_DEPTH:
            model.setdefault("depth", DEFAULT_DEPTH[kind])
        return tables

    def _split(self, has_eval_set: bool) -> dict[str, Any]:
        """The table ``data.split``: all for training, but for the validation split."""
        fraction = self.validation_fraction
        if isinstance(fraction, bool) or not isinstance(fraction, (int, float, np.number)):
            raise ValueError(f"validation_fraction: {fraction!r}; a number from 0 to below 1 expected")
        if not 0 <= fraction < 1:
            raise ValueError(f"validation_fraction: {fraction!r}; a number from 0 to below 1 expected")
        split: dict[str, Any] = {"test": 0}
        if not has_eval_set:
            split["valid"] = float(fraction) if fraction else 0
        return split

    def _seed(self) -> int:
        state = self.random_state
        if isinstance(state, (int, np.integer)) and not isinstance(state, bool):
            if not 0 <= state < 2**63:
                raise ValueError(f"random_state: {state}; an integer from 0 expected")
            return int(state)
        with naming("random_state"):
            return int(check_random_state(state).randint(2**31 - 1))

    def _train(
        self,
        kind: str,
        arrays: Mapping[str, Array],
        eval_arrays: Mapping[str, Array] | None = None,
        *,
        data: Mapping[str, Any] | None = None,
        partial: bool = False,
    ) -> None:
        """Train a net, and keep its run; with `partial` for one epoch, on from the run there is."""
        about = dict(data or {})
        sources = {SOURCE: dict(arrays)}
        if eval_arrays is not None:
            sources[EVAL_SOURCE] = dict(eval_arrays)
            about["valid"] = EVAL_SOURCE
        about["split"] = {**self._split(eval_arrays is not None), **about.get("split", {})}
        config = self._config(kind, about, self._seed())
        callbacks = getattr(self, "callbacks", None)
        events, interrupted = Events([] if callbacks is None else callbacks, self.verbose), False
        with tempfile.TemporaryDirectory(prefix="matnet-") as home:
            before = None
            if partial and hasattr(self, "_files"):
                before = os.path.join(home, "before")
                write_files(before, self._files)
            folder = os.path.join(home, "run")
            try:
                _native.train(
                    to_json(config),
                    sources,
                    folder,
                    observer=events if events else None,
                    report=False,
                    # Nothing resumes from the checkpoints of a folder that is about to go.
                    save_every=10**6,
                    threads=n_threads(self.n_jobs),
                    partial=partial,
                    before=before,
                    scratch=True,
                )
            except ValueError as error:
                raise ValueError(said_of_arguments(str(error))) from error
            except KeyboardInterrupt:
                if not os.path.exists(os.path.join(folder, "last.safetensors")):
                    raise
                interrupted = True
            finally:
                events.end()
            self._keep(folder)
        again, Net._interrupted = Net._interrupted and interrupted, interrupted
        if again:
            raise KeyboardInterrupt
        if interrupted:
            what = "training was interrupted; the net keeps what it has learnt so far"
            warnings.warn(what, ConvergenceWarning, stacklevel=4)

    def _keep(self, folder: str) -> None:
        """Keep the files of a run."""
        self._files = read_files(folder)
        self._trained_kind = str(self.config_["model"]["kind"])
        self._net_: _native.Predictor | None = load_net(folder)
        rows = read_history(self._files["metrics.csv"].decode())
        self.history_: dict[str, list[float]] = {}
        for row in rows:
            for name, value in row.items():
                if name not in ("epoch", "split", "learning_rate"):
                    self.history_.setdefault(f"{row['split']}_{name}", []).append(value)
        self.n_iter_ = max((row["epoch"] for row in rows), default=0)
        self.best_epoch_ = self._net_.epoch if self._net_ else 0

    @property
    def _net(self) -> _native.Predictor:
        """The trained net."""
        check_is_fitted(self)
        if getattr(self, "_net_", None) is None:
            with tempfile.TemporaryDirectory(prefix="matnet-") as folder:
                write_files(folder, self._files)
                self._net_ = load_net(folder)
        net = self._net_
        assert net is not None
        return net

    def _predict_arrays(self, x: Array, lengths: list[int], wanted: str = "predictions") -> npt.NDArray[np.float32]:
        try:
            return self._net.predict(x, lengths, wanted, None, n_threads(self.n_jobs))[0]
        except ValueError as error:
            raise ValueError(said_of_arguments(str(error))) from error

    @property
    def weights_(self) -> dict[str, npt.NDArray[np.float32]]:
        """The parameters of the net by name."""
        return self._net.weights()

    @property
    def config_(self) -> dict[str, Any]:
        """The config of the run, defaults written out."""
        import tomllib

        check_is_fitted(self)
        return tomllib.loads(self._files["config.toml"].decode())

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__().copy()
        # It is made again from the files when it is needed.
        state.pop("_net_", None)
        return state

    def export_onnx(self, path: str | os.PathLike[str], *, lengths: bool | None = None) -> None:
        """Write the net as an ONNX file, which takes raw inputs and gives probabilities, values or matrices.

        Parameters
        ----------
        path : path
            The file. One that is there is replaced.
        lengths : bool, optional
            Whether the file has an input ``lengths``. By default nets have one that were trained on sequences of different
            lengths.
        """
        check_is_fitted(self)
        with tempfile.TemporaryDirectory(prefix="matnet-") as folder:
            write_files(folder, self._files)
            _native.export_onnx(folder, weights_file(folder), os.fspath(path), lengths)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Save the estimator as a run folder, which the command ``matnet`` takes as any other.

        Parameters
        ----------
        folder : path
            The folder; it is made, and must be empty if it is there.
        """
        check_is_fitted(self)
        if os.path.exists(folder) and os.listdir(folder):
            raise FileExistsError(f"folder: {os.fspath(folder)} is not empty; a new folder expected")
        about = {
            "estimator": type(self).__name__,
            "parameters": {
                name: plain(value) for name, value in self.get_params(deep=False).items() if is_plain(value)
            },
            "fitted": {name: plain_fitted(value) for name, value in self._fitted().items()},
        }
        files = {**self._files, ESTIMATOR_FILE: (json.dumps(about, indent=1) + "\n").encode()}
        write_files(os.fspath(folder), files)

    def _fitted(self) -> dict[str, Any]:
        """What `fit` found out about the data."""
        names = (
            "classes_",
            "n_features_in_",
            "feature_names_in_",
            "_input_shape",
            "_flat",
            "_target",
            "_single",
        )
        return {name: getattr(self, name) for name in names if hasattr(self, name)}


def unique_classes(target: Array) -> Array:
    """The classes that occur, sorted."""
    try:
        return np.unique(target)
    except TypeError as error:
        raise ValueError(f"y: classes of different types, which have no order ({error}); one type expected") from error


def class_names(classes: Array) -> Array:
    """The names of classes in a run; their numbers where two would have the same name, or one none."""
    names = [str(value) for value in classes.tolist()]
    if len(set(names)) < len(names) or not all(name.strip("\0 ") for name in names):
        names = [str(index) for index in range(len(names))]
    return native(np.array(names), "classes")


def said_of_arguments(text: str) -> str:
    """An error about keys of a config, said of keywords."""

    def key(found: re.Match[str]) -> str:
        return ARGUMENTS.get(found[2]) or ARGUMENTS.get(found[2].split(".")[0]) or found[2]

    text = re.sub(r"^(model|train|data)\.([\w.]+)", key, text)
    text = text.replace("data.split.valid is 0", "pass eval_set to fit, or set validation_fraction")

    def array(found: re.Match[str]) -> str:
        name = ARRAYS.get(found[2], found[2])
        return f"{name} of eval_set" if found[1] == EVAL_SOURCE and name != "eval_set" else name

    return re.sub(rf"^(?:\w+: )?({SOURCE}|{EVAL_SOURCE})/(\w+)\b", array, text)


def read_files(folder: str) -> dict[str, bytes]:
    """The files of a run folder."""
    files = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and name not in (".lock", ESTIMATOR_FILE, "report.html"):
            with open(path, "rb") as file:
                files[name] = file.read()
    return files


def write_files(folder: str, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, which is made."""
    os.makedirs(folder, exist_ok=True)
    for name, contents in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(contents)


def load_net(folder: str) -> _native.Predictor:
    """The net of a run."""
    return _native.Predictor.load(folder, weights_file(folder))


def is_plain(value: Any) -> bool:
    """Tell whether JSON holds a value. It holds no callbacks and no random generators."""
    try:
        json.dumps(plain(value))
    except (TypeError, ValueError):
        return False
    return True


def plain_fitted(value: Any) -> Any:
    """An attribute as JSON; arrays with their type."""
    if not isinstance(value, np.ndarray):
        return value
    # Dates are stored as text, which NumPy reads back.
    numbers = value.astype(str) if value.dtype.kind in "mM" else value
    if not is_plain(numbers):
        raise ValueError(f"y: {value.tolist()[0]!r} cannot be saved in a run folder; pickle takes it")
    return {"array": numbers.tolist(), "dtype": value.dtype.str if value.dtype.kind != "O" else "O"}


def from_plain(value: Any) -> Any:
    """The way back."""
    if isinstance(value, dict) and "array" in value:
        return np.array(value["array"], dtype=value["dtype"])
    return tuple(value) if isinstance(value, list) else value
