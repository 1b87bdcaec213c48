"""Rows that differ: which experiment each comes from, what was acted on in it, and which rows belong together.

A row says nothing about the mechanism of a variable that was set in it, but it remains a sample of the other variables'
mechanisms. What else differs between experiments, sites or periods is a shift: an indicator of each environment may
explain any variable, and nothing explains the indicator. Rows of one group (a patient, a plot) are not independent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sartre.data.columns import is_missing
from sartre.settings import listed, suggestion

FEWEST_IN_ENVIRONMENT = 10  # rows: fewer say nothing about a shift
FEWEST_GROUPS = 20  # with ten, tests that hold between groups find nothing
FEWEST_ROWS_LEFT = 50  # of a variable's own mechanism, to describe it without the environments that shift it
SOFT, PERFECT = "soft", "perfect"


@dataclass(frozen=True, eq=False)
class RowDesign:
    """How the rows of a table differ; `read_design` makes one.

    Attributes
    ----------
    acted : boolean array of shape (n, d)
        Which values were set from outside.
    indicators : array of shape (n, k)
        1 in the rows of an environment, for all environments but the reference.
    environments : tuple of k strings
        Their names.
    reference : str
        The environment without an indicator; empty if there are no environments.
    shifted : boolean array of shape (k, d)
        Which variables an environment is known to shift (soft interventions), relative to the reference: what is
        shifted there is shifted the other way in all others.
    complete : boolean array of shape (k,)
        In which environments all that is acted on is known.
    groups : array of ints, shape (n,), or None
        The group of every row.
    is_indicator, forms_pairs : boolean arrays of shape (d,)
        Which columns of the table are indicators themselves, while they are candidates, and which may act jointly with
        others. The indicator of an environment in which something is known to be acted on acts alone.
    """

    acted: NDArray[np.bool_]
    indicators: NDArray[np.float64]
    environments: tuple[str, ...]
    reference: str
    shifted: NDArray[np.bool_]
    complete: NDArray[np.bool_]
    groups: NDArray[np.intp] | None
    is_indicator: NDArray[np.bool_]
    forms_pairs: NDArray[np.bool_]

    def take(self, rows: NDArray[np.intp]) -> RowDesign:
        """Return the design of some rows."""
        groups = None if self.groups is None else self.groups[rows]
        return replace(self, acted=self.acted[rows], indicators=self.indicators[rows], groups=groups)

    def select(self, columns: NDArray[np.intp]) -> RowDesign:
        """Return the design of some columns."""
        return replace(
            self,
            acted=self.acted[:, columns],
            shifted=self.shifted[:, columns],
            is_indicator=self.is_indicator[columns],
            forms_pairs=self.forms_pairs[columns],
        )

    @property
    def labels(self) -> NDArray[Any]:
        """The environment of every row, by name, shape (n,)."""
        names = np.array([*self.environments, self.reference], dtype=object)
        place = np.where(self.indicators.any(axis=1), self.indicators.argmax(axis=1) if self.environments else 0, -1)
        return names[place]

    @property
    def acting(self) -> NDArray[np.bool_]:
        """In which environments something is known to be acted on, shape (k,)."""
        set_in = self.indicators.T @ self.acted.any(axis=1) > 0
        return set_in | self.shifted.any(axis=1)

    @property
    def single_targets(self) -> dict[str, int]:
        """The environments that are known to act on one variable only, and which; none if the reference is one."""
        labels = self.labels
        acted_in = [self.acted[labels == name].any(axis=0) for name in (*self.environments, self.reference)]
        if acted_in.pop().any():
            return {}
        found = zip(self.environments, acted_in, self.shifted, self.complete, strict=True)
        targets = {name: np.flatnonzero(own | shifted) for name, own, shifted, complete in found if complete}
        return {name: int(columns[0]) for name, columns in targets.items() if len(columns) == 1}

    @property
    def offered(self) -> NDArray[np.bool_]:
        """Which environment may act directly on which variable, as far as an order is concerned, shape (k, d).

        If it is known what an environment acts on, it acts on nothing else: otherwise its indicator would explain away
        what acting on a cause does to its effects, which is what tells them apart.
        """
        return ~self.complete[:, None] | self.shifted

    def with_side_effects(self, environments: Collection[str]) -> RowDesign:
        """Return the design in which some environments may act on more than is known."""
        return replace(self, complete=self.complete & ~np.isin(self.environments, list(environments)))

    def leaving_out(self, shifts: Iterable[tuple[str, int]]) -> RowDesign:
        """Return the design in which environments are taken to set what they shift: (environment, column) pairs.

        A column keeps its rows if too few would be left to show its own mechanism.
        """
        acted, labels = self.acted.copy(), self.labels
        for environment, column in shifts:
            acted[labels == environment, column] = True
        few = (~acted).sum(axis=0) < FEWEST_ROWS_LEFT
        return replace(self, acted=np.where(few, self.acted, acted))


def check_rows_left(design: RowDesign | None, names: Sequence[str], n_missing: int, missing: str) -> None:
    """Refuse a design that no longer holds once missing values were treated.

    Imputed values would mix what was set with what was observed, so that missing values may only be dropped.
    """
    if design is None:
        return
    if n_missing and missing in ("bin", "impute") and design.acted.any():
        raise ValueError(
            f"Missing values cannot be treated by missing={missing!r} together with interventions, because values that "
            "were set would be imputed where they were not. Use missing='drop'."
        )
    lost = [names[j] for j in np.flatnonzero((~design.acted).sum(axis=0) < FEWEST_IN_ENVIRONMENT).tolist()]
    if lost:
        raise ValueError(
            f"Every variable needs at least {FEWEST_IN_ENVIRONMENT} rows in which it was not set. Got fewer for "
            f"{listed(lost)}. Provide more such rows, or leave these columns out."
        )
    empty = [e for e, n in zip(design.environments, design.indicators.sum(axis=0).tolist(), strict=True) if n == 0]
    if empty:
        raise ValueError(
            f"No row is left of the environments {listed(empty)}. Provide more rows, or leave these environments out."
        )


def without_columns(X: Any, names: Iterable[str]) -> Any:
    """Return a data frame without some columns, if it has them; anything else as it is."""
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame):
        return X
    dropped = [column for column in frame.columns if str(column) in set(names)]
    return frame.drop(dropped).to_native() if dropped else X


def own_columns(X: Any, names: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Take the columns that are named out of a data frame; arguments that are no names stay as they are.

    Parameters
    ----------
    X : array or data frame
    names : mapping
        ``environment`` and ``groups``: None, the name of a column, or one value per row.

    Examples
    --------
    >>> import pandas as pd
    >>> rest, found = own_columns(pd.DataFrame({"a": [1, 2], "site": ["p", "q"]}), {"environment": "site"})
    >>> list(rest.columns), found["environment"].tolist()
    (['a'], ['p', 'q'])
    """
    asked = {what: name for what, name in names.items() if isinstance(name, str)}
    if not asked:
        return X, dict(names)
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    columns = [str(name) for name in frame.columns] if isinstance(frame, nw.DataFrame) else []
    for what, name in asked.items():
        if name not in columns:
            raise ValueError(
                f"'{what}' must be the name of a column, or one value per row. Got {name!r}; "
                f"the columns are {listed(columns) or 'without names'}."
            )
    found = {what: frame[:, columns.index(name)].to_numpy() for what, name in asked.items()}
    kept = [column for column in frame.columns if str(column) not in asked.values()]
    return frame.select(kept).to_native(), {**names, **found}


