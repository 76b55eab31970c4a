"""Estimators from run folders."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from matnet import _parameters
from matnet._base import ESTIMATOR_FILE, from_plain
from matnet._run import load_run

#: What classifiers were trained to give, as it stands beside the weights.
CLASSES = ("classes", "steps", "labels")


def estimator_of(folder: str, estimators: Mapping[str, Any]) -> Any:
    """The estimator of a run folder."""
    run = load_run(folder)
    path = os.path.join(folder, ESTIMATOR_FILE)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            about = json.load(file)
        if about.get("estimator") not in estimators:
            raise ValueError(f"folder: {path}: {about.get('estimator')!r} is no estimator")
        net = estimators[about["estimator"]](**about["parameters"])
        net._keep(folder)
        for name, value in about["fitted"].items():
            setattr(net, name, from_plain(value))
        return net
    return _of_command(run.config, run.metadata, folder, estimators)


def _width(metadata: Mapping[str, Any]) -> int:
    return len(metadata.get("names", []))


def _of_command(
    config: Mapping[str, Any],
    metadata: Mapping[str, Any],
    folder: str,
    estimators: Mapping[str, Any],
) -> Any:
    """The estimator of a run that the command made: the kind of net and its targets say which."""
    model, data, train = (dict(config.get(table, {})) for table in ("model", "data", "train"))
    kind, target = model["kind"], metadata.get("target")
    if "window" in data:
        name = "Forecaster"
    elif kind == "autoencoder":
        name = "MatrixAutoEncoder"
    elif kind in _parameters.SPECS["GraphClassifier"].kinds:
        name = "GraphClassifier"
    elif kind == "feedforward":
        name = "MatrixClassifier" if target in CLASSES else "MatrixRegressor"
    elif kind in ("sequence-classifier", "sequence-labeller", "sequence-regressor", "seq2seq"):
        name = "SequenceClassifier" if target in CLASSES else "SequenceRegressor"
    else:
        raise ValueError(f"folder: {folder}: no estimator is for {kind} nets; matnet.load_run takes the run")
    tables = {"model": model, "data": data, "train": train}
    keywords = {
        keyword: tables[option.section][option.key]
        for keyword, option in _parameters.options(name).items()
        if option.key in tables[option.section]
    }
    keywords["random_state"] = train.get("seed", 1)
    if name in ("GraphClassifier", "Forecaster"):
        keywords["kind"] = kind
    if name == "Forecaster":
        keywords["horizon"] = data["horizon"]
    net = estimators[name](**keywords)
    net._keep(folder)
    if name == "GraphClassifier" or target in CLASSES:
        net.classes_ = _class_values(metadata.get("classes") or metadata.get("names", []))
    net._target = {"labels": "labels", "values": "value", "matrices": "matrix"}.get(str(target), "class")
    net._single = target == "values" and _width(metadata) == 1
    net._flat = False
    sides = list(model.get("input", []))
    if sides:
        net._input_shape = tuple(sides)
        net.n_features_in_ = int(np.prod(sides))
    if name == "MatrixAutoEncoder":
        weights = net._net.weights()
        last = max(int(key.split(".")[1]) for key in weights if key.startswith("encoder."))
        rows = weights.get(f"encoder.{last}.row_map")
        net._code_shape = (
            (rows.shape[1], weights[f"encoder.{last}.col_map"].shape[1])
            if rows is not None
            else (weights[f"encoder.{last}.weight"].shape[1], 1)
        )
    if name == "GraphClassifier":
        net.n_features_in_ = model.get("num_features", 0)
    if name == "Forecaster":
        # A net on windows sees [columns, 1] at each step, or [window, columns] at once.
        net.n_features_in_ = sides[1] if kind == "feedforward" else sides[0]
    return net


def _class_values(names: list[str]) -> Any:
    """Names of classes as numbers, where all are numbers."""
    try:
        return np.array([int(name) for name in names])
    except ValueError:
        return np.array(names)
