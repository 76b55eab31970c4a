"""Classes for the nodes of a graph."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from matnet import _inputs, _parameters
from matnet._arrays import Array, Floats, as_array, counted, floats, is_sparse, native, require_finite
from matnet._base import SOURCE, Net, class_names, said_of_arguments, unique_classes
from matnet._run import n_threads


class GraphClassifier(_parameters.GraphClassifierParameters, ClassifierMixin, Net):  # type: ignore[misc]
    """Classify the nodes of a graph of which some have a known class.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : numpy.ndarray
        The classes.
    history_ : dict of str to list of float
        The scores of every epoch.

    Examples
    --------
    >>> import numpy as np
    >>> from matnet import GraphClassifier
    >>> rng = np.random.default_rng(0)
    >>> side = np.arange(40) % 2
    >>> X = rng.normal(size=(40, 4)) + side[:, None]
    >>> edges = [(i, j) for i in range(40) for j in range(i) if side[i] == side[j] and rng.random() < 0.2]
    >>> y = np.where(np.arange(40) < 10, side, -1)          # only ten nodes have a known class
    >>> net = GraphClassifier(epochs=30, learning_rate=0.02, random_state=0).fit(X, y, edges)
    >>> net.predict().shape
    (40,)
    """

    _spec = "GraphClassifier"
    classes_: npt.NDArray[Any]

    def fit(
        self,
        X: Any,
        y: Any,
        edges: Any,
        sample_weight: Any = None,
        *,
        relations: Any = None,
        directed: bool = False,
        eval_set: Any = None,
    ) -> GraphClassifier:
        """Train the net on the nodes with a known class.

        Parameters
        ----------
        X : array-like of shape (nodes, features)
            The features of every node; a SciPy sparse matrix is taken, too.
        y : array-like of shape (nodes,)
            The class of every node; -1 for numbers, or an empty string or `None`, where it is unknown.
        edges : array-like of shape (edges, 2) or (2, edges)
            The two nodes of every edge, counted from 0; or an adjacency matrix ``(nodes, nodes)``, of NumPy or a sparse one of
            SciPy; or a graph of NetworkX whose nodes are in the order of X. Weights of edges are not used.
        sample_weight : array-like of shape (nodes,), optional
            The weight of each node in the loss.
        relations : array-like of shape (edges,), optional
            The relation of every edge, where there are several.
        directed : bool, default=False
            Whether only the first node of an edge aggregates from the second.
        eval_set : array-like, optional
            Nodes, as indices or a mask, that select the best epoch in place of `validation_fraction`.

        Returns
        -------
        self
            The estimator.
        """
        graph = self._graph_arrays(X, edges, relations, directed)
        _inputs.names(self, X, graph["features"], reset=True)
        nodes = len(graph["features"])
        target = as_array(y, "y")
        if target.shape != (nodes,):
            raise ValueError(f"y: shape {target.shape}; one class for each of {nodes} nodes expected")
        known = ~unknown(target)
        if not known.any():
            raise ValueError("y: no node has a known class")
        self.classes_ = unique_classes(target[known])
        if len(self.classes_) < 2:
            raise ValueError(f"y: only one class, {self.classes_[0]!r}; at least 2 classes expected")
        labels = np.full(nodes, -1, dtype=np.int64)
        labels[known] = np.searchsorted(self.classes_, target[known])
        split: dict[str, Any] = {"rule": "random"}
        arrays = {**graph, "labels": labels, "classes": class_names(self.classes_)}
        weight = _inputs.weights(sample_weight, nodes)
        if weight is not None:
            if not weight[known].any():
                raise ValueError("sample_weight: 0 for every node with a known class; some above 0 expected")
            arrays["weight"] = weight
        if eval_set is not None:
            held = np.zeros(nodes, dtype=bool)
            chosen = as_array(eval_set, "eval_set")
            try:
                held[chosen] = True
            except IndexError as error:
                raise ValueError(f"eval_set: {error}") from error
            arrays["valid"] = np.flatnonzero(held & known)
            arrays["train"] = np.flatnonzero(~held & known)
            split = {"rule": "public", "valid": None, "test": None}
        self._train(self._kind(), arrays, data={"split": split})
        self._graph = graph
        return self

    def _graph_arrays(self, X: Any, edges: Any, relations: Any, directed: bool) -> dict[str, Array]:
        features: Floats = floats(X.toarray() if hasattr(X, "toarray") else X, "X")
        if features.ndim != 2 or features.size == 0:
            raise ValueError(f"X: shape {features.shape}; [nodes, features] expected")
        require_finite(features, "X")
        pairs = pairs_of(edges, len(features))
        arrays: dict[str, Array] = {
            "features": features,
            "edges": pairs,
            "directed": np.array([bool(directed)]),
        }
        if relations is not None:
            arrays["relations"] = native(relations, "relations")
        return arrays

    def predict_proba(
        self, X: Any = None, edges: Any = None, *, relations: Any = None, directed: bool = False
    ) -> npt.NDArray[np.float64]:
        """Predict the probability of every class for every node.

        Parameters
        ----------
        X, edges, relations, directed : optional
            Another graph; by default the one that the net was trained on.

        Returns
        -------
        numpy.ndarray of shape (nodes, classes)
            Probabilities.
        """
        check_is_fitted(self)
        if X is None:
            graph = getattr(self, "_graph", None)
            if graph is None:
                raise ValueError("X: a graph expected; this net was loaded without the one it was trained on")
        elif edges is None:
            raise ValueError("edges: expected beside X")
        else:
            graph = self._graph_arrays(X, edges, relations, directed)
            _inputs.names(self, X, graph["features"], reset=False)
        try:
            (values, _, _), names = self._net.predict_source(SOURCE, {SOURCE: graph}, None, n_threads(self.n_jobs))
        except ValueError as error:
            raise ValueError(said_of_arguments(str(error))) from error
        return values.astype(np.float64)

    def predict(
        self, X: Any = None, edges: Any = None, *, relations: Any = None, directed: bool = False
    ) -> npt.NDArray[Any]:
        """Predict the class of every node.

        Parameters
        ----------
        X, edges, relations, directed : optional
            Another graph; by default the one that the net was trained on.

        Returns
        -------
        numpy.ndarray of shape (nodes,)
            Classes.
        """
        values = self.predict_proba(X, edges, relations=relations, directed=directed)
        predicted: npt.NDArray[Any] = self.classes_[values.argmax(-1)]
        return predicted

    def score(
        self,
        X: Any,
        y: Any,
        edges: Any = None,
        sample_weight: Any = None,
        *,
        relations: Any = None,
        directed: bool = False,
    ) -> float:
        """Return the share of nodes with a known class whose class is predicted.

        Parameters
        ----------
        X : array-like or None
            The features of another graph; `None` for the one that the net was trained on.
        y : array-like of shape (nodes,)
            Classes, unknown ones as in `fit`.
        edges : array-like, optional
            The edges of another graph.
        sample_weight : array-like, optional
            The weight of each node.
        relations, directed : optional
            What else there is to another graph, as in `fit`.

        Returns
        -------
        float
            The accuracy.
        """
        target, predicted = as_array(y, "y"), self.predict(X, edges, relations=relations, directed=directed)
        check_consistent_length(predicted, target, sample_weight)
        known = ~unknown(target)
        if not known.any():
            raise ValueError("y: no node has a known class")
        right = predicted[known] == target[known]
        weight = None if sample_weight is None else as_array(sample_weight, "sample_weight")[known]
        return float(np.average(right, weights=weight))


def pairs_of(edges: Any, nodes: int) -> Array:
    """Edges ``[count, 2]`` from pairs of nodes, from the entries of an adjacency matrix, or from a graph of NetworkX."""
    if is_sparse(edges):
        if tuple(edges.shape) != (nodes, nodes):
            raise ValueError(
                f"edges: adjacency matrix of shape {edges.shape}; ({nodes}, {nodes}) expected, as X has nodes"
            )
        matrix = edges.tocoo()
        return entries_of(matrix, np.asarray(matrix.data))
    if callable(getattr(edges, "is_directed", None)) and hasattr(edges, "edges") and hasattr(edges, "nodes"):
        return pairs_of_graph(edges, nodes)
    pairs = native(edges, "edges")
    if pairs.shape == (nodes, nodes) and nodes > 2 and pairs.dtype.kind in "biuf":
        require_finite(pairs, "edges")
        return entries_of(pairs, pairs)
    if pairs.dtype.kind not in "iu" or pairs.ndim != 2 or 2 not in pairs.shape:
        raise ValueError(f"edges: shape {pairs.shape} of {pairs.dtype}; integers [edges, 2] or [2, edges] expected")
    if pairs.shape[1] != 2:
        pairs = np.ascontiguousarray(pairs.T)
    if pairs.size and not 0 <= int(pairs.min()) <= int(pairs.max()) < nodes:
        wrong = int(pairs.min()) if pairs.min() < 0 else int(pairs.max())
        raise ValueError(f"edges: node {wrong}; 0 to {nodes - 1} expected")
    return pairs


def entries_of(matrix: Any, values: Array) -> Array:
    """Where an adjacency matrix is not zero."""
    weights = values[values != 0]
    if weights.size and (weights != weights.flat[0]).any():
        warnings.warn("edges: weights of edges are not used; every entry but 0 is an edge", UserWarning, stacklevel=5)
    return np.stack([np.asarray(side, dtype=np.int64) for side in matrix.nonzero()], axis=1)


def pairs_of_graph(graph: Any, nodes: int) -> Array:
    """The edges of a graph of NetworkX, whose nodes are the rows of X in their order."""
    names = list(graph.nodes)
    if len(names) != nodes:
        raise ValueError(f"edges: a graph of {counted(len(names), 'node')}; {nodes} expected, as X has")
    if names != list(range(nodes)) and set(names) == set(range(nodes)):
        raise ValueError(
            "edges: the nodes of the graph are numbers, but not in their order, so that it is not clear which row of X is "
            "which node; networkx.to_scipy_sparse_array(graph, nodelist=…) says it"
        )
    place = {name: at for at, name in enumerate(names)}
    pairs = [(place[one], place[other]) for one, other, *_ in graph.edges]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def unknown(target: Array) -> npt.NDArray[np.bool_]:
    """Where no class is known."""
    if target.dtype.kind in "iu":
        return np.asarray(target == -1)
    if target.dtype.kind == "f":
        return np.asarray(np.isnan(target) | (target == -1))
    if target.dtype.kind == "b":
        return np.zeros(target.shape, dtype=bool)
    return np.array([item is None or item == "" or item != item for item in target.tolist()], dtype=bool)
