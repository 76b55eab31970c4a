"""A trained run as an ordinary ``torch.nn.Module``. Needs ``torch`` and ``safetensors``.

Examples
--------
>>> import numpy as np
>>> import torch
>>> import matnet, matnet.torch
>>> X = np.random.default_rng(0).normal(size=(40, 3, 3)).astype("float32")
>>> net = matnet.MatrixClassifier(epochs=2, random_state=0).fit(X, X[:, 0, 0] > 0)
>>> module = matnet.torch.from_run(net)
>>> module.predict(torch.from_numpy(X)).shape
torch.Size([40, 2])
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

__all__ = ["from_run", "load"]


def __getattr__(name: str) -> Any:
    if name == "load":
        from matnet.torch.run import load

        return load
    raise AttributeError(f"module 'matnet.torch' has no attribute {name!r}")


def from_run(run: Any, weights: str = "best") -> Any:
    """A run, a fitted estimator or a run folder as a module of PyTorch.

    Parameters
    ----------
    run : Run, estimator or path
        What was trained.
    weights : {"best", "last"}
        Which weights.

    Returns
    -------
    torch.nn.Module
        The net with its weights and what is done to inputs: ``module(x)`` gives scores with gradients,
        ``module.predict(x)`` probabilities, values or matrices. Nets on padded sequences take ``(x, lengths)``, nets on graphs
        ``(features, edges)``, memory nets a list of stories.
    """
    from matnet.torch.run import load

    if hasattr(run, "folder"):
        return load(run.folder, weights)
    if isinstance(run, (str, os.PathLike)):
        return load(os.fspath(run), weights)
    with tempfile.TemporaryDirectory(prefix="matnet-") as folder:
        run.save(folder)
        return load(folder, weights)
