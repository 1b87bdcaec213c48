"""Orderers and pruners as JSON: their names and settings. Only those of the library are made again."""

from __future__ import annotations

from dataclasses import asdict
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from sartre.additive.bases.trees import Embedding

PACKAGES = ("sartre.order", "sartre.prune")


class SavedStep(BaseEstimator):
    """A step that is not the library's, of which a file keeps the name and the settings; it cannot be fitted.

    Parameters
    ----------
    method : str
        Its class.
    settings : dict
        Its settings, as text where they are not plain values.
    """

    def __init__(self, method: str = "", settings: Any = None) -> None:
        self.method = method
        self.settings = settings

    def fit(self, *_: Any, **__: Any) -> None:
        """Refuse to be fitted."""
        raise TypeError(
            f"The step {self.method} is not part of sartre, so a saved model keeps only its name. Set the model's "
            "'order' and 'prune' before fitting it again."
        )


def step_to_plain(step: Any) -> dict[str, Any] | None:
    """Return the name and the settings of a step, or None for None.

    Examples
    --------
    >>> from sartre.order import FixedOrder
    >>> step_to_plain(FixedOrder([1, 0]))
    {'step': 'FixedOrder', 'settings': {'order': [1, 0]}}
    """
    if step is None:
        return None
    kind = type(step)
    settings = {name: _setting_to_plain(value) for name, value in step.get_params(deep=False).items()}
    if _known(kind.__name__) is kind:
        return {"step": kind.__name__, "settings": settings}
    if isinstance(step, SavedStep):
        return {"foreign": step.method, "settings": step.settings}
    return {"foreign": f"{kind.__module__}.{kind.__qualname__}", "settings": settings}


def step_of_plain(data: Any) -> Any:
    """Return an unfitted step.

    Examples
    --------
    >>> step_of_plain({"step": "FixedOrder", "settings": {"order": [1, 0]}})
    FixedOrder(order=[1, 0])
    >>> step_of_plain({"foreign": "os.system", "settings": {}})
    SavedStep(method='os.system', settings={})
    """
    if data is None:
        return None
    if "foreign" in data:
        return SavedStep(str(data["foreign"]), dict(data["settings"]))
    kind = _known(data["step"])
    if kind is None:
        raise ValueError(f"there is no step {data['step']!r:.40}")
    return kind(**{str(name): _setting_of_plain(value) for name, value in data["settings"].items()})


def _known(name: Any) -> type | None:
    """Return the class of the library with this name; no other code is ever found by a name."""
    for package in map(import_module, PACKAGES):
        found = getattr(package, name) if name in package.__all__ else None
        if isinstance(found, type) and hasattr(found, "fit"):
            return found
    return None


def _setting_to_plain(value: Any) -> Any:
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        value = None  # a generator is not kept
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and np.isfinite(value)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_setting_to_plain(item) for item in value]
    if isinstance(value, Embedding):
        return {"embedding": asdict(value)}
    if hasattr(value, "get_params") and not isinstance(value, type):
        return step_to_plain(value)
    return str(value)


def _setting_of_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return Embedding(**value["embedding"]) if "embedding" in value else step_of_plain(value)
    return value
