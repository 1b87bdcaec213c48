"""The contracts between steps: what orderers and pruners are, what a fitted pruner may offer, what a mechanism does.

A step is a scikit-learn estimator: it holds only settings until it is fitted, and each fit works on a fresh copy. Tags
describe its properties; the name of its class is never inspected.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from sartre.additive.mechanism import Curve


ORDERER = "an orderer such as SCORE(), or FixedOrder([...]) for a known order"
PRUNER = "a pruner such as SARTRE()"
WITHOUT_ROWS = (
    "This needs the rows that the model was fitted to, and the file that it was read from does not hold them. Save it "
    "with include_rows=True, or fit it again."
)


class Cost(NamedTuple):
    """A cost that `sartre plan` knows, by its key in ``plan/costs.json``, and the most rows that it applies to.

    serial: whether ``n_jobs`` does not affect it. max_columns: with more columns, it does not arise.
    """

    key: str
    max_rows: int | None = None
    serial: bool = False
    max_columns: int | None = None


@dataclass(frozen=True, kw_only=True)
class StepTags:
    """The properties of an orderer or pruner with its present settings; a step provides them as ``step_tags``.

    Attributes
    ----------
    needs_units : bool
        Whether the result depends on the units of the columns, so that the command line standardises them first.
    learns_order : bool
        Whether an orderer looks at the data; one with a given order does not.
    takes_row_source : bool
        Whether ``fit`` accepts a `sartre.data.row_source.Survey` in place of a table, and adds up its rows.
    seeks_likelihood : bool
        Whether an orderer looks for the order with the best likelihood, so that a better one, which is found while
        directions are weighed, may replace it.
    takes_experiments : bool
        Whether ``fit`` knows what the ``design`` of a table says: rows in which variables were set, environments and
        groups of rows (`sartre.data.row_design`).
    runs_on_gpu : bool
        Whether ``device="cuda"`` is a valid setting.
    costs : tuple of Cost, optional
        The costs that `sartre plan` adds up; None if nothing was measured.
    counting_cost : str, optional
        Key of the additional cost of each row of a row source.
    """

    needs_units: bool = False
    learns_order: bool = True
    takes_row_source: bool = False
    seeks_likelihood: bool = False
    takes_experiments: bool = False
    runs_on_gpu: bool = False
    costs: tuple[Cost, ...] | None = None
    counting_cost: str | None = None


def tags_of(step: Any) -> StepTags:
    """Return the tags of a step, or the defaults if it has none.

    Examples
    --------
    >>> from sartre.order import SCORE
    >>> tags_of(SCORE()).needs_units, tags_of("anything").costs is None
    (True, True)
    """
    return step.step_tags if hasattr(type(step), "step_tags") else StepTags()


class Findings(NamedTuple):
    """Optional results of a fitted pruner besides ``adjacency_matrix_`` and ``edges_``: these names followed by a `_`.

    interactions : data frame
        Pairs that interact: ``first``, ``second``, ``target``, ``p_value``.
    robust_targets : list of names
        Targets with robust tests.
    false_edges_bound : float
        Expected number of false edges if no column depended on another.
    rows_seen : dict
        The number of rows that each part used, by its name; a pruner that does not say used all of them.
    mechanisms : dict of Mechanism
        Mechanisms of some targets, by name; the others are additive, with the pairs above.
    notes : list of str
        What was left out, in sentences for the user.
    environment_effects : data frame
        What environments act on directly: ``environment``, ``variable``, ``strength``, ``p_value``, ``changes``.
    """

    interactions: pd.DataFrame | None
    robust_targets: Sequence[str]
    false_edges_bound: float | None
    rows_seen: Mapping[str, int]
    mechanisms: Mapping[str, Mechanism]
    notes: Sequence[str]
    environment_effects: pd.DataFrame | None

    def pairs(self) -> list[tuple[str, str, str]]:
        """Return the pairs as ``(first, second, target)``, by name."""
        if self.interactions is None:
            return []
        return list(self.interactions[["first", "second", "target"]].itertuples(index=False, name=None))


def findings_of(pruner: Any) -> Findings:
    """Return the findings of a fitted pruner; all but the bound may come from the pruner inside it (``prune_step_``).

    Examples
    --------
    >>> findings_of("a pruner without findings").pairs()
    []
    """
    inner = getattr(pruner, "prune_step_", None)

    def offered(name: str, default: Any) -> Any:
        return getattr(pruner, name, getattr(inner, name, default))

    return Findings(
        interactions=offered("interactions_", None),
        robust_targets=offered("robust_targets_", ()),
        false_edges_bound=getattr(pruner, "false_edges_bound_", None),
        rows_seen=offered("rows_seen_", {}),
        mechanisms=offered("mechanisms_", {}),
        notes=offered("notes_", ()),
        environment_effects=offered("environment_effects_", None),
    )


class Mechanism(Protocol):
    """The fitted function f(parents) of one target, in the units of the columns.

    It keeps coefficients, not the table; a Gaussian process keeps the parents' values at the rows it was fitted to.

    Its arguments are the parents in the order of their names: column k of `X` holds the values of parent k.
    """

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs of parents that interact, by their positions."""
        ...

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return f at the rows of X (m, p), shape (m,)."""
        ...

    def residuals(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return y - f(X), shape (m,); at a row that f follows closely, that of a function fitted without it."""
        ...

    def refit(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> Mechanism:
        """Return a function of the same kind and the same parents, fitted to other rows or units."""
        ...

    def curve(self, parent: int, x: NDArray[np.float64]) -> Curve:
        """Return the effect of one parent alone at the values x, with standard errors."""
        ...

    def surface(self, pair: tuple[int, int], x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the joint effect of two parents beyond their separate effects at the rows of x (m, 2), shape (m,)."""
        ...

    def loss_without(self, parent: int) -> float:
        """Return the share of the target's variance that is lost without a parent once the others are refitted.

        It is between 0 and 1, and what is explained by chance is not counted.
        """
        ...


def check_step(owner: str, name: str, step: Any, wanted: str) -> None:
    """Check a setting that holds another step: None, or an estimator with settings, not its class."""
    if step is None or (not isinstance(step, type) and hasattr(step, "fit") and hasattr(step, "get_params")):
        return
    raise TypeError(f"The '{name}' parameter of {owner} must be {wanted}. Got {step!r} instead.")


def fresh(step: Any, **settings: Any) -> Any:
    """Return an unfitted copy of a step in which each of these settings that is None, at any depth, is replaced.

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


def for_resamples(model: Any) -> Any:
    """Return an unfitted copy of a model to be fitted to many resamples: steps may do less there, if they say so.

    A step says so by a method ``for_resamples``, which returns its copy.

    Examples
    --------
    >>> from sartre import CausalDiscovery
    >>> for_resamples(CausalDiscovery()).prune
    SARTRE(joint=False)
    """
    model = clone(model)
    if "directions" in model.get_params(deep=False):
        model.set_params(directions=False)  # nobody asks for those of a resample
    if "verbose" in model.get_params(deep=False):
        model.set_params(verbose=0)
    if hasattr(model, "pruner"):
        model.set_params(prune=model.pruner())
    steps = {name: step for name, step in model.get_params().items() if hasattr(step, "for_resamples")}
    return model.set_params(**{name: step.for_resamples() for name, step in steps.items()})


class _SetByFit:
    """An attribute that only a fitted estimator has: `fit` sets it, and until then it raises ``NotFittedError``."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, estimator: Any, owner: type) -> Any:
        if estimator is None:
            return self
        raise NotFittedError(
            f"'{self._name}' of {owner.__name__} exists once the model is fitted. Call 'fit' with a table first."
        )


def set_by_fit() -> Any:
    """Return what stands for an attribute in the class of an estimator until `fit` sets it.

    ``hasattr`` is false until then, as the error is an ``AttributeError`` too.

    Examples
    --------
    >>> class Mean:
    ...     mean_ = set_by_fit()
    >>> hasattr(Mean(), "mean_")
    False
    >>> Mean().mean_
    Traceback (most recent call last):
    sklearn.exceptions.NotFittedError: 'mean_' of Mean exists once the model is fitted. Call 'fit' with a table first.
    """
    return _SetByFit()


class _RowsOfFit(_SetByFit):
    """The rows that a model was fitted to: without them, a model that was read from a file says so."""

    def __get__(self, estimator: Any, owner: type) -> Any:
        if estimator is None or not hasattr(estimator, "graph_"):
            return super().__get__(estimator, owner)
        raise ValueError(WITHOUT_ROWS)


def rows_of_fit() -> Any:
    """Return what stands for the rows in the class of a model until `fit` keeps them.

    Examples
    --------
    >>> class Loaded:
    ...     graph_ = "a -> b"
    ...     rows = rows_of_fit()
    >>> Loaded().rows
    Traceback (most recent call last):
    ValueError: This needs the rows that the model was fitted to, and the file that it was read from does not hold them.
    Save it with include_rows=True, or fit it again.
    """
    return _RowsOfFit()


def with_defaults(kind: type, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a pickle kept of an estimator, with the defaults of settings that did not exist when it was written.

    Examples
    --------
    >>> from sartre.order import RandomOrder
    >>> with_defaults(RandomOrder, {"order_": [1, 0]})
    {'random_state': None, 'order_': [1, 0]}
    """
    settings = list(inspect.signature(kind).parameters.values())
    return {setting.name: setting.default for setting in settings if setting.name not in state} | dict(state)


def fit_within(step: Any, *data: Any, **constraints: Any) -> Any:
    """Fit a step under the constraints that are not None; refuse a step whose ``fit`` does not accept one.

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
                f"{type(step).__name__}.fit must accept the argument '{name}' to obey this constraint. It accepts only "
                f"{', '.join(known)}. Add the argument, or use another step."
            )
    return step.fit(*data, **given)


def promised(step: Any, name: str) -> Any:
    """Return an attribute that a fitted step must have; refuse a step without it."""
    if not hasattr(step, name):
        raise TypeError(f"{type(step).__name__}.fit must set '{name}'. It did not. Set it there, or use another step.")
    return getattr(step, name)
