"""Forecasts of long tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from matnet import _inputs, _parameters
from matnet._arrays import Floats, counted, floats, require_finite
from matnet._base import Net


class Forecaster(_parameters.ForecasterParameters, RegressorMixin, Net):  # type: ignore[misc]
    """Predict the next rows of a long table ``[time, columns]``.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    history_ : dict of str to list of float
        The scores of every epoch.

    Examples
    --------
    >>> import numpy as np
    >>> from matnet import Forecaster
    >>> t = np.arange(400)
    >>> table = np.stack([np.sin(t / 8), np.cos(t / 11)], axis=1)
    >>> net = Forecaster(window=16, horizon=4, hidden=(4, 2), epochs=3, random_state=0).fit(table)
    >>> net.predict().shape
    (4, 2)
    """

    _spec = "Forecaster"

    def fit(self, X: Any, y: Any = None, *, eval_set: Any = None) -> Forecaster:
        """Train the net on all windows of a table.

        Parameters
        ----------
        X : array-like of shape (time, columns)
            The table, in the order of time.
        y : None
            Not used: the table itself is the target.
        eval_set : array-like of shape (time, columns), optional
            The rows that follow X. Their forecasts select the best epoch, in place of `validation_fraction`, and end the training
            early with `patience`.

        Returns
        -------
        self
            The estimator.
        """
        table = self._table(X)
        _inputs.names(self, X, table, reset=True)
        kind = self._kind()
        about: dict[str, Any] = {"horizon": self.horizon}
        rows = table
        if eval_set is not None:
            following = self._table(eval_set, "eval_set")
            if following.shape[1] != table.shape[1]:
                raise ValueError(f"eval_set: {following.shape[1]} columns; {table.shape[1]} expected, as X has")
            _inputs.names(self, eval_set, following, reset=False, argument="eval_set")
            rows = np.concatenate([table, following])
            about["split"] = {"valid": len(following)}
        self._train(kind, {"x": rows}, data=about)
        self._last = np.array(table[-self._trained("window") :])
        return self

    def _trained(self, name: str) -> int:
        """A number that the net was trained with; the keyword may have changed since."""
        return int(self.config_["data"][name])

    def _table(self, X: Any, name: str = "X") -> Floats:
        try:
            table = floats(X, name)
        except ValueError:
            # Which column of a frame it is.
            for column in getattr(X, "columns", ()):
                floats(X[column], f"{name}: column {column!r}")
            raise
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2 or table.size == 0:
            raise ValueError(f"{name}: shape {table.shape}; one table [time, columns] expected")
        require_finite(table, name)
        return np.ascontiguousarray(table)

    def predict(self, X: Any = None) -> npt.NDArray[np.float32]:
        """Predict the rows that follow a table.

        Parameters
        ----------
        X : array-like of shape (time, columns), optional
            A table with at least `window` rows, of which the last count; or several ``[n, time, columns]``. By default the end
            of the table that the net was trained on.

        Returns
        -------
        numpy.ndarray of shape (horizon, columns)
            The next rows, in the units of the table; ``(n, horizon, columns)`` for several.
        """
        check_is_fitted(self)
        given = X
        if X is None:
            X = getattr(self, "_last", None)
            if X is None:
                raise ValueError("X: the rows before the forecast expected; this net was loaded without its table")
        tables: npt.NDArray[Any] = self._table(X) if hasattr(X, "columns") else floats(X, "X")
        single, window = tables.ndim < 3, self._trained("window")
        tables = self._table(tables)[None] if single else tables
        if tables.ndim != 3 or tables.shape[1] < window or tables.shape[2] != self.n_features_in_:
            columns = counted(self.n_features_in_, "column")
            raise ValueError(f"X: shape {tables.shape[1:]}; at least {window} rows of {columns} expected")
        if given is not None and single:
            _inputs.names(self, given, tables[0], reset=False)
        require_finite(tables, "X")
        tables = np.ascontiguousarray(tables[:, -window:])
        values = self._predict_arrays(tables, [])
        values = values.reshape(len(tables), -1, self.n_features_in_)
        return values[0] if single else values

    def score(self, X: Any, y: Any = None) -> float:
        """Return R² of the forecasts of all windows of a table.

        Parameters
        ----------
        X : array-like of shape (time, columns)
            The table.
        y : None
            Not used.

        Returns
        -------
        float
            R².
        """
        check_is_fitted(self)
        table, window, horizon = self._table(X), self._trained("window"), self._trained("horizon")
        _inputs.names(self, X, table, reset=False)
        starts = range(len(table) - window - horizon + 1)
        if not len(starts):
            raise ValueError(f"X: {counted(len(table), 'row')}; at least {window + horizon} expected")
        past = np.stack([table[at : at + window] for at in starts])
        future = np.stack([table[at + window : at + window + horizon] for at in starts])
        return float(r2_score(future.reshape(len(starts), -1), self.predict(past).reshape(len(starts), -1)))

    def _fitted(self) -> dict[str, Any]:
        # A run of the command comes without its table.
        return super()._fitted() | ({"_last": self._last} if hasattr(self, "_last") else {})
