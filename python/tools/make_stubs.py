"""Write ``matnet/_parameters.pyi``: the signatures of the estimators, for editors and type checkers.

Run it after a key of a config was added: ``python tools/make_stubs.py``. A test compares the file with what this makes.
"""

from pathlib import Path

from matnet import _parameters

HEAD = '''"""The keywords of the estimators; ``tools/make_stubs.py`` writes this file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matnet.callbacks import CallbackLike

@dataclass(frozen=True)
class Spec:
    kinds: tuple[str, ...]
    own: tuple[str, ...] = ...
    defaults: dict[str, Any] = ...
    without: tuple[str, ...] = ...

@dataclass(frozen=True)
class Option:
    section: str
    key: str
    default: Any
    type: str
    help: str

LEFT_OUT: dict[str, set[str]]
DATA_KEYS: tuple[str, ...]
RENAMED: dict[tuple[str, str], str]
OWN: dict[str, tuple[Any, str, str]]
TRAILING: tuple[str, ...]
SPECS: dict[str, Spec]
WIDER: set[str]
NUMBERS: set[str]

def options(estimator: str) -> dict[str, Option]: ...
def own_arguments(estimator: str) -> dict[str, tuple[Any, str, str]]: ...
def arguments(estimator: str) -> dict[str, tuple[Any, str, str]]: ...
def annotation(name: str, kind: str) -> str: ...
def parameters(estimator: str) -> type: ...
def described(estimator: str) -> str: ...
'''


def stub() -> str:
    """The text of the stubs."""
    text = HEAD
    for estimator in _parameters.SPECS:
        text += f"\nclass {estimator}Parameters:\n"
        known = _parameters.arguments(estimator)
        types = {name: _parameters.annotation(name, kind) for name, (_, kind, _) in known.items()}
        text += "".join(f"    {name}: {kind}\n" for name, kind in types.items())
        text += "    def __init__(\n        self,\n        *,\n"
        for name, (default, _, _) in known.items():
            text += f"        {name}: {types[name]} = {default!r},\n".replace("'", '"')
        text += "    ) -> None: ...\n"
    return text


if __name__ == "__main__":
    Path(__file__).parent.parent.joinpath("matnet", "_parameters.pyi").write_text(stub(), encoding="utf-8")
