"""Checks of a table: samples, copies, codes, parts of a whole, and rows of several kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from sartre.data.table import standardise_columns
from sartre.settings import listed

if TYPE_CHECKING:
    from sartre.data.table import Table

CODE_DISTANCE = 50  # an extreme value this many times as far from the median as all others looks like a code
EXACT_DEPENDENCE = 1e-5  # eigenvalue of the correlations below which columns determine each other, up to rounded values
SAMPLES_PER_VARIABLE = 10  # with fewer, a joint model of all variables is no longer possible
FEW_VALUES = 10  # a column with fewer distinct values has no continuous noise
EM_STEPS, ROWS_OF_GROUPS = 40, 5000  # of the mixture of two normal distributions
STARTS = ((0.25, 0.75), (0.4, 0.97), (0.03, 0.6))  # quantiles, for groups of equal and of different size
PLACES = (0.35, 0.5, 0.65)  # where the gap is looked for, between the two means
GAP, GAP_LEVEL = 0.2, 0.01  # number of rows in it, over that around a peak (at 0.3, 2 % of clean tables have one); test
SMALLEST_GROUP = 0.05  # share of the rows
POWER_STEPS = 30
FEWEST_COLUMNS, FEWEST_ROWS_OF_GROUPS = 3, 50


def about_samples(table: Table, copies: Sequence[tuple[str, str]]) -> list[str]:
    """Say if samples are few, and name copies and columns with few values."""
    n, d = table.shape
    messages = []
    if n < SAMPLES_PER_VARIABLE * d:
        messages.append(
            f"There are {n} samples for {d} variables, fewer than {SAMPLES_PER_VARIABLE} per variable: many true edges "
            "are missed, and the order is hardly better than chance. Use more samples, or fewer variables."
        )
    if copies:
        shown = listed([f"{a} and {b}" for a, b in copies])
        messages.append(
            f"Some columns are copies of each other: {shown}. Which of them has an edge is arbitrary. Keep one of each."
        )
    constant = table.constant
    few = [
        name
        for j, name in enumerate(table.names)
        if not constant[j] and (j in table.levels or len(np.unique(table.values[:, j])) < FEW_VALUES)
    ]
    if few:
        messages.append(
            f"Categories and columns with few values have no continuous noise: {listed(few)}. Their edges are tested, "
            "but the directions of these edges are not reliable. State known directions in 'knowledge'."
        )
    return messages


def about_codes(table: Table) -> list[str]:
    """Name the columns that hold a few whole numbers, three or more, which may be codes of categories."""
    shown = []
    for j, name in enumerate(table.names):
        values = np.unique(table.values[~np.isnan(table.values[:, j]), j])
        if j not in table.levels and 3 <= len(values) < FEW_VALUES and (values == np.round(values)).all():
            shown.append(f"{name} ({', '.join(f'{value:.12g}' for value in values)})")
    if not shown:
        return []
    message = (
        f"Some columns hold a few whole numbers and are used as numbers: {listed(shown)}. If they are codes of "
        "categories without an order, pass them as text or as a pandas categorical."
    )
    return [message]


def about_values(table: Table, numbers: Sequence[int]) -> list[str]:
    """Name values that are so far from all others of their column that they look like codes for missing ones."""
    shown = []
    for j in numbers:
        column = table.values[~np.isnan(table.values[:, j]), j]
        distance = np.abs(column - np.median(column))
        extreme = column[distance.argmax()] if len(column) else 0.0
        others = distance[column != extreme]
        if len(np.unique(column)) >= FEW_VALUES and distance.max() > CODE_DISTANCE * others.max():
            shown.append(f"{extreme:.12g} in {table.names[j]} ({(column == extreme).sum()} times)")
    if not shown:
        return []
    message = (
        f"Some values are far from all others in their column and look like codes for missing values: {listed(shown)}. "
        "They dominate every fit. Set them to missing, or correct them."
    )
    return [message]


def about_dependence(table: Table, numbers: Sequence[int], copies: Sequence[tuple[str, str]]) -> list[str]:
    """Name columns of which one is a linear function of the others, such as parts that add up to a whole."""
    repeated, constant = {second for _, second in copies}, table.constant
    columns = [j for j in numbers if table.names[j] not in repeated and not constant[j]]
    Z = standardise_columns(table.values[:, columns])
    if len(columns) < 3 or len(Z) <= len(columns):
        return []
    values, vectors = np.linalg.eigh(Z.T @ Z / len(Z))
    exact = vectors[:, values < EXACT_DEPENDENCE]
    names = [
        table.names[j] for j, size in zip(columns, np.abs(exact).max(axis=1, initial=0.0), strict=True) if size > 1e-3
    ]
    if not names:
        return []
    message = (
        f"Some columns are linear functions of each other, up to rounding: {listed(names)}. They have many edges "
        "that say nothing about causes. Leave one out or, if they are parts of a whole, use logarithms of their ratios."
    )
    return [message]


def about_groups(table: Table, numbers: Sequence[int]) -> list[str]:
    """Say if the rows fall into two groups along the main direction of the continuous columns.

    Functions of one group of rows can look like two as well, but hardly ever with a gap between them. Nothing is said
    where environments are known.
    """
    if table.design is not None and table.design.environments:
        return []
    constant = table.constant
    varied = [j for j in numbers if len(np.unique(table.values[:, j])) >= FEW_VALUES and not constant[j]]
    values = table.values[:: max(1, len(table.values) // ROWS_OF_GROUPS), varied]
    if len(varied) < FEWEST_COLUMNS or len(values) < FEWEST_ROWS_OF_GROUPS:
        return []
    Z = standardise_columns(values)
    vector = Z[np.square(Z).sum(axis=1).argmax()]
    for _ in range(POWER_STEPS):  # towards the first principal component, however many columns there are
        vector = Z.T @ (Z @ vector)
        vector /= max(float(np.linalg.norm(vector)), np.finfo(float).tiny)
    if not _has_gap(standardise_columns((Z @ vector)[:, None])[:, 0]):
        return []
    shown = [table.names[varied[k]] for k in np.argsort(-np.abs(vector), kind="stable")[:3]]
    message = (
        f"The rows fall into two groups, with hardly any rows between them; {', '.join(shown)} differ most. Whatever "
        "makes the groups acts like a hidden cause of all columns that differ. If you know the groups (batches, sites, "
        "kinds), name them by environment= (--environment on the command line), or learn one graph per group."
    )
    return [message]


def _has_gap(z: NDArray[np.float64]) -> bool:
    """Return whether standardised values (n,) have two peaks with a gap between them, beyond chance.

    Mixtures of two normal distributions say where to look. In a window between their means there must be far fewer
    values than in windows of the same width around both.
    """
    n_tests = len(STARTS) * len(PLACES)
    for start in STARTS:
        low, high, share = _mixture(z, np.quantile(z, start))
        width = (high - low) / 6
        peak = min(int((np.abs(z - centre) < width).sum()) for centre in (low, high))
        for place in PLACES:
            between = int((np.abs(z - low - place * (high - low)) < width).sum())
            deep = between < GAP * peak and SMALLEST_GROUP < share < 1 - SMALLEST_GROUP
            if deep and float(bdtr(between, between + peak, 0.5)) < GAP_LEVEL / n_tests:
                return True
    return False


def _mixture(z: NDArray[np.float64], mean: NDArray[np.float64]) -> tuple[float, float, float]:
    """Fit a mixture of two normal distributions, from two means; return its means, and the share of one of the two."""
    spread, share = np.full(2, 0.6), np.full(2, 0.5)
    for _ in range(EM_STEPS):
        log_density = np.log(share / spread)[:, None] - 0.5 * ((z - mean[:, None]) / spread[:, None]) ** 2
        weight = 1 / (1 + np.exp(np.clip(log_density[0] - log_density[1], -500, 500)))
        weights = np.stack([1 - weight, weight])
        total = np.maximum(weights.sum(axis=1), 1e-9)
        mean = weights @ z / total
        spread = np.sqrt((weights * (z - mean[:, None]) ** 2).sum(axis=1) / total).clip(0.1)
        share = (total / len(z)).clip(1e-3)
    return float(mean.min()), float(mean.max()), float(share[0])
