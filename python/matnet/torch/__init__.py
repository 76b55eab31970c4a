"""A trained run as an ordinary ``torch.nn.Module``. Needs ``torch`` and ``safetensors``.

Examples
--------
>>> import tempfile
>>> import numpy as np
>>> import torch                                                # doctest: +SKIP
>>> import matnet, matnet.torch                                 # doctest: +SKIP
>>> run = matnet.load_run("runs/digits")                        # doctest: +SKIP
>>> module = matnet.torch.from_run(run)                         # doctest: +SKIP
>>> scores = module(torch.zeros(1, 28, 28))                     # doctest: +SKIP
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
        ``module.predict(x)`` probabilities, values or matrices. Nets on graphs are not there.
    """
    from matnet.torch.run import load

    if hasattr(run, "folder"):
        return load(run.folder, weights)
    if isinstance(run, (str, os.PathLike)):
        return load(os.fspath(run), weights)
    with tempfile.TemporaryDirectory(prefix="matnet-") as folder:
        run.save(folder)
        return load(folder, weights)
