"""The keywords of the estimators, from the keys of the configs.

The keys are not written a second time: the extension lists them, and the comments of the config templates are their help. Each
estimator inherits its ``__init__`` from a class made here; `_parameters.pyi` spells the signatures out for editors and type
checkers, and ``tools/make_stubs.py`` writes it.
"""

from __future__ import annotations

import inspect
import re
import textwrap
import tomllib
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from matnet import _native

#: Keys that the data, the estimator or another argument decides.
LEFT_OUT = {
    "model": {"input", "output", "num_features", "num_classes", "num_relations", "steps"},
    "train": {"seed", "from_sha256", "previous_epochs", "log_test", "shards"},
}

#: The keys of ``[data]`` that say what is done to inputs, not where they are.
DATA_KEYS = (
    "scale",
    "scale_per",
    "scale_target",
    "missing",
    "missing_mask",
    "log",
    "spectrogram",
    "log_mel",
    "augment",
    "permute",
    "normalize",
    "num_neighbors",
    "edge_dropout",
    "window",
    "normalize_window",
)

#: Keys whose names are taken, in Python or by another key.
RENAMED = {("train", "from"): "from_run", ("data", "num_neighbors"): "sampled_neighbors"}

#: Arguments that are no keys of a config: default, type, help.
OWN: dict[str, tuple[Any, str, str]] = {
    "kind": ("", "str", "the kind of net: {kinds}"),
    "horizon": (1, "int", "rows that are predicted"),
    "shape": (
        None,
        "tuple[int, int] | None",
        "rows and columns of the matrices that the columns of a 2-D X fill, row by row; by default one column "
        "(sequences: one number per step)",
    ),
    "validation_fraction": (
        0.0,
        "float",
        "the share of the training data that selects the best epoch and ends the training early (`patience`); "
        "`eval_set` takes its place",
    ),
    "random_state": (
        None,
        "int | np.random.RandomState | None",
        "seeds initial values, the order of samples, dropout and noise; an int gives the same net every time",
    ),
    "n_jobs": (None, "int | None", "threads; one per core by default, which changes no result"),
    "verbose": (False, "bool", "whether to show a progress bar"),
    "callbacks": (
        None,
        "Sequence[CallbackLike] | None",
        "called at every epoch; see `matnet.callbacks`",
    ),
}

TRAILING = ("validation_fraction", "random_state", "n_jobs", "verbose", "callbacks")


@dataclass(frozen=True)
class Spec:
    """Which keywords an estimator has."""

    #: The kinds of nets that it may train; the first is the default.
    kinds: tuple[str, ...]
    #: Arguments of its own that stand before the keys.
    own: tuple[str, ...] = ("shape",)
    #: Defaults other than `None`, which means the default of the config.
    defaults: dict[str, Any] = field(default_factory=lambda: {"epochs": 100})
    #: Data keys that do not apply.
    without: tuple[str, ...] = ("window", "normalize_window", "scale_target")


SPECS = {
    "MatrixClassifier": Spec(("feedforward",)),
    "MatrixRegressor": Spec(("feedforward",), without=("window", "normalize_window")),
    "SequenceClassifier": Spec(("sequence-classifier", "sequence-labeller")),
    "SequenceRegressor": Spec(
        ("sequence-regressor", "sequence-labeller", "seq2seq"),
        without=("window", "normalize_window"),
    ),
    "MatrixAutoEncoder": Spec(("autoencoder",)),
    "GraphClassifier": Spec(("column-net", "gcn", "chebyshev"), own=("kind",)),
    "Forecaster": Spec(
        ("seq2seq", "feedforward"),
        own=("kind", "horizon"),
        defaults={"epochs": 100, "window": 32, "scale": "standardize"},
        without=(
            "scale_target",
            "missing",
            "missing_mask",
            "log",
            "spectrogram",
            "log_mel",
            "permute",
        ),
    ),
}


@dataclass(frozen=True)
class Option:
    """A keyword that is a key of a config."""

    section: str
    key: str
    default: Any
    type: str
    help: str


