"""Whatever is passed in: a result or an exception, and the interpreter lives."""

import os
import warnings

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import matnet
from matnet import _native
from matnet._arrays import arrays_of, floats
from matnet._stories import tasks_of

#: 10,000 cases in all by default; they share one trained net, and training is a single small step.
CASES = int(os.environ.get("MATNET_FUZZ_CASES", "10000"))

#: What may come out of wrong input; anything else, a crash above all, fails.
REFUSALS = (ValueError, TypeError, OverflowError, FloatingPointError, MemoryError)

EYES = np.eye(3)[None].repeat(4, 0)
net = matnet.MatrixClassifier(hidden=(2, 2), epochs=1, random_state=0).fit(EYES, [0, 1, 0, 1])
labeller = matnet.SequenceClassifier(hidden=(2, 2), epochs=1, random_state=0).fit(list(EYES), [[0, 1, 0]] * 4)

dtypes = st.one_of(
    hnp.scalar_dtypes(),
    hnp.floating_dtypes(sizes=(16, 32, 64)),
    hnp.unicode_string_dtypes(max_len=4),
    hnp.byte_string_dtypes(max_len=4),
    st.just(np.dtype(object)),
)
shapes = st.one_of(hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4), st.just((4, 3, 3)))
arrays = hnp.arrays(dtypes.filter(lambda dtype: dtype.kind != "O"), shapes)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.complex_numbers(),
)
nested = st.recursive(leaves, lambda children: st.lists(children, max_size=4), max_leaves=12)
anything = st.one_of(
    arrays,
    nested,
    st.lists(arrays, max_size=3),
    st.dictionaries(st.text(max_size=3), leaves, max_size=3),
)
views = arrays.map(lambda array: array.T[..., ::-1] if array.ndim else array)

mode = settings(
    max_examples=-(-CASES // 9),
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def tried(work):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            work()
        except REFUSALS as error:
            assert str(error), "a refusal says why"
            assert "internal error" not in str(error)


@mode
@given(anything)
def test_predict(value):
    tried(lambda: net.predict(value))


@mode
@given(st.one_of(anything, views), st.lists(st.integers(-2, 9), max_size=5))
def test_the_extension_itself(value, lengths):
    def work():
        x = floats(value, "x")
        _native_net = net._net
        _native_net.predict(x, [abs(length) for length in lengths], "predictions", None, None)

    tried(work)


KEYS = (
    "x",
    "y",
    "length",
    "weight",
    "group",
    "train",
    "valid",
    "classes",
    "features",
    "edges",
    "labels",
)


@mode
@given(st.dictionaries(st.sampled_from(KEYS), st.one_of(arrays, views, nested), max_size=4))
def test_data(data):
    config = '{"data": {"source": "a"}, "model": {"kind": "feedforward", "hidden": [2, 2]}, "train": {"epochs": 1}}'
    tried(lambda: _native.check(config, {"a": arrays_of(data)}))


values = st.recursive(leaves, lambda children: st.lists(children, max_size=3), max_leaves=4)
options = st.dictionaries(
    st.sampled_from(["hidden", "depth", "form", "skip", "dropout", "init", "tied", "block"]), values
)


@mode
@given(options)
def test_config(model):
    from matnet._run import to_json

    x = np.zeros((4, 3, 3), np.float32)
    config = {"data": {"source": "a"}, "model": {"kind": "feedforward", "hidden": [2, 2], **model}}
    tried(lambda: _native.check(to_json(config), {"a": {"x": x, "y": np.arange(4)}}))


@mode
@given(st.one_of(arrays, views, nested), st.one_of(arrays, nested), st.one_of(st.none(), nested))
def test_fit(x, y, weight):
    quick = matnet.MatrixClassifier(hidden=(2, 2), epochs=1, random_state=0, n_jobs=1)
    tried(lambda: quick.fit(x, y, sample_weight=weight))


sequences = st.one_of(
    st.lists(hnp.arrays(np.float32, st.tuples(st.integers(0, 4), st.just(3))), max_size=4), st.lists(arrays), anything
)


@mode
@given(sequences, anything)
def test_sequences(x, y):
    quick = matnet.SequenceClassifier(hidden=(2, 2), epochs=1, random_state=0, n_jobs=1)
    tried(lambda: quick.fit(x, y))
    tried(lambda: labeller.score(x, y))


@mode
@given(
    st.one_of(hnp.arrays(np.float32, (4, 2)), anything),
    st.one_of(hnp.arrays(np.int64, 4, elements=st.integers(-1, 2)), anything),
    st.one_of(hnp.arrays(np.int64, (3, 2), elements=st.integers(-1, 4)), anything),
    st.one_of(st.none(), nested),
)
def test_graph(x, y, edges, other):
    quick = matnet.GraphClassifier(kind="gcn", hidden=2, epochs=1, random_state=0, n_jobs=1)
    tried(lambda: quick.fit(x, y, edges, sample_weight=other))
    tried(lambda: quick.fit(x, y, edges, relations=other, eval_set=other))


@mode
@given(st.one_of(hnp.arrays(np.float32, (9, 2)), anything), st.one_of(st.none(), anything))
def test_forecast(x, following):
    quick = matnet.Forecaster(window=3, hidden=(2, 2), epochs=1, random_state=0, n_jobs=1)
    tried(lambda: quick.fit(x, eval_set=following).predict(following))


story = st.one_of(
    st.tuples(nested, nested),
    st.tuples(st.lists(st.text(max_size=9), max_size=3), st.text(max_size=9), st.text(max_size=4), nested),
    st.fixed_dictionaries(
        {
            "sentences": nested,
            "questions": st.lists(st.dictionaries(st.sampled_from(["text", "answer", "after", "facts"]), leaves)),
        }
    ),
)


@mode
@given(
    st.one_of(
        anything,
        st.lists(story, max_size=4),
        st.dictionaries(st.integers(-1, 3), st.lists(story, max_size=2), max_size=2),
    )
)
def test_stories(data):
    config = (
        '{"data": {"source": "a"}, "model": {"kind": "end-to-end-memory", "embedding_dim": 2}, "train": {"epochs": 1}}'
    )
    tried(lambda: _native.check(config, {"a": tasks_of(data, None, "a")}))
