"""The code on the pages of the book runs as written, but with fewer epochs and trials."""

import re

import numpy as np
import pytest
from conftest import REPOSITORY, needs
from sklearn.model_selection import cross_val_score
from test_stories import STORIES

import matnet

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4, 5)).astype("float32")
Y = (X[:, 0, 0] > 0).astype(int)

#: What a reader of each page has already.
PAGES = {
    "README.md": {"matnet": matnet, "cross_val_score": cross_val_score, "images": X, "labels": Y},
    "python/README.md": {},
    "docs/python.md": {},
    "docs/python/estimators.md": {
        "matnet": matnet,
        "X": X,
        "y": Y,
        "weights": np.ones(60),
        "X_valid": X,
        "y_valid": Y,
        "X_test": X,
    },
    "docs/python/runs.md": {
        "trials": X[..., None],
        "y": Y,
        "subject": np.arange(60) % 10,
        "new_trials": X[..., None],
        "others": STORIES,
        "more": STORIES,
        "data": {"x": X[..., None], "y": Y, "group": np.arange(60) % 10},
    },
    "docs/python/friends.md": {"X_train": X, "y_train": Y, "X_valid": X, "y_valid": Y},
}


def blocks(page):
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    for block in found:
        block = re.sub(r"(epochs\"?[=:] ?)\d+", r"\g<1>2", re.sub(r"n_trials=\d+", "n_trials=3", block))
        # What stands for more of the same in a list.
        yield re.sub(r"^( +)…$", r"\1*more,", block, flags=re.M)


@pytest.mark.parametrize("page", PAGES)
def test_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given, ran = dict(PAGES[page]), 0
    for block in blocks(page):
        if "torch" in block or block.startswith("module("):
            continue
        if "optuna" in block:
            needs("optuna")
        exec(compile(block, page, "exec"), given)
        ran += 1
    assert ran
