import io
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def digits():
    """5,000 digits 28×28."""
    with np.load(REPOSITORY / "data" / "digits.npz") as file:
        return {name: file[name] for name in file.files}


@pytest.fixture(scope="session")
def vowels():
    """640 recordings of 7 to 29 steps."""
    with np.load(REPOSITORY / "crates" / "matnet-data" / "data" / "vowels.npz") as file:
        return {name: file[name] for name in file.files}


@pytest.fixture(scope="session")
def cora():
    """2,708 papers, their words, and who cites whom."""
    with tarfile.open(REPOSITORY / "data" / "cora.tar.gz") as archive:
        read = lambda name: io.TextIOWrapper(archive.extractfile(f"cora/cora.{name}"))  # noqa: E731
        rows = [line.split() for line in read("content")]
        cites = [line.split() for line in read("cites")]
    place = {row[0]: at for at, row in enumerate(rows)}
    return {
        "features": np.array([row[1:-1] for row in rows], dtype=np.float32),
        "labels": np.array([row[-1] for row in rows]),
        "edges": np.array([[place[a], place[b]] for a, b in cites if a in place and b in place]),
    }


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def needs(module):
    """The real package, or a test that is skipped, with the reason in pytest's summary."""
    return pytest.importorskip(module, reason=f"{module} is not installed: this friend is not tested")


os.environ.setdefault("MPLBACKEND", "Agg")
