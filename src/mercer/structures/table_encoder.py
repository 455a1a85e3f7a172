"""Tables as matrices of doubles, for forests and kernels on vectors."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer.structures.tables import CYCLES, Table


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode a table of mixed columns as a matrix of doubles, learned on the training table.

    ========  ===============================================================================================
    kind      columns of the matrix
    ========  ===============================================================================================
    number    the number, the training median for a gap
    category  an indicator of each category of several rows; one of all others, if training has others
    date      days since 1970 as a number; cosine and sine of the days of the year and of the week
    text      character n-grams, hashed to few columns with signs, rows of length one
    ========  ===============================================================================================

    A column with gaps in training gets an indicator of gaps too.

    Parameters
    ----------
    max_categories : int, default=20
        Most categories of a column with an indicator of their own, the most frequent ones.
    n_hashes : int, default=64
        Columns for one column of text.
    ngrams : (int, int), default=(1, 3)
        Shortest and longest n-grams.
    kinds : dict of column to kind, optional
        Kinds of columns where the rule of `Table` is wrong.

    Attributes
    ----------
    kinds_ : dict of column to kind
    feature_names_in_ : array of str

    Examples
    --------
    >>> table = {"age": [30.0, None, 50.0, 40.0], "city": ["Oslo", "Rome", "Oslo", "Rome"]}
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age_missing', 'city_Oslo', 'city_Rome']
    >>> encoder.transform({"city": ["Rome", "Paris"], "age": [20.0, None]})
    array([[20.,  0.,  0.,  1.],
           [40.,  1.,  0.,  0.]])
    """

    def __init__(
        self,
        max_categories: int = 20,
        n_hashes: int = 64,
        ngrams: tuple[int, int] = (1, 3),
        kinds: dict[str, str] | None = None,
    ) -> None:
        self.max_categories = max_categories
        self.n_hashes = n_hashes
        self.ngrams = ngrams
        self.kinds = kinds

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians and categories from a table."""
        table = Table.of(X, self.kinds)
        learned = {name: self._learned(table, name) for name in table.used}
        self.learned_, self._names = learned, [name for name, _ in self._columns(table[:1], learned)]
        self.kinds_, self.n_features_in_ = dict(table.kinds), len(table.kinds)
        self.feature_names_in_ = np.asarray(list(table.kinds), dtype=object)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return a matrix with one row of doubles for each row of the table."""
        check_is_fitted(self, "kinds_")
        table = Table.like(X, self.kinds_)
        return np.column_stack([values.astype(float) for _, values in self._columns(table, self.learned_)])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return a name for each column of the matrix, made from that of the column of the table."""
        check_is_fitted(self, "kinds_")
        return np.asarray(self._names, dtype=object)

    def _learned(self, table: Table, name: str) -> dict[str, Any]:
        gaps = table.gaps(name)
        known, found = table.columns[name][~gaps], {"gaps": bool(gaps.any())}
        if known.dtype == float:
            return found | {"median": float(np.median(known)) if len(known) else 0.0}
        counts = Counter(known.tolist())
        common = sorted((value for value in counts if counts[value] > 1), key=lambda value: (-counts[value], value))
        kept = sorted(common[: self.max_categories])
        return (
            found | {"categories": kept, "other": len(kept) < len(counts)} if table.kinds[name] == "category" else found
        )

    def _columns(self, table: Table, learned: dict[str, dict[str, Any]]) -> list[tuple[str, np.ndarray]]:
        """Names and values of the columns of the matrix."""
        found = []
        for name, kind in table.used.items():
            column, gaps, known = table.columns[name], table.gaps(name), learned[name]
            if kind == "category":
                found += [(f"{name}_{value}", column == value) for value in known["categories"]]
                if known["other"]:
                    found.append((f"{name}_other", ~gaps & [value not in known["categories"] for value in column]))
            elif kind == "text":
                found += [(f"{name}_{j}", values) for j, values in enumerate(self._hashed(column).T)]
            else:
                values = np.where(gaps, known["median"], column)
                turns = {cycle: 2.0 * np.pi * values / days for cycle, days in CYCLES.items() if kind == "date"}
                found.append((name, values))
                found += [
                    (f"{name}_{cycle}_{f.__name__}", f(turn)) for cycle, turn in turns.items() for f in (np.cos, np.sin)
                ]
            if known["gaps"]:
                found.append((f"{name}_missing", gaps))
        return found

    def _hashed(self, texts: np.ndarray) -> np.ndarray:
        from sklearn.feature_extraction.text import HashingVectorizer  # takes long to import

        hashing = HashingVectorizer(analyzer="char", ngram_range=self.ngrams, n_features=self.n_hashes)
        return hashing.transform([text or "" for text in texts]).toarray()
