"""Runs: a config in, a run folder out, as the command has them."""

from __future__ import annotations

import csv
import html
import json
import math
import os
import re
import shutil
import sys
import tempfile
import tomllib
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from matnet import _native
from matnet._arrays import Array, arrays_of, as_array, floats, is_ragged, naming, padded
from matnet._stories import tasks_of
from matnet.callbacks import CallbackLike, Events

if TYPE_CHECKING:
    from matnet._native import PyTask

__all__ = ["Run", "kinds", "load_run", "new", "train"]

#: What arrays are called in a config that names no source.
SOURCE = "arrays"


def kinds() -> dict[str, str]:
    """Every kind of net, with a line of help.

    Returns
    -------
    dict of str to str
        The names for ``model.kind``, and what each net does.

    Examples
    --------
    >>> import matnet
    >>> matnet.kinds()["autoencoder"]
    'a matrix for itself, through a tied encoder and decoder'
    """
    return dict(_native.kinds())


def new(kind: str) -> str:
    """A commented config for a kind of net, as ``matnet new`` writes it.

    Parameters
    ----------
    kind : str
        One of `kinds`.

    Returns
    -------
    str
        TOML.

    Examples
    --------
    >>> import matnet
    >>> matnet.new("gcn").splitlines()[0]
    '# A class for every node of a graph: graph convolutional network.'
    """
    return _native.template(kind)


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook. Libraries may import ipykernel anywhere."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def train(
    config: Mapping[str, Any] | str | os.PathLike[str],
    data: Any = None,
    *,
    valid: Any = None,
    test: Any = None,
    out: str | os.PathLike[str] | None = None,
    callbacks: Iterable[CallbackLike] = (),
    progress: bool | None = None,
    report: bool = True,
    fresh: bool = False,
    n_jobs: int | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Run:
    """Train a net as ``matnet train`` does.

    Same config, data and seed give the same weights as the command, byte for byte. Ctrl-C saves a checkpoint; the same call with
    the same ``out`` resumes from it.

    Parameters
    ----------
    config : dict or path
        The tables ``data``, ``model`` and ``train``, or a TOML file with them.
    data : array, mapping of arrays, or stories, optional
        Arrays in the place of the file that ``data.source`` names: what an ``.npz`` would hold (``x``, ``y``, ``length``,
        ``weight``, ``group``, ``train``, ``valid``, ``test``; for graphs ``features``, ``edges``, ``labels``). ``x`` may be a
        list of sequences of different lengths. A bare array is ``x``. For memory nets a list of stories, each a `Story`, a dict
        of the same form, or ``(sentences, question, answer, facts)``; or a mapping with a list for each number of a task. A
        ``turing-machine`` generates its sequences, and takes none.
    valid, test : mapping of arrays, or stories, optional
        Validation and test samples of their own, as ``data.valid`` and ``data.test``. Stories have ``test`` only.
    out : path, optional
        The run folder. Without it the run is kept as long as the returned `Run`.
    callbacks : iterable of Callback or functions
        Called at every epoch; see `matnet.callbacks`.
    progress : bool, optional
        Whether to show a progress bar. By default in terminals and notebooks.
    report : bool, default=True
        Whether to leave a report in the folder.
    fresh : bool, default=False
        Whether to start again where a run stands already; else it is resumed.
    n_jobs : int, optional
        Threads; one per core by default.
    cache : path, optional
        The folder of downloaded data.

    Returns
    -------
    Run
        The run.

    Examples
    --------
    >>> import numpy as np
    >>> import matnet
    >>> x = np.random.default_rng(0).normal(size=(100, 4, 4)).astype("float32")
    >>> config = {
    ...     "model": {"kind": "feedforward", "hidden": [4, 4]},
    ...     "train": {"epochs": 2},
    ... }
    >>> run = matnet.train(config, data={"x": x, "y": x[:, 0, 0] > 0}, report=False)
    >>> run.result["epochs"]
    2
    >>> run.predict(x).shape
    (100, 2)
    """
    tables = _tables(config)
    tables["data"], arrays = _sources(tables, data, valid, test)
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty() or in_notebook()
    events = Events(callbacks, progress)
    home = None
    if out is None:
        home = Home()
        out = home.path / "run"
    try:
        _native.train(
            to_json(tables),
            arrays,
            os.fspath(out),
            observer=events if events else None,
            report=report,
            fresh=fresh,
            threads=n_threads(n_jobs),
            cache=None if cache is None else os.fspath(cache),
            scratch=home is not None,
        )
    except ValueError as error:
        if str(error).startswith(os.fspath(out)):
            raise ValueError(f"out: {error}") from error
        raise ValueError(_said_of_arguments(str(error), tables["data"], arrays)) from error
    finally:
        events.end()
    return Run(out, _home=home)


