"""Steps are settings until they are fitted: each fit works on a fresh copy."""

from __future__ import annotations

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
