"""Comparisons in which a claim can be seen: one for every panel and place on the axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

Method = tuple[str, str]
ABOUT = 1.1  # comparable: at most a tenth worse


def no_more(
    measure: str, method: Method, than: Method, factor: float = 1.0, **where: Sequence[object]
) -> Callable[[pd.DataFrame], list[bool]]:
    """Return a test: the mean of a measure is at most `factor` times that of another method, setting by setting.

    `where` names the settings that count, such as ``family=("ER1", "SF1")``. Trials count that both methods have.
    """
    return _compared(measure, method, than, lambda mine, other: mine <= factor * other + 1e-12, where)


def no_less(
    measure: str, method: Method, than: Method, **where: Sequence[object]
) -> Callable[[pd.DataFrame], list[bool]]:
    """Return a test: the mean of a measure is at least that of another method, setting by setting."""
    return _compared(measure, method, than, lambda mine, other: mine >= other - 1e-12, where)


def about_equal(measure: str, method: Method, to: Method, factor: float) -> Callable[[pd.DataFrame], list[bool]]:
    """Return a test: of two means neither is more than `factor` times the other, setting by setting."""
    return _compared(measure, method, to, lambda a, b: max(a, b) <= factor * min(a, b) + 1e-12, {})


def mean_of(measure: str, method: Method, **where: object) -> Callable[[pd.DataFrame], float]:
    """Return a figure: the mean of a measure over all rows of a method in some settings, NaN where there is none."""

    def figure(frame: pd.DataFrame) -> float:
        for name, value in where.items():
            frame = frame[frame[name] == value]
        return float(_of(frame, method, measure, ["trial"]).mean())

    return figure


def together(*tests: Callable[[pd.DataFrame], Sequence[bool]]) -> Callable[[pd.DataFrame], list[bool]]:
    """Return all the comparisons of several tests."""
    return lambda frame: [one for test in tests for one in test(frame)]


def _compared(
    measure: str,
    method: Method,
    than: Method,
    holds: Callable[[float, float], bool],
    where: dict[str, Sequence[object]],
) -> Callable[[pd.DataFrame], list[bool]]:
    def seen(frame: pd.DataFrame) -> list[bool]:
        for name, values in where.items():
            frame = frame[frame[name].isin(values)]
        keys = [name for name in ("study_data", "trial") if name in frame]
        mine, other = (_of(frame, method, measure, keys), _of(frame, than, measure, keys))
        both = mine.to_frame("mine").join(other.to_frame("other"), how="inner")
        means = both.groupby(level="study_data")[["mine", "other"]].mean()
        return [holds(a, b) for a, b in means.itertuples(index=False)]

    return seen


def _of(frame: pd.DataFrame, method: Method, measure: str, keys: list[str]) -> pd.Series:
    chosen = frame[(frame["order"] == method[0]) & (frame["prune"] == method[1])]
    return chosen.set_index(keys)[measure]
