"""Deep networks whose states are matrices, with the interface of scikit-learn.

The estimators (`MatrixClassifier`, `SequenceClassifier`, `GraphClassifier`, …) take NumPy arrays; `train` takes a config, as
the command ``matnet train`` does, and returns a `Run`. Both give the same weights as the command, byte for byte.

Examples
--------
>>> import numpy as np
>>> import matnet
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(60, 4, 5))
>>> y = (X[:, 0, 0] > 0).astype(int)
>>> net = matnet.MatrixClassifier(hidden=[4, 4], epochs=60, learning_rate=0.02, random_state=0)
>>> float(net.fit(X, y).score(X, y)) > 0.9
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matnet._native import __version__
    from matnet._run import Run, kinds, load_run, new, train
    from matnet._stories import Question, Story
    from matnet.callbacks import Callback
    from matnet.estimators import (
        Forecaster,
        GraphClassifier,
        MatrixAutoEncoder,
        MatrixClassifier,
        MatrixRegressor,
        SequenceClassifier,
        SequenceRegressor,
        load,
    )

# What is used is imported when it is used: scikit-learn alone takes longer to import than everything else here.
_HOMES = {
    "__version__": "matnet._native",
    "Run": "matnet._run",
    "kinds": "matnet._run",
    "load_run": "matnet._run",
    "new": "matnet._run",
    "train": "matnet._run",
    "Question": "matnet._stories",
    "Story": "matnet._stories",
    "Callback": "matnet.callbacks",
    "Forecaster": "matnet.estimators",
    "GraphClassifier": "matnet.estimators",
    "MatrixAutoEncoder": "matnet.estimators",
    "MatrixClassifier": "matnet.estimators",
    "MatrixRegressor": "matnet.estimators",
    "SequenceClassifier": "matnet.estimators",
    "SequenceRegressor": "matnet.estimators",
    "load": "matnet.estimators",
}

__all__ = [
    "Callback",
    "Forecaster",
    "GraphClassifier",
    "MatrixAutoEncoder",
    "MatrixClassifier",
    "MatrixRegressor",
    "Question",
    "Run",
    "SequenceClassifier",
    "SequenceRegressor",
    "Story",
    "__version__",
    "kinds",
    "load",
    "load_run",
    "new",
    "train",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'matnet' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