def _sources(
    tables: Mapping[str, Any], data: Any, valid: Any, test: Any
) -> tuple[dict[str, Any], dict[str, dict[str, Array] | list[PyTask]]]:
    """The table ``data``, and what stands for the files that it names."""
    table = tables.get("data") or {}
    if not isinstance(table, Mapping):
        raise ValueError(f"config: data is {type(table).__name__}; a table expected")
    named, given = dict(table), {"data": data, "valid": valid, "test": test}
    if all(value is None for value in given.values()):
        return named, {}
    kind = (tables.get("model") or {}).get("kind")
    keys = _native.keys(kind)[0] if isinstance(kind, str) and kind in kinds() else []
    if "sequences_per_epoch" in keys:
        name = next(name for name, value in given.items() if value is not None)
        raise ValueError(f"{name}: a {kind} generates its own data; leave it out")
    if "tasks" in keys:
        if data is None or valid is not None:
            wrong = "data: stories to train on expected" if data is None else "valid: drawn from data; leave it out"
            raise ValueError(
                f"{wrong} (a {kind} takes data and test; data.split.valid says how many are for validation)"
            )
        name = named.setdefault("source", SOURCE)
        return named, {name: tasks_of(data, test, str(name))}
    arrays: dict[str, dict[str, Array] | list[PyTask]] = {}
    for argument, value in given.items():
        if value is not None:
            key = "source" if argument == "data" else argument
            name = named.setdefault(key, SOURCE if key == "source" else f"{SOURCE}.{key}")
            arrays[name] = {**arrays_of(value, argument)}
    return named, arrays


def _said_of_arguments(text: str, data: Mapping[str, Any], arrays: Mapping[str, Any]) -> str:
    """An error about the arrays that stand for a file, said of the arguments that they came in."""
    for argument, key in (("data", "source"), ("valid", "valid"), ("test", "test")):
        name = data.get(key)
        if name in arrays:
            text = re.sub(rf"^(?:[\w.]+: )?{re.escape(str(name))}/(\w+): ", rf"{argument}['\1']: ", text)
            text = re.sub(rf"^(?:[\w.]+: )?{re.escape(str(name))}: ", f"{argument}: ", text)
    return text


def _tables(config: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    if isinstance(config, Mapping):
        return dict(config)
    if not isinstance(config, (str, os.PathLike)):
        raise ValueError(f"config: {type(config).__name__}; a dict or the path of a TOML file expected")
    with open(config, "rb") as file:
        try:
            tables = tomllib.load(file)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"config: {os.fspath(config)}: {error}") from error
    tables.pop("run", None)
    return tables


def to_json(config: Mapping[str, Any]) -> str:
    """A config as the extension takes it; keys whose value is `None` are left out."""
    try:
        return json.dumps(plain(config), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"config: {error}") from error


