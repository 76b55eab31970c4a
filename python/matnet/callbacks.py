"""What follows a training while it runs: progress bars, loggers, early ends.

A callback is any object with some of the methods of `Callback`, or a function that takes an epoch and its scores.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Logs = dict[str, float]

__all__ = ["Callback", "MLflowLogger", "OptunaPruning", "TensorBoardLogger"]


class Callback:
    """The methods that are called while a net is trained. Each does nothing unless it is overridden.

    Copies of an estimator, as scikit-learn makes them for cross-validation, share their callbacks.

    Examples
    --------
    Stop when the training loss is low enough:

    >>> import numpy as np
    >>> from matnet import Callback, MatrixRegressor
    >>> class LowEnough(Callback):
    ...     def on_epoch_end(self, epoch, logs):
    ...         return logs["train_loss"] < 0.5
    >>> X = np.random.default_rng(0).normal(size=(64, 3, 3))
    >>> net = MatrixRegressor(epochs=200, learning_rate=0.01, random_state=0, callbacks=[LowEnough()])
    >>> net.fit(X, X[:, 0, 0]).n_iter_ < 200
    True
    """

    def __deepcopy__(self, memo: Any) -> Callback:
        """Return itself: what a copy records would be lost with the copy, and loggers hold what cannot be copied."""
        return self

    def on_train_begin(self, info: Mapping[str, int]) -> None:
        """Training starts; ``info`` has ``epochs``, ``steps`` (per epoch), ``parameters`` and ``resumed``."""

    def on_epoch_end(self, epoch: int, logs: Logs) -> bool | None:
        """An epoch is over, counted from 1: its scores, like ``train_loss`` and ``valid_error``; ``True`` ends the training."""

    def on_train_end(self, logs: Logs) -> None:
        """Training is over, with the scores of the last epoch."""


CallbackLike = Callback | Callable[[int, Logs], bool | None]


class MLflowLogger(Callback):
    """Log the scores of every epoch to MLflow, in the active run.

    Parameters
    ----------
    prefix : str, default=""
        Stands before the name of every metric.
    """

    def __init__(self, prefix: str = "") -> None:
        import mlflow  # noqa: F401 (missing packages are found when a net is made, not after its first epoch)

        self.prefix = prefix

    def on_train_begin(self, info: Mapping[str, int]) -> None:
        """Log the number of parameters."""
        import mlflow

        mlflow.log_param(f"{self.prefix}parameters", info["parameters"])

    def on_epoch_end(self, epoch: int, logs: Logs) -> bool | None:
        """Log the scores."""
        import mlflow

        mlflow.log_metrics({self.prefix + name: value for name, value in logs.items()}, step=epoch)
        return None


class TensorBoardLogger(Callback):
    """Write the scores of every epoch for TensorBoard. PyTorch is not needed.

    Parameters
    ----------
    folder : str
        Where the event file goes; ``tensorboard --logdir`` takes it or a folder above it.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._writer: Any = None

    def on_train_begin(self, info: Mapping[str, int]) -> None:
        """Start an event file."""
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._writer = EventFileWriter(self.folder)

    def on_epoch_end(self, epoch: int, logs: Logs) -> bool | None:
        """Write the scores."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = [Summary.Value(tag=name.replace("_", "/", 1), simple_value=value) for name, value in logs.items()]
        self._writer.add_event(Event(wall_time=time.time(), step=epoch, summary=Summary(value=values)))
        return None

    def on_train_end(self, logs: Logs) -> None:
        """Close the event file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class OptunaPruning(Callback):
    """Report a score to an Optuna trial, and prune the trial when its study says so.

    Parameters
    ----------
    trial : optuna.Trial
        The trial.
    monitor : str, default="valid_loss"
        The score that is reported.
    """

    def __init__(self, trial: Any, monitor: str = "valid_loss") -> None:
        self.trial = trial
        self.monitor = monitor

    def on_epoch_end(self, epoch: int, logs: Logs) -> bool | None:
        """Report, and perhaps prune."""
        import optuna

        if self.monitor not in logs:
            raise ValueError(f"monitor: {self.monitor!r}; one of {', '.join(sorted(logs))} expected")
        self.trial.report(logs[self.monitor], epoch)
        if self.trial.should_prune():
            raise optuna.TrialPruned(f"pruned after epoch {epoch}")
        return None


class Progress(Callback):
    """A progress bar with tqdm where it is installed, in a terminal or a notebook; else a line per epoch."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._epochs = 0

    def on_train_begin(self, info: Mapping[str, int]) -> None:
        """Show an empty bar."""
        self._epochs = info["epochs"]
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(total=info["epochs"], initial=info["resumed"], unit="epoch", leave=False)

    def on_epoch_end(self, epoch: int, logs: Logs) -> bool | None:
        """Move the bar, or print a line."""
        shown = ", ".join(f"{name} {value:.4g}" for name, value in logs.items() if name.endswith(("_loss", "_error")))
        if self._bar is None:
            print(f"epoch {epoch}/{self._epochs}: {shown}", file=sys.stderr)
        else:
            self._bar.update(1)
            self._bar.set_postfix_str(shown)
        return None

    def on_train_end(self, logs: Logs) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


class Events:
    """Hands the events of the extension to callbacks."""

    def __init__(self, callbacks: Iterable[CallbackLike], progress: bool = False) -> None:
        if not isinstance(callbacks, Iterable) or isinstance(callbacks, (str, Mapping)):
            raise ValueError(f"callbacks: {callbacks!r}; a list of callbacks expected")
        self._callbacks = [*callbacks, *([Progress()] if progress else [])]
        self._logs: Logs = {}
        self._begun = False
        for callback in self._callbacks:
            if not (callable(callback) or any(hasattr(callback, name) for name in _METHODS)):
                raise ValueError(f"callbacks: {callback!r} is no function and has none of {', '.join(_METHODS)}")

    def __bool__(self) -> bool:
        return bool(self._callbacks)

    def begin(self, epochs: int, steps: int, parameters: int, resumed: int) -> None:
        """Training starts."""
        info = {"epochs": epochs, "steps": steps, "parameters": parameters, "resumed": resumed}
        self._begun = True
        self._call("on_train_begin", info)

    def step(self, epoch: int, step: int, loss: float) -> None:
        """Some steps are done."""

    def epoch(self, scores: str) -> bool:
        """An epoch is done; returns whether to go on."""
        said = json.loads(scores)
        self._logs = flat(said)
        stop = False
        for callback in self._callbacks:
            method = getattr(callback, "on_epoch_end", None) or (callback if callable(callback) else None)
            if method is not None:
                stop = bool(method(said["epoch"], dict(self._logs))) or stop
        return not stop

    def end(self) -> None:
        """Training is over, if it has begun."""
        if self._begun:
            self._call("on_train_end", self._logs)

    def _call(self, name: str, *args: Any) -> None:
        for callback in self._callbacks:
            method = getattr(callback, name, None)
            if method is not None:
                method(*args)


_METHODS = ("on_train_begin", "on_epoch_end", "on_train_end")


def flat(scores: Mapping[str, Any]) -> Logs:
    """Scores by split as one dict of numbers, like ``valid_loss``."""
    logs = {}
    for split in ("train", "valid", "test"):
        for name, value in (scores.get(split) or {}).items():
            if name != "examples" and value is not None:
                logs[f"{split}_{name}"] = float(value)
    return logs
