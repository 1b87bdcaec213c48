"""Settings of estimators and functions, checked in one error grammar: name, requirement, value received, next step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def position_of(item: int | str, names: Sequence[str], what: str) -> int:
    """Return the position of a feature or variable given by its name or its index."""
    if isinstance(item, str):
        if item not in names:
            raise ValueError(f"'{item}' is not a {what} here. Choose one of {listed(names)}.{suggestion(item, names)}")
        return list(names).index(item)
    if not 0 <= item < len(names):
        raise ValueError(f"The index of a {what} must be in the range [0, {len(names) - 1}]. Got {item} instead.")
    return int(item)


def check_number(
    owner: str,
    name: str,
    value: Any,
    *,
    low: float,
    high: float = np.inf,
    integer: bool = False,
    open_low: bool = False,
    open_high: bool = False,
) -> None:
    """Check a numeric setting of a class or function, in scikit-learn's error grammar."""
    kind, word = (Integral, "an int") if integer else (Real, "a float")
    interval = f"{'(' if open_low else '['}{low}, {high}{')' if high == np.inf or open_high else ']'}"
    complaint = f"The '{name}' parameter of {owner} must be {word} in the range {interval}. Got {value!r} instead."
    if not isinstance(value, kind) or isinstance(value, (bool, np.bool_)):
        raise TypeError(complaint)
    number: Any = value  # compared as it is: an int beyond the largest double is still out of range
    if (
        not (low <= number <= high)
        or number == np.inf
        or (open_low and number == low)
        or (open_high and number == high)
    ):
        raise ValueError(complaint)


def check_choice(owner: str, name: str, value: object, choices: Sequence[str]) -> None:
    """Check a setting that must be one of a few words, in scikit-learn's error grammar."""
    if not isinstance(value, str) or value not in choices:
        *others, last = map(repr, choices)
        raise ValueError(
            f"The '{name}' parameter of {owner} must be {', '.join(others)} or {last}. Got {value!r} instead."
            f"{suggestion(value, choices) if isinstance(value, str) else ''}"
        )


def check_bool(owner: str, name: str, value: object) -> None:
    """Check a setting that is true or false, in scikit-learn's error grammar."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"The '{name}' parameter of {owner} must be a bool. Got {value!r} instead.")


def check_jobs(owner: str, n_jobs: Any) -> None:
    """Check a number of jobs: None, a positive number, or a negative one, which counts from all cores down."""
    complaint = (
        f"The 'n_jobs' parameter of {owner} must be None or an int other than 0. Got {n_jobs!r} instead. Use -1 for "
        "one job per core."
    )
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool)):
        raise TypeError(complaint)
    if n_jobs == 0:
        raise ValueError(complaint)


def check_jobs_and_seed(estimator: Any) -> None:
    """Check the settings ``n_jobs`` and ``random_state`` of an estimator, those that it has; no generator advances."""
    owner, settings = type(estimator).__name__, estimator.get_params(deep=False)
    check_jobs(owner, settings.get("n_jobs"))
    seed = settings.get("random_state")
    if seed is not None and not isinstance(seed, (np.random.Generator, np.random.RandomState)):
        seed_of(owner, seed)


def seed_of(owner: str, random_state: RandomState) -> int:
    """Return the integer that seeds all draws of a call; a generator advances, an int stays the same."""
    if isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        return int.from_bytes(random_state.bytes(16), "little")
    if random_state is None:
        return int.from_bytes(np.random.default_rng().bytes(16), "little")
    check_number(owner, "random_state", random_state, low=0, integer=True)
    return int(random_state)


def sample_seed(owner: str, random_state: RandomState) -> int:
    """Return the seed of a sample of rows: like `seed_of`, but 0 for None, so that a table keeps its sample."""
    return 0 if random_state is None else seed_of(owner, random_state)


def listed(items: Iterable[object], shown: int = 5) -> str:
    """Return the first few items as text, and how many more there are.

    Examples
    --------
    >>> listed("abcdefg"), listed(["a", "b"])
    ('a, b, c, d, e and 2 more', 'a, b')
    """
    texts = [str(item) for item in items]
    rest = len(texts) - shown
    return ", ".join(texts[:shown]) + (f" and {rest} more" if rest > 0 else "")


def suggestion(name: str, known: Iterable[object]) -> str:
    """Return a question that names what is most like a name that is not known, with a space before it, or nothing.

    Examples
    --------
    >>> suggestion("incme", ["age", "Income"]), suggestion("snow", ["age", "income"])
    (" Did you mean 'Income'?", '')
    """
    plain = {str(each).casefold(): str(each) for each in known}
    found = get_close_matches(str(name).casefold(), plain, n=1, cutoff=0.6)
    return f" Did you mean '{plain[found[0]]}'?" if found else ""