def read_design(
    values: NDArray[np.float64],
    names: Sequence[str],
    environment: Any = None,
    interventions: Mapping[Any, Any] | None = None,
    groups: Any = None,
) -> RowDesign | None:
    """Check what is said about the rows of a table; None if nothing is.

    Parameters
    ----------
    values : array of shape (n, d)
    names : sequence of d strings
    environment : sequence of n values, optional
        The experiment, batch, site or period of each row.
    interventions : mapping, optional
        By value of `environment`, the names of the columns that were set in it, or ``("soft", names)`` for those that
        were shifted. Environments that are not named are observational.
    groups : sequence of n values, optional
        Rows with the same value belong together.

    Examples
    --------
    >>> X = np.zeros((30, 2))
    >>> design = read_design(X, ["a", "b"], ["control"] * 15 + ["drug"] * 15, {"drug": ["b"]})
    >>> design.acted.sum(axis=0).tolist(), design.environments, design.reference
    ([0, 15], ('drug',), 'control')
    """
    if environment is None and interventions:
        raise ValueError("'interventions' needs 'environment': the experiment that each row comes from.")
    if environment is None and groups is None:
        return None
    n, d = values.shape
    acted, indicators = np.zeros((n, d), dtype=bool), np.empty((n, 0))
    environments, reference = (), ""
    shifted, complete = np.zeros((0, d), dtype=bool), np.zeros(0, dtype=bool)
    if environment is not None:
        labels = _labels("environment", environment, n)
        targets = _targets({} if interventions is None else interventions, labels, names)
        environments, reference = _environments(labels, targets)
        _refuse_copies(labels, values, names)
        indicators = (labels[:, None] == np.array(environments, dtype=object)).astype(np.float64)
        shifted = np.array([[(SOFT, name) in targets.get(e, ()) for name in names] for e in environments], dtype=bool)
        shifted = shifted.reshape(len(environments), d)
        shifted |= [(SOFT, name) in targets.get(reference, ()) for name in names]  # relative to it all others are
        complete = np.array([bool(targets.get(e)) for e in environments], dtype=bool)
        for label, actions in targets.items():
            columns = [names.index(name) for kind, name in actions if kind == PERFECT]
            acted[np.ix_(labels == label, columns)] = True
    everywhere = [names[j] for j in np.flatnonzero(acted.all(axis=0)).tolist()]
    if everywhere:
        raise ValueError(
            f"Every row acts on {listed(everywhere)}, so nothing is known about the causes of these columns. Add rows "
            "in which they were left alone, or leave them out."
        )
    codes = None if groups is None else _groups(groups, n)
    variables = np.ones(d, dtype=bool)
    return RowDesign(acted, indicators, environments, reference, shifted, complete, codes, ~variables, variables)


