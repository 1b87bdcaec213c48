"""Steps are settings until they are fitted: each fit works on a fresh copy."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.base import clone


def fresh(step: Any, **settings: Any) -> Any:  # noqa: ANN401 - any estimator, any settings
    """Return an unfitted copy of a step, in which every such setting that is None, at any depth, gets the given value.

    Examples
    --------
    >>> from sartre.prune import DAS, SARTRE
    >>> fresh(DAS(prune=SARTRE()), random_state=3, n_jobs=2).prune
    SARTRE(n_jobs=2, random_state=3)
    """
    step = clone(step)
    unset = {
        name: settings[name.rsplit("__", 1)[-1]]
        for name, value in step.get_params().items()
        if value is None and name.rsplit("__", 1)[-1] in settings
    }
    return step.set_params(**unset)


def fit_within(step: Any, *data: Any, **constraints: Any) -> Any:  # noqa: ANN401 - any estimator, any constraints
    """Fit a step under the constraints that are not None; a step whose ``fit`` does not take one is refused by name.

    Examples
    --------
    >>> from sartre.order import FixedOrder
    >>> fit_within(FixedOrder([1, 0]), [[1, 2], [3, 5]], before=None).order_
    array([1, 0])
    """
    given = {name: value for name, value in constraints.items() if value is not None}
    known = inspect.signature(step.fit).parameters
    open_ended = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in known.values())
    for name in given:
        if name not in known and not open_ended:
            raise TypeError(
                f"{type(step).__name__}.fit must take '{name}' to obey this. It takes {', '.join(known)} only; "
                "add the argument, or use another step."
            )
    return step.fit(*data, **given)