def plain(value: Any) -> Any:
    """What JSON holds, in the place of arrays, tuples and paths."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        raise ValueError(f"{value} is too large")
    return value


def n_threads(n_jobs: int | None) -> int | None:
    """Threads from scikit-learn's ``n_jobs``: -1 is all cores, -2 all but one.

    By default as many as ``OMP_NUM_THREADS`` says, which joblib, Dask and Ray set in their workers, so that several processes do
    not fight for the cores; else one per core.
    """
    if n_jobs is None:
        told = os.environ.get("OMP_NUM_THREADS", "")
        return (
            min(int(told), 1024) if told.isdecimal() and int(told) and "RAYON_NUM_THREADS" not in os.environ else None
        )
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0 or n_jobs > 1024:
        raise ValueError(f"n_jobs: {n_jobs!r}; 1 to 1024, or negative to count down from all cores, expected")
    if n_jobs > 0:
        return int(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + int(n_jobs))


def load_run(folder: str | os.PathLike[str]) -> Run:
    """Open a run folder, whether Python or the command has made it.

    Parameters
    ----------
    folder : path
        The folder.

    Returns
    -------
    Run
        The run.

    Examples
    --------
    >>> import matnet
    >>> matnet.load_run("runs/nothing")
    Traceback (most recent call last):
    FileNotFoundError: folder: runs/nothing: there is no run here (no config.toml)
    """
    if not os.path.exists(os.path.join(folder, "config.toml")):
        raise FileNotFoundError(f"folder: {os.fspath(folder)}: there is no run here (no config.toml)")
    return Run(folder)


class Home:
    """A folder that goes when nothing refers to it any more, without the warning of `tempfile.TemporaryDirectory`."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="matnet-"))
        weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(folder: Path, process: int) -> None:
    """Remove a folder, unless this is a fork of the process that made it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


class Run:
    """A run folder: a trained net, how it was trained, and how it did.

    `train` makes one, `load_run` opens one.

    Attributes
    ----------
    folder : pathlib.Path
        Where it is.

    Examples
    --------
    >>> import numpy as np
    >>> import matnet
    >>> x = np.random.default_rng(0).normal(size=(100, 4, 4)).astype("float32")
    >>> config = {"model": {"kind": "feedforward", "hidden": [4, 4]}, "train": {"epochs": 2}}
    >>> run = matnet.train(config, data={"x": x, "y": np.where(x[:, 0, 0] > 0, "up", "down")}, report=False)
    >>> run.classes, sorted(run.split), run.weights()["layer.0.row_map"].shape
    (['down', 'up'], ['test', 'train', 'valid'], (4, 4))
    """

    def __init__(self, folder: str | os.PathLike[str], *, _home: Home | None = None) -> None:
        self.folder = Path(folder)
        self._home = _home
        self._net: _native.Predictor | None = None

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    @property
    def config(self) -> dict[str, Any]:
        """Everything that decided the run, defaults written out."""
        return tomllib.loads((self.folder / "config.toml").read_text(encoding="utf-8"))

    @property
    def result(self) -> dict[str, Any] | None:
        """The scores of the best weights on every split; `None` while the run is not finished."""
        path = self.folder / "result.json"
        if not path.exists():
            return None
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        result.pop("sha256", None)
        result.pop("result_sha256", None)
        return result

    @property
    def history(self) -> list[dict[str, Any]]:
        """A dict for every epoch and split: ``epoch``, ``split``, ``loss``, ``error`` and more."""
        return read_history((self.folder / "metrics.csv").read_text(encoding="utf-8"))

    @property
    def metrics(self) -> Any:
        """The history as a pandas frame, or a polars frame, or a list of dicts: whichever is installed."""
        rows = self.history
        try:
            import pandas

            return pandas.DataFrame(rows)
        except ImportError:
            pass
        try:
            import polars

            return polars.DataFrame(rows)
        except ImportError:
            return rows

    @property
    def split(self) -> dict[str, list[int]]:
        """The indices of the examples of each split."""
        splits: dict[str, list[int]] = json.loads((self.folder / "split.json").read_text(encoding="utf-8"))
        return splits

    @property
    def predictor(self) -> _native.Predictor:
        """The net itself, with the weights of the best epoch."""
        if self._net is None:
            self._net = _native.Predictor.load(os.fspath(self.folder), weights_file(self.folder))
        return self._net

    @property
    def classes(self) -> list[str]:
        """The names of the classes, for memory nets all words; empty without classes."""
        names: list[str] = self.metadata.get("classes") or self.metadata.get("words", [])
        return names

    @property
    def metadata(self) -> dict[str, Any]:
        """What is stored beside the weights: classes, names of targets, transforms."""
        metadata: dict[str, Any] = json.loads(self.predictor.metadata())
        return metadata

    def weights(self) -> dict[str, npt.NDArray[np.float32]]:
        """The parameters by name.

        Returns
        -------
        dict of str to numpy.ndarray
            The same names and numbers as in ``best.safetensors``.
        """
        return self.predictor.weights()

    def predict(
        self,
        data: Any,
        lengths: Any = None,
        *,
        hidden: str | None = None,
        batch_size: int | None = None,
        n_jobs: int | None = None,
    ) -> npt.NDArray[np.float32]:
        """Predict, as ``matnet predict`` does.

        Parameters
        ----------
        data : array, list of arrays, mapping of arrays, stories, or path
            Matrices ``[n, rows, cols]``, sequences ``[n, time, rows, cols]``, a list of sequences of different lengths; a graph
            as a mapping with ``features`` and ``edges``; stories as in `train`, their questions with or without answers; or a
            file, a folder, or the name of a dataset.
        lengths : array of int, optional
            The steps of each sequence, where they are padded.
        hidden : str, optional
            The name of a hidden layer, whose states are given in place of predictions.
        batch_size : int, optional
            Samples per batch.
        n_jobs : int, optional
            Threads.

        Returns
        -------
        numpy.ndarray
            Probabilities ``[n, classes]``, values ``[n, k]``, or matrices. For stories the probabilities of all words, of which
            `classes` has the names, for each question.
        """
        threads = n_threads(n_jobs)
        if isinstance(data, (str, os.PathLike)):
            return self.predictor.predict_source(os.fspath(data), {}, None, threads)[0][0]
        if "words" in self.metadata:
            tasks = tasks_of(data, None, SOURCE)
            return self.predictor.predict_source(SOURCE, {SOURCE: tasks}, None, threads)[0][0]
        if isinstance(data, Mapping) and "x" not in data:
            arrays = arrays_of(data)
            return self.predictor.predict_source(SOURCE, {SOURCE: arrays}, None, threads)[0][0]
        if isinstance(data, Mapping):
            lengths = data.get("length", lengths)
            data = data["x"]
        if is_ragged(data):
            inputs, lengths = padded(list(data), "data", holes=True)
            inputs = inputs[..., None] if inputs.ndim == 3 else inputs
        else:
            inputs = floats(data, "data")
        steps = [] if lengths is None else length_list(lengths, "lengths")
        with naming("data"):
            return self.predictor.predict(inputs, steps, hidden or "predictions", batch_size, threads)[0]

    def export_onnx(self, path: str | os.PathLike[str], *, lengths: bool | None = None) -> None:
        """Write the net as an ONNX file, as ``matnet export`` does.

        The file takes raw inputs and gives what `predict` gives; all preprocessing is part of it.

        Parameters
        ----------
        path : path
            The file. One that is there is replaced.
        lengths : bool, optional
            Whether the file has an input ``lengths``. By default nets have one that were trained on sequences of different
            lengths.
        """
        _native.export_onnx(os.fspath(self.folder), weights_file(self.folder), os.fspath(path), lengths)

    def save(self, folder: str | os.PathLike[str]) -> Run:
        """Copy the run to another folder, which must not exist yet.

        Parameters
        ----------
        folder : path
            Where to.

        Returns
        -------
        Run
            The copy.
        """
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns(".lock"))
        return Run(folder)

    @property
    def report(self) -> str | None:
        """The report as one page of HTML, if there is one."""
        path = self.folder / "report.html"
        return path.read_text(encoding="utf-8") if path.exists() else None

    def _repr_html_(self) -> str:
        report = self.report
        if report is None:
            rows = "".join(
                f"<tr><th>{html.escape(str(key))}</th><td>{html.escape(str(value))}</td></tr>"
                for key, value in (self.result or {"folder": self.folder}).items()
            )
            return f"<table>{rows}</table>"
        # In a frame of its own the page's styles stay its own.
        return f'<iframe srcdoc="{html.escape(report)}" style="width:100%;height:36em;border:0"></iframe>'


def weights_file(folder: str | os.PathLike[str]) -> str:
    """The best weights of a run, or the last where it was interrupted before the first epoch was over."""
    best = os.path.exists(os.path.join(folder, "best.safetensors"))
    return "best.safetensors" if best else "last.safetensors"


def length_list(value: Any, name: str) -> list[int]:
    """Lengths as a list of integers."""
    array = as_array(value, name)
    if array.ndim != 1 or (array.size and not np.all(array == np.asarray(array, dtype=np.int64))):
        raise ValueError(f"{name}: one integer for each sample expected")
    if array.size and int(array.min()) < 1:
        raise ValueError(f"{name}: {int(array.min())}; at least 1 expected")
    return [int(length) for length in array]


def read_history(text: str) -> list[dict[str, Any]]:
    """The rows of ``metrics.csv``."""

    def cell(name: str, value: str) -> Any:
        if name == "split":
            return value
        if name == "epoch":
            return int(value)
        return float(value) if value else math.nan

    return [{name: cell(name, value) for name, value in row.items()} for row in csv.DictReader(text.splitlines())]