def _labels(what: str, given: Any, n: int) -> NDArray[Any]:
    """Return one value per row, as text."""
    array = np.asarray(given, dtype=object)
    if array.shape != (n,):
        raise ValueError(f"'{what}' must have one value per row, {n} of them. Got the shape {array.shape}.")
    absent = [row for row, value in enumerate(array) if is_missing(value)]
    if absent:
        raise ValueError(
            f"'{what}' must say for every row where it belongs. Got no value in {len(absent)} rows, the first of them "
            f"row {absent[0]} (the first row is 0)."
        )
    return np.array([as_text(value) for value in array], dtype=object)


def as_text(value: Any) -> str:
    """Return a value as text, whole numbers without a decimal point: the conditions 1.0 and 1 are the same."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _refuse_copies(labels: NDArray[Any], values: NDArray[np.float64], names: Sequence[str]) -> None:
    """Refuse a table in which the environment is a variable, too."""
    codes = np.unique(labels, return_inverse=True)[1]
    if codes.max(initial=0) == 0:
        return
    for name, column in zip(names, values.T, strict=True):
        own = np.unique(column, return_inverse=True)[1]
        if own.max(initial=0) == codes.max() and len(np.unique(own * (codes.max() + 1) + codes)) == codes.max() + 1:
            raise ValueError(
                f"The environment is also a variable of the table, '{name}'. Leave that column out, or pass its name "
                f"instead of values: environment={name!r}."
            )


def _targets(
    interventions: Mapping[Any, Any], labels: NDArray[Any], names: Sequence[str]
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return what was acted on in each environment, as pairs of a kind and a name."""
    if not isinstance(interventions, Mapping):
        raise TypeError(
            "'interventions' must map environments to lists of column names. Got "
            f"{type(interventions).__name__} instead."
        )
    seen, found = set(labels.tolist()), {}
    for key, given in interventions.items():
        label = _label_meant(as_text(key), seen)
        if label in found:
            raise ValueError(f"'interventions' names the environment {label!r} twice. Give all of its targets at once.")
        kind, targets = PERFECT, given
        if isinstance(given, tuple) and len(given) == 2 and given[0] in (SOFT, PERFECT) and given[0] not in names:
            kind, targets = given
        if isinstance(targets, str) or not isinstance(targets, Sequence):
            raise TypeError(
                f"'interventions' must give a list of column names for {label!r}, or ('soft', list). Got {given!r}."
            )
        unknown = [str(name) for name in targets if name not in names]
        if unknown:
            raise ValueError(
                f"'interventions' acts on {listed(unknown)} in {label!r}, which are no columns of the table. The "
                f"columns are {listed(names)}.{suggestion(unknown[0], names)}"
            )
        found[label] = tuple((kind, str(name)) for name in targets)
    return found


def _label_meant(name: str, labels: Collection[str]) -> str:
    """Return the label that is named: the same text or, if there is only one such, the same number, as 01 and 1 are."""
    same = [name] if name in labels else [label for label in labels if _number(label) == _number(name) is not None]
    if len(same) != 1:
        raise ValueError(f"No row has the environment {name!r} of 'interventions'. There are {listed(sorted(labels))}.")
    return same[0]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _environments(
    labels: NDArray[Any], targets: Mapping[str, tuple[tuple[str, str], ...]]
) -> tuple[tuple[str, ...], str]:
    """Return the environments that have an indicator, and the reference: the largest in which nothing was acted on."""
    found, counts = np.unique(labels, return_counts=True)
    small = [str(label) for label, count in zip(found, counts, strict=True) if count < FEWEST_IN_ENVIRONMENT]
    if small:
        raise ValueError(
            f"Every environment needs at least {FEWEST_IN_ENVIRONMENT} rows. Got fewer in {listed(small)}. Merge "
            "environments, or say by 'groups' which rows belong together."
        )
    size = {str(label): (not targets.get(label), int(count)) for label, count in zip(found, counts, strict=True)}
    reference = max(sorted(size), key=lambda label: size[label])
    return tuple(label for label in sorted(size) if label != reference), reference


def _groups(groups: Any, n: int) -> NDArray[np.intp]:
    codes = np.unique(_labels("groups", groups, n), return_inverse=True)[1].astype(np.intp)
    n_groups = int(codes.max()) + 1
    if n_groups < FEWEST_GROUPS:
        raise ValueError(
            f"At least {FEWEST_GROUPS} groups are needed: what differs between groups is estimated from their number. "
            f"Got {n_groups}. Use 'environment' for a few sites or periods."
        )
    return codes
