"""Checks of the functions' settings, in scikit-learn's error grammar, and the seed behind ``random_state``."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def check_choice(function: str, name: str, value: object, choices: Sequence[str]) -> None:
    """Check a setting that is one of a few words."""
    if value not in choices:
        *others, last = map(repr, choices)
        raise ValueError(_complaint(function, name, f"{', '.join(others)} or {last}", value))


def check_integer(function: str, name: str, value: object, low: int, high: float = np.inf) -> None:
    """Check a whole number in ``[low, high]``."""
    wanted = f"an int in the range [{low}, {'inf)' if high == np.inf else f'{high}]'}"
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(_complaint(function, name, wanted, value))
    if not low <= int(value) <= high:
        raise ValueError(_complaint(function, name, wanted, value))


def check_fraction(function: str, name: str, value: object) -> None:
    """Check a number in ``[0, 1]``."""
    wanted = "a float in the range [0.0, 1.0]"
    if not isinstance(value, Real):
        raise TypeError(_complaint(function, name, wanted, value))
    if not 0 <= float(value) <= 1:
        raise ValueError(_complaint(function, name, wanted, value))


def scale_range(function: str, name: str, value: Any) -> tuple[float, float]:  # noqa: ANN401 - the user's, unchecked
    """Return a positive number, or a pair of them, as the range ``(low, high)``."""
    wanted = "a float in the range (0.0, inf) or a pair (low, high) with 0 < low <= high < inf"
    low, high = value if isinstance(value, (tuple, list)) and len(value) == 2 else (value, value)
    if not (isinstance(low, Real) and isinstance(high, Real)):
        raise TypeError(_complaint(function, name, wanted, value))
    if not 0 < float(low) <= float(high) < np.inf:
        raise ValueError(_complaint(function, name, wanted, value))
    return float(low), float(high)


def seed_from(function: str, random_state: RandomState) -> int:
    """Return the whole number that all draws of a call follow from; a generator moves on, an int stays."""
    if isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        return int.from_bytes(random_state.bytes(16), "little")
    if random_state is None:
        return int.from_bytes(np.random.default_rng().bytes(16), "little")
    check_integer(function, "random_state", random_state, 0)
    return int(random_state)


def _complaint(function: str, name: str, wanted: str, value: object) -> str:
    return f"The '{name}' parameter of {function} must be {wanted}. Got {value!r} instead."
