"""Checks of what users pass to a structural model: values to set, pairs and rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sartre.data.checks import as_table
from sartre.settings import listed

if TYPE_CHECKING:
    from sartre.data.table import Table
    from sartre.graph.dag import Dag

Pair: TypeAlias = tuple[str, str, str]


def check_value(name: str, value: Any) -> float | NDArray[np.float64]:
    """Return the number, or the vector of numbers, that a variable is set to.

    Examples
    --------
    >>> check_value("x", 2)
    2.0
    """
    try:
        given = np.asarray(value)
    except ValueError:  # the rows have different lengths
        given = np.empty(0, dtype=object)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"'{name}' must be set to numbers. Got {value!r} instead.")
    values = given.astype(np.float64)
    if values.ndim > 1 or values.size == 0:
        raise ValueError(f"'{name}' must be set to a number or to a vector of numbers. Got shape {values.shape}.")
    if not np.isfinite(values).all():
        wrong = values[~np.isfinite(values)][0] if values.ndim else values
        raise ValueError(f"'{name}' must be set to finite numbers. Got {wrong}.")
    return values if values.ndim else float(values)


def check_pairs(pairs: Iterable[Pair], graph: Dag) -> tuple[Pair, ...]:
    """Return the pairs, sorted within and among each other; both members must be parents of the target.

    Examples
    --------
    >>> from sartre import Dag
    >>> check_pairs([("b", "a", "y")], Dag.from_edges([("a", "y"), ("b", "y")]))
    (('a', 'b', 'y'),)
    """
    found = set()
    for first, second, target in pairs:
        parents = graph.parents(target)
        if first == second or not {first, second} <= set(parents):
            raise ValueError(
                f"A pair must join two parents of its target. Got {first} and {second} for {target}, whose parents are "
                f"{', '.join(parents) or 'none'}."
            )
        found.add((min(first, second), max(first, second), target))
    return tuple(sorted(found))


def read_rows(rows: Any, names: Sequence[str]) -> Table:
    """Return rows as a table with the columns as given; they must be exactly the variables of the model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # in a few rows a column may well be constant
        given = as_table(rows)
    if set(given.names) != set(names):
        lone = sorted(set(given.names) ^ set(names))
        raise ValueError(
            f"The rows must have exactly the variables of the model. These are in only one of them: {', '.join(lone)}."
        )
    return given


def warn_outside(name: str, values: NDArray[np.float64] | float, limits: tuple[float, float]) -> None:
    """Warn if a variable is set to values outside the range of the data."""
    (low, high), wanted = limits, np.atleast_1d(values)
    far = wanted[(wanted < low) | (wanted > high)]
    if far.size:
        warnings.warn(
            f"'{name}' is set to {far[0]:g}, but the data range only from {low:g} to {high:g}. Beyond the data, the "
            "mechanisms continue as straight lines (those of pairs as constants, the joint part of a Gaussian process "
            "towards zero), which no row supports. Stay within "
            "the data.",
            UserWarning,
            stacklevel=4,
        )


def warn_undecided(
    cause: str,
    outcome: str,
    n_graphs: int | None,
    undecided: Sequence[tuple[str, str]],
    unchecked: Sequence[tuple[str, str]],
) -> None:
    """Warn that an effect depends on the directions of edges that are not decided, or were not checked.

    The number of graphs is None if no other graph can be fitted.
    """
    doubts = [
        f"arrows that {why}: {listed(f'{a} -- {b}' for a, b in edges)}"
        for why, edges in (("the data do not decide", undecided), ("were not checked", unchecked))
        if edges
    ]
    if doubts:
        verb = "depends" if n_graphs is not None else "may depend"
        told = (
            f"'lowest' and 'highest' give its range over {n_graphs} graphs that they allow."
            if n_graphs is not None
            else "Its range over the graphs that they allow needs the rows, which the model does not have."
        )
        warnings.warn(
            f"The effect of '{cause}' on '{outcome}' {verb} on {', and on '.join(doubts)}. {told} If you know a "
            "direction, say so in 'knowledge'.",
            UserWarning,
            stacklevel=4,
        )
