"""Comparisons that test a claim: one for every kind of data and every measure that the claim is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Seen = Callable[[pd.DataFrame], Sequence[bool]]
    Where = dict[str, Sequence[object]]

Method = tuple[str, str]
ABOUT = 1.1  # "comparable" means at most a tenth worse


def no_more(
    measure: str, method: Method, than: Method, factor: float = 1.0, *, margin: float = 0.0, **where: Sequence[object]
) -> Seen:
    """Return a test that a mean is at most `factor` times that of another method plus a margin, setting by setting.

    `where` names the settings that count, such as ``family=("ER1", "SF1")``. Only trials that both methods have count.
    """
    return lambda frame: _compared(frame, measure, (method, than), _at_most(factor, margin), where).tolist()


def about_equal(measure: str, method: Method, to: Method, factor: float) -> Seen:
    """Return a test that neither of two means is more than `factor` times the other, setting by setting."""

    def holds(a: float, b: float) -> bool:
        return max(a, b) <= factor * min(a, b) + 1e-12

    return lambda frame: _compared(frame, measure, (method, to), holds, {}).tolist()


def best(
    measures: Sequence[str], method: Method, others: Sequence[Method], factor: float = 1.0, **where: Sequence[object]
) -> Seen:
    """Return a test that no other method has a better mean, with one comparison per setting and measure.

    F1, precision and recall are better when larger. With a `factor`, the method may be that many times worse than the
    best. Methods that were not run are ignored.
    """

    def seen(frame: pd.DataFrame) -> list[bool]:
        outcomes: list[bool] = []
        for measure in measures:
            larger = measure in ("f1", "precision", "recall")
            pairs = [(other, method) if larger else (method, other) for other in others]
            against = [_compared(frame, measure, pair, _at_most(factor), where) for pair in pairs]
            held = pd.concat(against, axis=1, join="outer")
            outcomes += held.fillna(value=True).astype(bool).all(axis=1).tolist()
        return outcomes

    return seen


def grows(measure: str, method: Method, to: Method, axis: str) -> Seen:
    """Return a test that the ratio of two means is larger at the end of an axis than at its beginning, by family."""

    def seen(frame: pd.DataFrame) -> list[bool]:
        ends = [frame[frame[axis] == end] for end in (frame[axis].min(), frame[axis].max())]
        first, last = (_ratio(part, measure, method, to) for part in ends)
        return (last > first).tolist()

    return seen


def mean_of(measure: str, method: Method, **where: object) -> Callable[[pd.DataFrame], float]:
    """Return a function that gives the mean of a measure over the rows of a method in some settings, or NaN."""

    def figure(frame: pd.DataFrame) -> float:
        for name, value in where.items():
            frame = frame[frame[name] == value]
        return float(_of(frame, method, measure, ["trial"]).mean())

    return figure


def together(*tests: Seen) -> Seen:
    """Return all the comparisons of several tests."""
    return lambda frame: [one for test in tests for one in test(frame)]


def _at_most(factor: float, margin: float = 0.0) -> Callable[[float, float], bool]:
    return lambda mine, other: mine <= factor * other + margin + 1e-12


def _compared(
    frame: pd.DataFrame, measure: str, pair: tuple[Method, Method], holds: Callable[[float, float], bool], where: Where
) -> pd.Series:
    """Return whether a comparison of two means holds, one value per kind of data that both methods were run on."""
    for name, values in where.items():
        frame = frame[frame[name].isin(values)]
    mine, other = (_of(frame, method, measure, ["study_data", "trial"]) for method in pair)
    both = mine.to_frame("mine").join(other.to_frame("other"), how="inner")
    means = both.groupby(level="study_data")[["mine", "other"]].mean()
    return pd.Series([holds(a, b) for a, b in means.itertuples(index=False)], index=means.index, dtype=object)


def _ratio(frame: pd.DataFrame, measure: str, method: Method, to: Method) -> pd.Series:
    """Return the ratio of two methods' means, one value per family."""
    mine, other = (_of(frame, one, measure, ["family"]).groupby(level="family").mean() for one in (method, to))
    return mine / other


def _of(frame: pd.DataFrame, method: Method, measure: str, keys: list[str]) -> pd.Series:
    chosen = frame[(frame["order"] == method[0]) & (frame["prune"] == method[1])]
    return chosen.set_index(keys)[measure]
