"""What the extension module holds; everything else is Python."""

from collections.abc import Mapping
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

__version__: str

# For type checkers only: a story with its questions, and a task on stories.
PyStory = tuple[list[str], list[tuple[str, str, int, list[int]]]]
PyTask = tuple[int, str, list[PyStory], list[PyStory]]

_Arrays = Mapping[str, Mapping[str, npt.NDArray[Any]] | list[PyTask]]
_Predicted = tuple[npt.NDArray[np.float32], list[int], list[int]]

class _Observer(Protocol):
    def begin(self, epochs: int, steps: int, parameters: int, resumed: int, /) -> None: ...
    def step(self, epoch: int, step: int, loss: float, /) -> None: ...
    def epoch(self, scores: str, /) -> bool: ...

def main(args: list[str]) -> int: ...
def kinds() -> list[tuple[str, str]]: ...
def template(kind: str) -> str: ...
def keys(kind: str) -> tuple[list[str], list[str], list[str]]: ...
def export_onnx(folder: str, weights: str, path: str, lengths: bool | None = None) -> None: ...
def memory_kept_for() -> int: ...
def check(config: str, arrays: _Arrays, cache: str | None = None) -> str: ...
def train(
    config: str,
    arrays: _Arrays,
    folder: str,
    *,
    observer: _Observer | None = None,
    report: bool = True,
    fresh: bool = False,
    extend: bool = False,
    save_every: int = 30,
    threads: int | None = None,
    cache: str | None = None,
    partial: bool = False,
    before: str | None = None,
    scratch: bool = False,
) -> tuple[str | None, bool]: ...

@final
class Predictor:
    @staticmethod
    def load(folder: str, weights: str = "best.safetensors") -> Predictor: ...
    @property
    def epoch(self) -> int: ...
    def metadata(self) -> str: ...
    def weights(self) -> dict[str, npt.NDArray[np.float32]]: ...
    def predict(
        self,
        inputs: npt.NDArray[np.float32],
        lengths: list[int],
        wanted: str,
        batch_size: int | None,
        threads: int | None,
    ) -> _Predicted: ...
    def predict_source(
        self, source: str, arrays: _Arrays, cache: str | None, threads: int | None
    ) -> tuple[_Predicted, list[str]]: ...
    def decode(self, codes: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]: ...
