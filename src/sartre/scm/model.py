"""The fitted graph as a structural causal model: every variable is a function of its parents plus independent noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sartre.compute.parallel import blas_threads
from sartre.data.checks import as_table
from sartre.data.html_table import html_section
from sartre.data.table import Table
from sartre.graph.dag import Dag
from sartre.scm.answers import answered, tell_doubts
from sartre.scm.average import DIRECT, TOTAL, AverageEffect, step_of
from sartre.scm.checks import check_pairs, check_value, read_rows, warn_outside
from sartre.scm.effects import DIRECT_EFFECT, TOTAL_EFFECT
from sartre.scm.equations import Units, draw, fitted, predict, propagate, with_mechanisms
from sartre.scm.summary import KEPT_QUANTILES
from sartre.settings import check_bool, check_number, position_of, seed_of
from sartre.steps import WITHOUT_ROWS

if TYPE_CHECKING:
    from sartre.scm.alternatives import OpenDirections
    from sartre.scm.checks import Pair
    from sartre.scm.summary import ColumnSummary, Summary
    from sartre.settings import RandomState
    from sartre.steps import Mechanism

Intervention: TypeAlias = float | NDArray[np.float64] | Callable[[NDArray[np.float64]], Any]
GRID = np.linspace(0.05, 0.95, 10)  # quantiles of a cause at which its effect is shown: few rows lie beyond


@dataclass(frozen=True, eq=False, repr=False)
class StructuralModel:
    """x_j = f_j(parents of j) + noise_j for every variable j, with noises independent of each other.

    Each f_j is a sum of smooth functions of the parents and of the named pairs of parents (`additive/mechanism.py`) or,
    where the pruner found one, a Gaussian process (`process/mechanism.py`); the noise is resampled from the residuals
    of the training rows in which the variable was not set (`sartre.data.row_design`). All results assume that the graph
    is correct: each edge is real and points the right way, and there is no hidden common cause. Beyond the data, the
    functions are straight lines (those of pairs are constant, and the joint part of a process returns to zero), which
    nothing supports: an intervention there gives a warning.

    Attributes
    ----------
    table : Table
        The training rows.
    graph : Dag
        The graph, without the edges into variables that are set to a value.
    mechanisms : dict of Mechanism
        The mechanisms by name; their arguments are the parents, sorted by name.
    predicted : array of shape (n, d)
        The predictions of the mechanisms for the training rows.
    pairs : tuple of (first, second, target)
    interventions : dict
        The interventions made by `do`, by name.
    directions : OpenDirections, optional
        Which directions are not certain; `effect` says what depends on them. An intervention does not settle them.
    columns_kept : dict of ColumnSummary
        Empty, unless the rows were not kept (`sartre.load`): then `table` and `predicted` hold the means of groups of
        values and of noise (`sartre.scm.summary`), and intervals come from targets simulated from the fits.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rain = rng.normal(size=300)
    >>> table = pd.DataFrame({"rain": rain, "river": 2 * rain + rng.normal(size=300)})
    >>> scm = StructuralModel.fit(table, Dag.from_edges([("rain", "river")]))
    >>> scm
    StructuralModel: 2 variables, 1 edges, 0 pairs
    >>> scm.do({"rain": 1.0})
    StructuralModel: 2 variables, 1 edges, 0 pairs, do(rain)
    """

    table: Table
    graph: Dag
    mechanisms: dict[str, Mechanism]
    predicted: NDArray[np.float64]
    pairs: tuple[Pair, ...] = ()
    interventions: dict[str, Intervention] = field(default_factory=dict)
    directions: OpenDirections | None = None
    columns_kept: Mapping[str, ColumnSummary] = field(default_factory=dict)

    @classmethod
    def fit(cls, X: Any, dag: Dag, pairs: Iterable[Pair] = ()) -> StructuralModel:
        """Fit the mechanism of every variable of a graph.

        Parameters
        ----------
        X : array of shape (n, d) or data frame
        dag : Dag
            A graph over the same names, which is assumed to be correct.
        pairs : iterable of (first, second, target)
            Parents of a target that interact, by name.

        Examples
        --------
        >>> a, b = np.random.default_rng(0).normal(size=(2, 300))
        >>> table = pd.DataFrame({"a": a, "b": b, "y": a * b})
        >>> dag = Dag.from_edges([("a", "y"), ("b", "y")])
        >>> scm = StructuralModel.fit(table, dag, pairs=[("a", "b", "y")])
        >>> bool(scm.residuals["y"].std() < 0.001)
        True
        """
        table = as_table(X, min_rows=2)
        graph = dag.reindex(table.names)
        with blas_threads(1):  # there are many small products
            return fitted(cls(table, graph, {}, np.empty(0), check_pairs(pairs, graph)))

    @classmethod
    def of_mechanisms(
        cls,
        table: Table,
        dag: Dag,
        mechanisms: Mapping[str, Mechanism],
        pairs: Iterable[Pair] = (),
        directions: OpenDirections | None = None,
    ) -> StructuralModel:
        """Return the model of a graph whose mechanisms are known, by name; `table` has the rows they were fitted to."""
        model = cls(table, dag, {}, np.empty(0), check_pairs(pairs, dag), directions=directions)
        with blas_threads(1):
            return with_mechanisms(model, mechanisms)

    @classmethod
    def of_summary(
        cls,
        summary: Summary,
        dag: Dag,
        mechanisms: Mapping[str, Mechanism],
        pairs: Iterable[Pair] = (),
        directions: OpenDirections | None = None,
    ) -> StructuralModel:
        """Return the model of a graph whose mechanisms are known, from what is kept of the rows."""
        table = Table(np.asfortranarray(summary.values), tuple(dag.names))
        predicted = summary.values - summary.noise
        pairs = check_pairs(pairs, dag)
        return cls(table, dag, dict(mechanisms), predicted, pairs, {}, directions, dict(summary.columns))

    @property
    def names(self) -> list[str]:
        """Names of the variables, in column order."""
        return list(self.table.names)

    @property
    def held(self) -> list[str]:
        """Names of the variables that are set regardless of their causes."""
        return [name for name, value in self.interventions.items() if not callable(value)]

    @property
    def residuals(self) -> pd.DataFrame:
        """The noise of the training rows, with mean zero, from which `sample` draws; NaN where a variable was set."""
        if self.columns_kept:
            raise ValueError(WITHOUT_ROWS)
        own = np.column_stack([self.table.rows_of(j) for j in range(len(self.names))])
        return pd.DataFrame(np.where(own, self.table.values - self.predicted, np.nan), columns=self.names)

    def sample(self, n: int, random_state: RandomState = None) -> pd.DataFrame:
        """Draw n rows, causes before effects, with noise resampled from the training rows for each variable separately.

        Parameters
        ----------
        n : int
        random_state : int, Generator, RandomState or None
            The noise of a variable depends only on the seed and its name: the same seed gives the same noise with and
            without an intervention.
        """
        check_number("sample", "n", n, low=1, integer=True)
        return self._frame(propagate(self, draw(self, n, seed_of("sample", random_state))))

    def do(self, interventions: Mapping[str, Any]) -> StructuralModel:
        """Return the model in which some variables are set, regardless of their causes.

        Parameters
        ----------
        interventions : mapping of names
            Each name is mapped to a number, to an array with one value per sample, or to a function from the values
            (n,) that the variable would have had to those it gets (``lambda x: x + 1``). A number or an array cuts the
            edges from its parents.
        """
        if not isinstance(interventions, Mapping):
            raise TypeError(f"Interventions must be given by name, as in {{'x': 1.0}}. Got {interventions!r} instead.")
        held: dict[str, Intervention] = {}
        adjacency = self.graph.adjacency.copy()
        for name, value in ((str(name), value) for name, value in interventions.items()):
            j = self._position(name)
            if callable(value):
                held[name] = value
                continue
            held[name] = numbers = check_value(name, value)
            warn_outside(name, numbers, self._range(name))
            adjacency[:, j] = 0
        return replace(
            self,
            graph=Dag(adjacency, self.names),
            pairs=tuple(pair for pair in self.pairs if pair[2] not in held or callable(held[pair[2]])),
            interventions={**self.interventions, **held},
        )

    def counterfactual(self, rows: Any, do: Mapping[str, Any]) -> pd.DataFrame:
        """Return what these rows would have been under an intervention.

        Their noise, which is what the mechanisms do not explain, stays the same: variables that no intervention reaches
        keep their values exactly.

        Parameters
        ----------
        rows : data frame with a column for every variable
        do : mapping of names
            As in `do`; an array has one value per row.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> a = rng.normal(size=300)
        >>> table = pd.DataFrame({"a": a, "b": 2 * a + rng.normal(size=300)})
        >>> scm = StructuralModel.fit(table, Dag.from_edges([("a", "b")]))
        >>> scm.counterfactual(pd.DataFrame({"a": [0.0], "b": [5.0]}), do={"a": 1.0}).round(1)
             a    b
        0  1.0  7.0
        """
        if self.interventions:
            raise ValueError(
                "A counterfactual must start from a model without interventions. Name all interventions in its 'do'."
            )
        given = read_rows(rows, self.names)
        facts = given.values[:, [given.names.index(name) for name in self.names]]
        model = self.do(do)
        frame = model._frame(propagate(model, Units(facts, predict(self, facts))))  # noqa: SLF001 - the same class
        return frame.set_axis(rows.index if isinstance(rows, pd.DataFrame) else frame.index)[list(given.names)]

    def effect(
        self,
        cause: str,
        outcome: str,
        at: Any = None,
        *,
        baseline: float | None = None,
        n_samples: int = 2000,
        n_bootstrap: int = 100,
        level: float = 0.9,
        random_state: RandomState = None,
    ) -> pd.DataFrame:
        """Return the mean of an outcome when a cause is set to a value, E[outcome | do(cause = value)].

        The intervals are percentiles over bootstrap samples of the rows, with the mechanisms refitted to each. They
        account for sampling variation only. The graph and its pairs are assumed to be correct: the intervals do not
        account for the selection of edges on the same data, for wrong edges, for hidden common causes, for the bias of
        smoothing, or for extrapolation beyond the data.

        Parameters
        ----------
        cause, outcome : str
        at : number or sequence of numbers, optional
            Values of the cause; ten quantiles from 5 % to 95 % by default.
        baseline : float, optional
            Return contrasts instead, E[outcome | do(cause = value)] - E[outcome | do(cause = baseline)].
        n_samples : int
            Smallest number of draws per value; it is rounded up to a multiple of the number of rows, so that all noise
            is drawn equally often.
        n_bootstrap : int
        level : float
            Level of the intervals.
        random_state : int, Generator, RandomState or None

        See `average_effect` for the effect as one number.

        Returns
        -------
        DataFrame
            ``value``, ``mean``, ``low``, ``high``, and ``lowest`` and ``highest``: the range of the mean over the
            graphs that undecided and unchecked arrows allow and that the knowledge does not exclude (at most 100 of
            them, and without intervals); a warning names the arrows that matter. Without a directed path, the numbers
            are the same at each value.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> a = rng.normal(size=300)
        >>> table = pd.DataFrame({"a": a, "b": 2 * a + rng.normal(size=300)})
        >>> scm = StructuralModel.fit(table, Dag.from_edges([("a", "b")]))
        >>> found = scm.effect("a", "b", at=1.0, baseline=0.0, n_bootstrap=20, random_state=0)
        >>> bool(found["low"][0] < 2 < found["high"][0])
        True
        """
        _check_effort("effect", n_samples, n_bootstrap, level)
        ends = str(cause), str(outcome)
        values = self._values(*ends, at, baseline)
        effort = {"n_samples": n_samples, "n_bootstrap": n_bootstrap, "seed": seed_of("effect", random_state)}
        answer = answered(self, TOTAL_EFFECT, ends, values, **effort)
        if baseline is not None:
            values, answer = values[:-1], answer.minus(-1)
        tell_doubts(self, ends, answer)
        (low, high), (lowest, highest) = answer.interval(level), answer.range
        numbers = {"mean": answer.means[0], "low": low, "high": high, "lowest": lowest, "highest": highest}
        return pd.DataFrame({"value": values, **numbers})

    def average_effect(
        self,
        cause: str,
        outcome: str,
        *,
        direct: bool = False,
        n_samples: int = 2000,
        n_bootstrap: int = 100,
        level: float = 0.9,
        random_state: RandomState = None,
    ) -> AverageEffect:
        """Return the effect as one number: what raising a cause from its first to its third quartile does on average.

        The total effect is E[outcome | do(cause = third)] - E[outcome | do(cause = first)], through all paths. The
        direct effect raises the cause in the outcome's own mechanism only, with the other causes of the outcome as they
        are; it is zero unless the cause is a parent. If the quartiles are equal, the step is from the 5 % to the 95 %
        quantile or from the smallest to the largest value, as it is for a column with two values. What is said of the
        intervals of `effect` holds here too.

        Parameters
        ----------
        cause, outcome : str
        direct : bool
            Whether to return the direct effect; the total effect by default.
        n_samples, n_bootstrap, level, random_state : as in `effect`

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> a = rng.uniform(0, 2, size=300)
        >>> b = 3 * a + rng.normal(size=300)
        >>> table = pd.DataFrame({"a": a, "b": b, "c": a + b + rng.normal(size=300)})
        >>> scm = StructuralModel.fit(table, Dag.from_edges([("a", "b"), ("a", "c"), ("b", "c")]))
        >>> total, direct = (scm.average_effect("a", "c", direct=way, random_state=0) for way in (False, True))
        >>> bool(3.3 < total.effect < 4.5), bool(direct.low < 1 < direct.high), total.start < total.end
        (True, True, True)
        """
        _check_effort("average_effect", n_samples, n_bootstrap, level)
        check_bool("average_effect", "direct", direct)
        ends = str(cause), str(outcome)
        self._check_ends(*ends)
        values = step_of(self, ends[0])
        effort = {"n_samples": n_samples, "n_bootstrap": n_bootstrap, "seed": seed_of("average_effect", random_state)}
        answer = answered(self, DIRECT_EFFECT if direct else TOTAL_EFFECT, ends, values, **effort).minus(0)
        tell_doubts(self, ends, answer)
        numbers = (answer.means[0], *answer.interval(level), *answer.range)
        effect, low, high, lowest, highest = (float(number[0]) for number in numbers)
        kind, (start, end) = DIRECT if direct else TOTAL, values.tolist()
        return AverageEffect(*ends, kind, start, end, effect, low, high, level, lowest, highest)

    def quantiles(self, name: str, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return quantiles of a variable's values."""
        kept = self.columns_kept.get(name)
        if kept is not None:
            return np.interp(levels, KEPT_QUANTILES, kept.quantiles)
        return np.quantile(self.table.values[:, self.names.index(name)], levels)

    def is_binary(self, name: str) -> bool:
        """Return whether a variable has two values."""
        kept = self.columns_kept.get(name)
        return len(np.unique(self.table.values[:, self.names.index(name)])) == 2 if kept is None else kept.binary

    def _range(self, name: str) -> tuple[float, float]:
        low, high = self.quantiles(name, np.array([0.0, 1.0])).tolist()
        return low, high

    def _values(self, cause: str, outcome: str, at: Any, baseline: float | None) -> NDArray[np.float64]:
        """Return the values of a cause at which its effect is computed, with the baseline last."""
        self._check_ends(cause, outcome)
        values = np.unique(self.quantiles(cause, GRID)) if at is None else np.atleast_1d(check_value(cause, at))
        if baseline is not None:
            check_number("effect", "baseline", baseline, low=-np.inf, open_low=True)
            values = np.append(values, baseline)
        warn_outside(cause, values, self._range(cause))
        return values

    def _check_ends(self, cause: str, outcome: str) -> None:
        if self._position(outcome) == self._position(cause):
            raise ValueError(f"The cause and the outcome of an effect must be different. Got '{cause}' for both.")

    def _position(self, name: str) -> int:
        """Return the column of a variable that is not under an intervention."""
        if name in self.interventions:
            raise ValueError(f"'{name}' is already under an intervention. Start from the model without it.")
        return position_of(name, self.names, "variable")

    def _frame(self, values: NDArray[np.float64]) -> pd.DataFrame:
        """Return values with names; warn if a function set a variable beyond the data."""
        for name, held in self.interventions.items():
            if callable(held):
                j = self.names.index(name)
                warn_outside(name, values[:, j], self._range(name))
        return pd.DataFrame(values, columns=self.names)

    def _repr_html_(self) -> str:
        """Return a table of the variables, their causes, and the spread of their noise."""
        rows = []
        for j, name in enumerate(self.names):
            held = self.interventions.get(name)
            how = "" if name not in self.interventions else "set by a function" if callable(held) else f"set to {held}"
            own = self.table.rows_of(j)
            noise = float(np.std(self.table.values[own, j] - self.predicted[own, j]))
            rows.append((name, ", ".join(self.graph.parents(name)), noise, how))
        columns = [
            "variable",
            "causes",
            "noise (standard deviation)",
            *(["intervention"] if self.interventions else []),
        ]
        frame = pd.DataFrame([row[: len(columns)] for row in rows], columns=columns)
        return html_section(repr(self), (), frame)

    def __repr__(self) -> str:
        held = f", do({', '.join(self.interventions)})" if self.interventions else ""
        size = f"{len(self.names)} variables, {self.graph.n_edges} edges, {len(self.pairs)} pairs"
        return f"StructuralModel: {size}{held}"


def _check_effort(function: str, n_samples: int, n_bootstrap: int, level: float) -> None:
    check_number(function, "n_samples", n_samples, low=1, integer=True)
    check_number(function, "n_bootstrap", n_bootstrap, low=2, integer=True)
    check_number(function, "level", level, low=0.0, high=1.0, open_low=True)