@cache
def options(estimator: str) -> dict[str, Option]:
    """The config options of an estimator, by keyword."""
    spec = SPECS[estimator]
    found: dict[str, Option] = {}
    for kind in spec.kinds:
        help_of = _helps(kind)
        data, model, train = _native.keys(kind)
        keys = [("model", key) for key in model if key not in LEFT_OUT["model"]]
        keys += [("train", key) for key in train if key not in LEFT_OUT["train"]]
        keys += [("data", key) for key in DATA_KEYS if key in data and key not in spec.without]
        for section, key in keys:
            name = RENAMED.get((section, key), key)
            known = found.get(name)
            if known is not None and known.section != section:
                raise AssertionError(f"{estimator}: {section}.{key} and {known.section}.{known.key}")
            text, kind_of_value = help_of.get((section, key), ("", "Any"))
            if known is None or (text and not known.help):
                found[name] = Option(section, key, spec.defaults.get(name), kind_of_value, text)
    # Keys of all sections in one order, whatever the kind of net that brought them.
    order = {"model": 0, "train": 1, "data": 2}
    return dict(sorted(found.items(), key=lambda item: order[item[1].section]))


def own_arguments(estimator: str) -> dict[str, tuple[Any, str, str]]:
    """The arguments that are no keys of a config."""
    spec = SPECS[estimator]
    own = {name: OWN[name] for name in (*spec.own, *TRAILING)}
    if "kind" in own:
        own["kind"] = (spec.kinds[0], "str", OWN["kind"][2].format(kinds=", ".join(spec.kinds)))
    return own


def arguments(estimator: str) -> dict[str, tuple[Any, str, str]]:
    """All keywords of an estimator, in order: default, type, help."""
    own = own_arguments(estimator)
    keys = {name: (option.default, option.type, option.help) for name, option in options(estimator).items()}
    first = {name: value for name, value in own.items() if name not in TRAILING}
    last = {name: value for name, value in own.items() if name in TRAILING}
    return {**first, **keys, **last}


@cache
def _helps(kind: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Help and type of the keys in the template of a kind of net."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    section = ""
    for line in _native.template(kind).splitlines():
        if table := re.match(r"\[(\w+)\]", line):
            section = table[1]
        elif key := re.match(r"#? ?(\w+) = (\S.*?)(?:\s+# (.*))?$", line):
            try:
                value = tomllib.loads(f"value = {key[2]}")["value"]
            except tomllib.TOMLDecodeError:
                continue
            found.setdefault((section, key[1]), ((key[3] or "").strip("… "), _type(value)))
    return found


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool | None"
    if isinstance(value, (int, float)):
        return "float | None" if isinstance(value, float) else "int | None"
    return "str | None" if isinstance(value, str) else "Any"


#: Keys that take more than what their template shows.
WIDER = {
    "class_weights",
    "hidden",
    "augment",
    "learning_rate_multipliers",
    "freeze",
    "log",
    "log_mel",
    "spectrogram",
}
NUMBERS = {"warmup_epochs", "step_size", "restart_epochs"}


def annotation(name: str, kind: str) -> str:
    """The type of a keyword in the stubs."""
    if name in NUMBERS:
        return "float | None"
    return "Any" if name in WIDER else kind


def parameters(estimator: str) -> type:
    """The class that gives an estimator its ``__init__``."""
    known = arguments(estimator)
    defaults = {name: default for name, (default, _, _) in known.items()}

    def __init__(self: Any, **given: Any) -> None:
        for name in given:
            if name not in defaults:
                raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument {name!r}")
        for name, default in defaults.items():
            setattr(self, name, given.get(name, default))

    keyword = inspect.Parameter.KEYWORD_ONLY
    __init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        + [inspect.Parameter(name, keyword, default=default) for name, default in defaults.items()]
    )

    def __init_subclass__(cls: Any, **kwargs: Any) -> None:
        super(made, cls).__init_subclass__(**kwargs)  # type: ignore[misc]
        if cls.__doc__ and "{parameters}" in cls.__doc__:
            cls.__doc__ = inspect.cleandoc(cls.__doc__).replace("{parameters}", described(estimator))

    made = type(
        f"{estimator}Parameters",
        (),
        {
            "__init__": __init__,
            "__init_subclass__": classmethod(__init_subclass__),
            "__doc__": "Keywords.",
        },
    )
    return made


def described(estimator: str) -> str:
    """The section "Parameters" of a docstring."""
    lines = []
    for name, (default, _, text) in arguments(estimator).items():
        lines.append(f"{name} : default={default!r}")
        lines += textwrap.wrap(text or "as in the config", 90, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


MatrixClassifierParameters = parameters("MatrixClassifier")
MatrixRegressorParameters = parameters("MatrixRegressor")
SequenceClassifierParameters = parameters("SequenceClassifier")
SequenceRegressorParameters = parameters("SequenceRegressor")
MatrixAutoEncoderParameters = parameters("MatrixAutoEncoder")
GraphClassifierParameters = parameters("GraphClassifier")
ForecasterParameters = parameters("Forecaster")
