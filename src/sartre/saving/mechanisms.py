"""Fitted mechanisms as JSON and arrays: they predict the same after they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sartre.additive.bases.rank_polynomials import PairFunctions
from sartre.additive.bases.splines import Spline
from sartre.additive.design import Rotation, starts
from sartre.additive.gram import Gram
from sartre.additive.mechanism import AdditiveMechanism, ColumnTerm, FittedTerm, PairTerm, RankedColumn
from sartre.process.likelihood import Weights
from sartre.process.mechanism import ProcessMechanism

if TYPE_CHECKING:
    from sartre.saving.archive import ArrayStore, StoredArrays
    from sartre.steps import Mechanism

ADDITIVE, PROCESS = "additive", "process"
_NOTHING = np.empty(0)


def can_be_saved(mechanism: Mechanism, *, with_rows: bool) -> bool:
    """Return whether a file can hold a mechanism; a Gaussian process consists of rows.

    Examples
    --------
    >>> can_be_saved(AdditiveMechanism(0.0), with_rows=False)
    True
    """
    return isinstance(mechanism, AdditiveMechanism) or (with_rows and isinstance(mechanism, ProcessMechanism))


def mechanism_to_plain(mechanism: Mechanism, store: ArrayStore) -> dict[str, Any]:
    """Return a mechanism for JSON, its arrays put into the store."""
    if isinstance(mechanism, ProcessMechanism):
        weights = mechanism.weights
        return {
            "kind": PROCESS,
            **{name: store.put(getattr(mechanism, name)) for name in ("X", "y", "counts", "coefficients", "left_out")},
            "terms": [_column_to_plain(term, store) for term in mechanism.terms],
            "nominal": list(map(int, mechanism.nominal)),
            "joint": float(weights.joint),
            "noise": float(weights.noise),
            **{name: store.put(getattr(weights, name)) for name in ("within", "curve", "line")},
        }
    if not isinstance(mechanism, AdditiveMechanism):
        raise TypeError(f"A file can hold additive mechanisms and processes. Got {type(mechanism).__name__} instead.")
    return {
        "kind": ADDITIVE,
        "intercept": float(mechanism.intercept),
        "spread": float(mechanism.spread),
        "pairs": [list(map(int, pair)) for pair in mechanism.pairs],
        "nominal": list(map(int, mechanism.nominal)),
        "terms": [_term_to_plain(term, store) for term in mechanism.terms],
        "gram": None if mechanism.gram is None else _gram_to_plain(mechanism.gram, store),
    }


def mechanism_of_plain(data: Any, arrays: StoredArrays, n_parents: int) -> Mechanism:
    """Return the mechanism of a number of parents that a file holds."""
    nominal = _places(data["nominal"], n_parents)
    if data["kind"] == PROCESS:
        return _process_of_plain(data, arrays, n_parents, nominal)
    if data["kind"] != ADDITIVE:
        raise ValueError(f"a mechanism is of the kind {data['kind']!r:.20}")
    terms = tuple(_term_of_plain(term, arrays, n_parents) for term in data["terms"])
    gram = None if data["gram"] is None else _gram_of_plain(data["gram"], arrays)
    widths = [len(term.coefficients) for term in terms]
    if (gram is None) != (not terms) or (gram is not None and gram.rank.tolist() != widths):
        raise ValueError("a mechanism's terms do not fit together")
    pairs = tuple(_pair(pair, n_parents) for pair in data["pairs"])
    return AdditiveMechanism(float(data["intercept"]), terms, gram, pairs, nominal, float(data["spread"]))


def _process_of_plain(data: Any, arrays: StoredArrays, p: int, nominal: tuple[int, ...]) -> ProcessMechanism:
    X = arrays.any(data["X"], (None, p))  # NaN where missing
    rows = {name: arrays.get(data[name], (len(X),)) for name in ("y", "counts", "coefficients", "left_out")}
    within, curve, line = (arrays.get(data[name], (p,)) for name in ("within", "curve", "line"))
    weights = Weights(float(data["joint"]), float(data["noise"]), within, curve, line)
    terms = tuple(_column_of_plain(term, arrays) for term in data["terms"])
    if len(terms) != p:
        raise ValueError("a process does not have a term per parent")
    return ProcessMechanism(X=X, terms=terms, nominal=nominal, weights=weights, **rows)


def _term_to_plain(term: FittedTerm, store: ArrayStore) -> dict[str, Any]:
    functions = term.functions
    plain = (
        _column_to_plain(functions, store) if isinstance(functions, ColumnTerm) else _pair_to_plain(functions, store)
    )
    return {
        "columns": list(map(int, term.columns)),
        "functions": plain,
        "coefficients": store.put(term.coefficients),
        "covariance": store.put(term.covariance),
    }


def _term_of_plain(data: Any, arrays: StoredArrays, n_parents: int) -> FittedTerm:
    columns = _places(data["columns"], n_parents)
    if len(columns) == 1:
        functions = _column_of_plain(data["functions"], arrays)
    else:
        functions = _pair_of_plain(data["functions"], arrays)
        columns = _pair(data["columns"], n_parents)
    k = len(functions.roughness)
    return FittedTerm(
        columns, functions, arrays.get(data["coefficients"], (k,)), arrays.get(data["covariance"], (k, k))
    )


def _column_to_plain(term: ColumnTerm, store: ArrayStore) -> dict[str, Any]:
    """Leave out the bins of the splines, which hold values of the column and are not needed to predict."""
    smooth, turned = term.spline, term.rotation
    return {
        "spline": smooth and {"shift": smooth.shift, "scale": smooth.scale, "knots": store.put(smooth.knots)},
        "n_levels": int(term.n_levels),
        "knows_missing": bool(term.knows_missing),
        **{name: store.put(getattr(turned, name)) for name in turned._fields},
    }


def _column_of_plain(data: Any, arrays: StoredArrays) -> ColumnTerm:
    smooth, n_levels, knows_missing = data["spline"], int(data["n_levels"]), bool(data["knows_missing"])
    spline, width = None, n_levels
    if smooth is not None:
        knots = arrays.get(smooth["knots"], (None,))
        spline, width = Spline(_NOTHING, _NOTHING, float(smooth["shift"]), float(smooth["scale"]), knots), len(knots)
        width = 0 if len(knots) < 2 else width
    width = width + knows_missing
    vectors = arrays.get(data["vectors"], (None, None))
    if vectors.shape[0] not in (width, 0) or (n_levels and spline is not None):
        raise ValueError("the functions of a column do not fit together")
    k = vectors.shape[1]
    mean, squares = arrays.get(data["mean"], (vectors.shape[0],)), arrays.get(data["squares"], (k,))
    rotation = Rotation(mean, vectors, squares, arrays.get(data["roughness"], (k,)))
    return ColumnTerm(spline, n_levels, knows_missing, rotation)


def _pair_to_plain(term: PairTerm, store: ArrayStore) -> dict[str, Any]:
    functions = term.functions
    return {
        "sides": [{"values": store.put(side.values), "table": store.put(side.table)} for side in term.sides],
        "center": float(term.mean),
        **{name: store.put(getattr(functions, name)) for name in ("roughness", "mean", "vectors", "back")},
    }


def _pair_of_plain(data: Any, arrays: StoredArrays) -> PairTerm:
    sides = []
    for side in data["sides"]:
        values = arrays.get(side["values"], (None,))
        sides.append(RankedColumn(values, arrays.get(side["table"], (len(values), None))))
    first, second = sides
    width, k = (first.table.shape[1] - 1) * (second.table.shape[1] - 1), len(arrays.get(data["roughness"], (None,)))
    functions = PairFunctions(
        np.empty((0, 0)),
        arrays.get(data["roughness"], (k,)),
        arrays.get(data["mean"], (width,)),
        arrays.get(data["vectors"], (width, k)),
        arrays.get(data["back"], (k, width)),
    )
    if len(first.values) == 0 or len(second.values) == 0:
        raise ValueError("a pair has no values")
    return PairTerm((first, second), float(data["center"]), functions)


def _gram_to_plain(gram: Gram, store: ArrayStore) -> dict[str, Any]:
    return {"n": int(gram.n), **{name: store.put(getattr(gram, name)) for name in gram._fields if name != "n"}}


def _gram_of_plain(data: Any, arrays: StoredArrays) -> Gram:
    rank = arrays.get(data["rank"], (None,), "i").astype(np.intp)
    if (rank < 0).any():
        raise ValueError("a rank is negative")
    width, start = int(rank.sum()), starts(rank)
    matrix, cross = arrays.get(data["matrix"], (width, width)), arrays.get(data["cross"], (width, 1))
    roughness, n = arrays.get(data["roughness"], (width,)), int(data["n"])
    if n < 1 or (arrays.get(data["start"], (len(rank),), "i") != start).any():
        raise ValueError("inner products do not fit together")
    return Gram(n, matrix, cross, arrays.get(data["squares"], (1,)), start, rank, roughness)


def _places(numbers: Any, count: int) -> tuple[int, ...]:
    places = tuple(numbers)
    if not all(isinstance(place, int) and 0 <= place < count for place in places):
        raise ValueError(f"a mechanism of {count} parents has the columns {numbers!r:.40}")
    return places


def _pair(numbers: Any, count: int) -> tuple[int, int]:
    first, second = _places(numbers, count)
    return first, second
