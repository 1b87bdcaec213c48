"""What experiments show about the order, without any model: what changes when a variable is acted on comes after it.

The rows of an experiment in which one variable was acted on are compared with the reference rows, in which nothing was.
If another variable has another distribution there, then the one that was acted on is among its causes. The test
is Neyman's for two samples: the means of four polynomials of the ranks, which respond to a shift, a spread and two
shapes more, are compared, and their sum of squares is a chi-square where nothing differs. If a variable that is never
acted on stays as it was, though the rows would have shown a noticeable change, then it is taken to come first.

This takes for granted that an experiment acts on nothing but its target. Experiments whose changes contradict each
other, or what is known, show nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri

from sartre.additive.bases.rank_polynomials import DEGREE, rank_polynomials
from sartre.graph.paths import transitive_closure

if TYPE_CHECKING:
    from sartre.data.table import Table

FALSE_CLAIMS = 1e-3  # changes expected to be claimed per table where no experiment changes anything
NOTICEABLE = 0.1  # sum of squares of the means of the four polynomials: a shift by a third of a standard deviation
UNCHANGED = 0.2  # p-value above which nothing speaks for a change
UNCHANGED_EVIDENCE = 6.0  # nats: 3 of 150 edges that were ordered so on development seeds contradict it


class Changes(NamedTuple):
    """What each experiment changes, [acted on, changed], both of shape (d, d).

    evidence: minus the log p-value of a change, zero where the test does not reject. unchanged: the p-value where there
    is no sign of a noticeable change of a variable that is never acted on, otherwise zero.
    """

    evidence: NDArray[np.float64]
    unchanged: NDArray[np.float64]


class ShownOrder(NamedTuple):
    """Which variables come before which, both of shape (d, d), [earlier, later].

    before: by what is known and what is shown, transitively closed. evidence: in nats; infinite for what is known.
    """

    before: NDArray[np.bool_]
    evidence: NDArray[np.float64]


def shown_order(changes: Changes, known: NDArray[np.bool_]) -> ShownOrder:
    """Return the order that experiments show, which agrees with what is known (d, d), [earlier, later].

    What changes comes first, and then what does not, the plainest first, as far as it contradicts nothing. A chain
    shows as much as its weakest link.

    Examples
    --------
    >>> evidence = np.array([[0.0, 20.0, 0.0], [0.0, 0.0, 30.0], [0.0, 0.0, 0.0]])
    >>> shown = shown_order(Changes(evidence, np.zeros((3, 3))), np.zeros((3, 3), dtype=bool))
    >>> shown.evidence[0].tolist()
    [0.0, 20.0, 20.0]
    """
    direct = changes.evidence.copy()
    while True:
        before = transitive_closure(known | (direct > 0))
        disputed = ((direct > 0) & before.T).any(axis=1)
        if not disputed.any():
            break
        direct[disputed] = 0.0
    acted, stays = np.nonzero(changes.unchanged)
    for k in np.argsort(-changes.unchanged[acted, stays], kind="stable").tolist():
        earlier, later = stays[k], acted[k]
        if not (before[earlier, later] or before[later, earlier]):
            direct[earlier, later] = UNCHANGED_EVIDENCE
            up_to, from_on = before[:, earlier].copy(), before[later].copy()
            up_to[earlier] = from_on[later] = True
            before |= np.outer(up_to, from_on)
    evidence = np.where(known, np.inf, direct)
    for between in range(len(evidence)):
        evidence = np.maximum(evidence, np.minimum(evidence[:, between, None], evidence[None, between]))
    return ShownOrder(before, evidence)


def shown_by_experiments(table: Table) -> Changes:
    """Return what the experiments of a table with one target each change, compared with the reference.

    There is nothing where the reference is an experiment itself, or where rows belong to groups, of which the test
    knows nothing.

    Parameters
    ----------
    table : Table
        Numbers, none missing.

    Examples
    --------
    >>> from sartre.data.read_design import with_design
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 600))
    >>> where = np.repeat(["observed", "a set", "b set"], 200)
    >>> a[where == "a set"] *= 0.1
    >>> b[where != "b set"] += 2 * a[where != "b set"]
    >>> table = with_design(np.column_stack([a, b]), where, {"a set": ["x0"], "b set": ["x1"]})
    >>> (shown_by_experiments(table).evidence > 0).tolist()
    [[False, True], [False, False]]
    """
    design, d = table.design, table.shape[1]
    changes = Changes(np.zeros((d, d)), np.zeros((d, d)))
    targets = {} if design is None or design.groups is not None else design.single_targets
    if design is None or not targets:
        return changes
    labels = design.labels
    reference = labels == design.reference
    level = FALSE_CLAIMS / (len(targets) * max(1, d - 1))
    never_acted_on = ~np.isin(np.arange(d), list(targets.values()))
    for environment, target in targets.items():
        rows = np.flatnonzero(reference | (labels == environment))
        own = labels[rows] == environment
        p_value = _p_values_of_no_change(table.values[rows], own)
        others = np.arange(d) != target
        shows = others & (p_value < level)
        changes.evidence[target, shows] = np.maximum(changes.evidence[target, shows], -np.log(p_value[shows]))
        if own.sum() * (~own).sum() / len(own) * NOTICEABLE > chdtri(DEGREE, level):
            stays = others & never_acted_on & (p_value > UNCHANGED)
            changes.unchanged[target, stays] = p_value[stays]
    return changes


def _p_values_of_no_change(X: NDArray[np.float64], acted_on: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Test for each column (n, d) whether its distribution differs between some rows and the others."""
    polynomials = rank_polynomials(X)
    within, outside = int(acted_on.sum()), int((~acted_on).sum())
    difference = polynomials[:, acted_on].mean(axis=1) - polynomials[:, ~acted_on].mean(axis=1)
    statistic = (within * outside / len(X)) * (difference**2).sum(axis=1)
    n_polynomials = np.maximum(polynomials.any(axis=1).sum(axis=1), 1)
    return np.maximum(chdtrc(n_polynomials, statistic), np.finfo(float).tiny)
