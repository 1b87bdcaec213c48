"""Causal discovery in two steps: learn an order, then prune its fully connected graph."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from sartre.compute.compiling import compilation_logged
from sartre.compute.progress import progress
from sartre.data.batches import MISSING_IN_BATCHES
from sartre.data.checks import MIN_ROWS, as_table
from sartre.data.missing import read_table
from sartre.data.read_design import named_columns, with_design
from sartre.data.row_design import check_rows_left, without_columns
from sartre.data.row_source import Survey, survey, survey_of_table
from sartre.evidence.diagnostics import Diagnostics, diagnose
from sartre.evidence.directions import direction_columns
from sartre.evidence.environments import environments_table
from sartre.evidence.hidden_causes import HiddenCauses
from sartre.evidence.shapes import edge_shapes
from sartre.knowledge.knowledge import constraints
from sartre.learning import DiscoveryRun, all_or_nothing, check_takes_design
from sartre.order import OrderSearch
from sartre.prune import SARTRE
from sartre.prune.mechanisms import fit_mechanisms, refit_mechanisms
from sartre.scm import StructuralModel, seen_interventions
from sartre.scm.learnt import learnt_model, open_directions
from sartre.settings import check_bool, check_choice, check_jobs_and_seed, check_number, listed, sample_seed, seed_of
from sartre.steps import (
    ORDERER,
    PRUNER,
    check_step,
    findings_of,
    fresh,
    rows_of_fit,
    set_by_fit,
    tags_of,
    with_defaults,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from sartre.data.table import Table
    from sartre.evidence.stability import Stability
    from sartre.graph.dag import Dag
    from sartre.graph.pdag import Pdag
    from sartre.knowledge.knowledge import Knowledge
    from sartre.plan import Plan
    from sartre.settings import RandomState
    from sartre.steps import Mechanism

COMPUTED_LATER = ("edges_", "scm_", "seen_interventions_", "diagnostics_", "_mechanisms")  # on first access
ONLY_LOADED = ("_scm_refusal", "_environments", "_replaced", "remarks_")  # of a model that was read from a file


class CausalDiscovery(BaseEstimator):
    """Learn a causal DAG from a table: any orderer, then any pruner.

    Parameters
    ----------
    order : orderer, optional
        ``fit(X)`` must set ``order_``; with prior knowledge it is called as ``fit(X, before=...)``. The default is
        `sartre.order.OrderSearch`.
    prune : pruner, optional
        ``fit(X, order)`` must set ``adjacency_matrix_`` and ``edges_``; with prior knowledge it is called as
        ``fit(X, order, candidates=..., required=...)``. The default is `sartre.prune.SARTRE`.
    knowledge : Knowledge, optional
        Prior knowledge about the columns, by name. It is checked before any work is done, and the result obeys it.
    missing : "error", "drop", "bin" or "impute"
        How to treat missing values; see the notes below.
    directions : bool
        Whether to weigh how much the data say about the direction of each edge.
    verbose : int
        With 1, `fit` shows its progress, in terminals and notebooks; with 0, nothing is printed.
    n_jobs, random_state : optional
        Passed on to every step that has such a setting and leaves it at None. More jobs pay with many rows or targets
        (`SARTRE` and `CAMPruning` fit targets in threads); the default order hardly uses them.

    Attributes
    ----------
    graph_ : Dag
        The learnt graph, with the names of the columns.
    order_ : array of shape (d,)
        Column indices, source first. Where the weighing of directions finds a better order than `OrderSearch` did, it
        is that one.
    adjacency_matrix_ : uint8 array of shape (d, d)
        Entry (i, j) is 1 if i is a parent of j.
    edges_ : DataFrame
        The edges, with the pruner's evidence for each, and what is known about its direction: ``direction`` is
        ``"decided"`` by the data, ``"undecided"``, ``"known"`` (by `knowledge` or a given order) or ``"unchecked"``;
        ``direction_evidence`` is the log likelihood, in nats, that the best order with the edge turned would lose (more
        than 4 decide), and ``direction_confidence`` how likely the direction is right if the model is. Unchecked are
        categories, columns with missing values (imputed ones too) or fewer than ten distinct values, and tables of more
        than 100 columns. ``shape`` says how the target follows the source, the other causes held fixed: ``"rising"``,
        ``"falling"``, ``"U-shaped"``, ``"inverted U"``, ``"wavy"`` (more turns), ``"joint"`` (it acts together with
        another cause, and hardly on its own), ``"unclear"`` or, for categories, ``"by level"``. It is computed on first
        access.
    pdag_ : Pdag
        The graph with arrows where directions are decided or known, and lines elsewhere. Its `hidden` has the edges
        that are marked in ``hidden_causes_``, and the pairs that `knowledge` says are confounded; it is computed on
        first access.
    hidden_causes_ : DataFrame
        One row per edge for which it can be tested whether a hidden common cause would explain it as well or better:
        ``first``, ``second``, ``statistic``, ``p_value`` and ``mark`` (`sartre.evidence.hidden_causes`). It is computed
        on first access.
    environment_effects_ : DataFrame or None
        What environments act on directly, beyond what is known to be set: ``environment``, ``variable``, ``strength``,
        ``p_value`` and ``changes``, the parent whose effect is another one there, or "" for a shift.
    order_step_, prune_step_ : the fitted steps
    rows_seen_ : dict
        The number of rows that each part used: ``"order"``, and the parts that the pruner reports.
    fit_seconds_ : float
        The duration of the fit.
    diagnostics_ : Diagnostics
        What the data and the fit say about the assumptions (`sartre.evidence.diagnostics`), computed on first access.
    scm_ : StructuralModel
        The graph with a mechanism for every variable: samples, interventions, effects, counterfactuals. It is fitted
        on first access.
    environments_ : DataFrame or None
        One row per environment: its name, its number of rows, and the variables that were ``set`` or ``shifted`` in it.
    seen_interventions_ : DataFrame or None
        The means in every environment in which variables were set, compared with those that ``scm_`` predicts
        (`sartre.scm.seen_interventions`), computed on first access.

    Notes
    -----
    **Columns.** Numbers and booleans are used as numbers, and so is an ordered pandas categorical, by its position in
    the order. Other categoricals, polars enums and text are categories, with at most min(n / 10, 100) levels (five are
    always allowed). Columns with more levels (ids, free text), dates, numbers written as text, and columns that mix
    text and numbers are refused with a reason. The names of the levels do not affect the result.

    As a parent, a category has one bin per level; its test is the F test of all its levels together. As a target, a
    category of two levels is regressed as 0 and 1. One with more levels is regressed through the indicator of every
    level with at least ten samples, each tested at an equal share of the significance level; a variable that any of
    these regressions needs is a parent. Least squares on indicators is an approximation: its tests are those of a
    linear probability model, and they are robust where the variance requires it. Categories of up to five levels take
    part in interactions.

    Orderers see numbers only, and most of them assume continuous noise. Two levels become 0 and 1; three or more are
    replaced by scores along the main direction of the data (`sartre.data.category_codes.scored`). The position of a
    category in the order is not reliable (`SCORE` puts it first whatever the data say); a warning says so unless
    `knowledge` or a fixed order settles the position.

    **Missing values.** They are refused by default, with a count per column. ``"drop"`` leaves out every row that has
    one. ``"impute"`` fills them in: numbers by draws from scikit-learn's iterative imputer, and categories by the most
    common level (`sartre.data.missing.imputed`). Both give a warning. With ``"bin"``, missing is a value of its own for
    a parent, so that informative missingness is found; rows where the target is missing are left out of that target's
    regression only; and the orderer sees the imputed table. `SARTRE` and `CAMPruning` support ``"bin"``, `DAS` does
    not, and `CaPSPruning` supports neither ``"bin"`` nor categories.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> rain = rng.normal(size=500)
    >>> river = np.sin(2 * rain) + rng.normal(size=500) / 2
    >>> flood = river**2 / 2 + rng.normal(size=500) / 2
    >>> table = pd.DataFrame({"flood": flood, "rain": rain, "river": river})
    >>> CausalDiscovery(random_state=0).fit(table).graph_
    Dag: 3 variables, 2 edges
      rain -> river
      river -> flood
    """

    graph_: Dag = set_by_fit()
    order_: NDArray[np.intp] = set_by_fit()
    adjacency_matrix_: NDArray[np.uint8] = set_by_fit()
    pdag_: Pdag = set_by_fit()
    environment_effects_: pd.DataFrame | None = set_by_fit()
    order_step_: Any = set_by_fit()
    prune_step_: Any = set_by_fit()
    rows_seen_: dict[str, int] = set_by_fit()
    fit_seconds_: float = set_by_fit()
    _table: Table = rows_of_fit()

    remarks_: tuple[str, ...]  # of a model that was read from a file

    def __init__(
        self,
        order: Any = None,
        prune: Any = None,
        *,
        knowledge: Knowledge | None = None,
        missing: str = "error",
        directions: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.order = order
        self.prune = prune
        self.knowledge = knowledge
        self.missing = missing
        self.directions = directions
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002 - pipelines pass it
        *,
        environment: Any = None,
        interventions: Any = None,
        groups: Any = None,
    ) -> CausalDiscovery:
        """Learn the graph of a table's columns.

        Parameters
        ----------
        X : array of shape (n, d) or data frame
            At least 10 rows and 2 columns, of numbers or of categories.
        y : ignored
            For pipelines of scikit-learn.
        environment : name of a column, or n values, optional
            The experiment, batch, site or period of each row; never an effect of anything, and not part of the graph.
            What an environment shifts is in ``environment_effects_``.
        interventions : mapping, optional
            By value of `environment`, the columns that were set in it, or ``("soft", columns)`` for those that were
            shifted. A row says nothing about the causes of a variable that was set in it. Environments that are not
            named are observational.
        groups : name of a column, or n values, optional
            Rows that belong together (patients, plots) and are not independent. Tests are then robust. With
            ``("centred", groups)`` the mean of each group is taken off first, so that only differences within groups
            count.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> a, b, noise = rng.normal(size=(3, 400))
        >>> a[200:] = b[200:] + noise[200:]  # b causes a, but for the first half of the rows, where a was set
        >>> environment = np.repeat(["a set", "observed"], 200)
        >>> model = CausalDiscovery(random_state=0)
        >>> model.fit(np.column_stack([a, b]), environment=environment, interventions={"a set": ["x0"]}).graph_
        Dag: 2 variables, 1 edges
          x1 -> x0
        """
        start = perf_counter()
        self._check_settings()
        seed = seed_of("CausalDiscovery", self.random_state) if self.missing in ("bin", "impute") else 0
        said = with_design(X, environment, interventions, groups)
        table = read_table(said, self.missing, seed, min_rows=MIN_ROWS, min_columns=2)
        check_rows_left(table.design, table.names, int((table.missing | table.incomplete).sum()), self.missing)
        check_takes_design(table, self.orderer(), self.pruner())
        data: Table | Survey = table
        if table.is_long and tags_of(self.pruner()).takes_row_source:
            data = survey_of_table(table, sample_seed("CausalDiscovery", self.random_state))
        with all_or_nothing(self), self._progress():
            self._named = named_columns(environment, groups)
            return self._learn(data, table, seed, start)

    def fit_batches(self, source: Any) -> CausalDiscovery:
        """Learn the graph from rows that are read batch by batch, in two passes: they need not fit into memory.

        The first pass draws a sample of 50,000 rows, from which the order and the smooths are learnt;
        the second adds up what the pruner needs to know about all rows. The sample depends only on the seed and on the
        row numbers, so the graph equals that of `fit` on the same rows, however they are split into batches. With at
        most 50,000 rows, this is `fit`. ``rows_seen_`` says how many rows each part used; ``diagnostics_``, ``scm_``
        and `report` describe the sample.

        Parameters
        ----------
        source : path of a Parquet file or folder, Arrow data, list of tables, function, or Dask data frame
            As in `sartre.data.batches.Batches`; the partitions of a Dask data frame are counted where they are.
            All columns must be numeric; rows with missing values are refused or, with ``missing="drop"``, left out.
            The pruner must have the tag ``takes_row_source``, as `sartre.prune.SARTRE` does: its ``fit`` receives a
            `sartre.data.row_source.Survey` in place of a table.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x0 = rng.normal(size=500)
        >>> X = np.column_stack([x0, np.sin(2 * x0) + rng.normal(size=500) / 2])
        >>> CausalDiscovery(random_state=0).fit_batches([X[:300], X[300:]]).graph_
        Dag: 2 variables, 1 edges
          x0 -> x1
        """
        start = perf_counter()
        self._check_settings()
        check_choice("CausalDiscovery.fit_batches", "missing", self.missing, MISSING_IN_BATCHES)
        if not tags_of(self.pruner()).takes_row_source:
            raise TypeError(
                "The 'prune' parameter of CausalDiscovery must be a pruner with the tag 'takes_row_source' for "
                f"fit_batches. Got {self.prune!r} instead. Use SARTRE, or fit a sample of the rows."
            )
        with self._progress("Reading the rows"):
            found = survey(source, sample_seed("CausalDiscovery", self.random_state), self.missing)
        as_table(found.sample, min_columns=2)
        whole = found.whole()
        if whole is not None:
            return self.fit(whole)
        with all_or_nothing(self), self._progress():
            return self._learn(found, found.sample, 0, start)

    @contextmanager
    def _progress(self, first: str = "Learning the order") -> Iterator[None]:
        """Show progress, if asked for, and say when loops are compiled."""
        if not self.verbose:
            yield
            return
        with progress(first), compilation_logged():
            yield

    def orderer(self) -> Any:
        """Return the orderer, or the default one if none is set."""
        return OrderSearch() if self.order is None else self.order

    def pruner(self) -> Any:
        """Return the pruner, or the default one if none is set."""
        return SARTRE() if self.prune is None else self.prune

    def _check_settings(self) -> None:
        """Refuse invalid settings before any work is done; the steps check their own."""
        check_jobs_and_seed(self)
        check_bool("CausalDiscovery", "directions", self.directions)
        check_number("CausalDiscovery", "verbose", self.verbose, low=0, integer=True)
        check_step("CausalDiscovery", "order", self.order, ORDERER)
        check_step("CausalDiscovery", "prune", self.prune, PRUNER)

    def _learn(self, data: Table | Survey, table: Table, seed: int, start: float) -> CausalDiscovery:
        """Order, then prune, then describe. The orderer sees the sample of a survey; `table` is kept for later use."""
        for name in (*COMPUTED_LATER, *ONLY_LOADED):  # results of an earlier fit are discarded
            self.__dict__.pop(name, None)
        settings = {"n_jobs": self.n_jobs, "random_state": self.random_state}
        steps = fresh(self.orderer(), **settings), fresh(self.pruner(), **settings)
        run = DiscoveryRun(*steps, constraints(self, table.names), weighs=self.directions)
        run.learn(data, table, seed)
        self.order_step_, self.order_, self.prune_step_ = run.order_step, run.order, run.prune_step
        self.graph_, self.adjacency_matrix_ = run.graph, run.prune_step.adjacency_matrix_
        self._edges, self.environment_effects_ = run.edges, run.environment_effects
        self._table = run.rows_of_mechanisms(table)
        self._hidden = HiddenCauses(self, self._table)
        self.pdag_ = run.pdag.with_hidden(self._hidden.pairs)
        seen = findings_of(self.prune_step_).rows_seen or {"prune": len(table.values)}
        self.rows_seen_ = {"order": len(data.sample.values), **seen}
        self.fit_seconds_ = perf_counter() - start
        return self

    def _repr_svg_(self) -> str | None:
        """Return the learnt graph as a picture; None before the fit."""
        from sartre.report.svg import model_svg  # noqa: PLC0415 - drawing is a layer above learning

        return model_svg(self) if hasattr(self, "graph_") else None

    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **settings: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**settings)
        return bundle | {"text/html": self._html_repr()} if "text/html" in bundle else bundle

    def __dir__(self) -> list[str]:
        return list(object.__dir__(self))  # scikit-learn's computes what comes later

    def _html_repr(self) -> str:
        """Return what a notebook shows: the learnt graph or, before the fit, the settings."""
        from sartre.report.svg import model_html  # noqa: PLC0415 - drawing is a layer above learning

        return model_html(self) if hasattr(self, "graph_") else estimator_html_repr(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Read a pickle; those from before directions were weighed know only the directions of a given order."""
        super().__setstate__(with_defaults(type(self), state))
        if "edges_" in state and "direction" not in state["edges_"]:
            n_edges, given = len(self.edges_), not tags_of(self.order_step_).learns_order
            said = direction_columns(np.full(n_edges, np.nan), np.full(n_edges, given))
            self.edges_ = self.edges_.assign(**said)
            self.pdag_ = self.graph_.with_lines([] if given else self.graph_.edges)

    def plan(self, X: Any) -> Plan:
        """Estimate how much time and memory `fit` would take, without running it.

        Rows are taken for one sample: `environment`, `interventions` and `groups` are not counted.

        Parameters
        ----------
        X : array of shape (n, d), data frame, or the tuple (n, d)

        Returns
        -------
        Plan
            It prints as a table of the steps, with advice on those that take too long; `sartre.plan` explains how it
            is computed and how far it can be trusted.

        Examples
        --------
        >>> [step.name for step in CausalDiscovery().plan((2000, 20)).steps]
        ['order', 'pruning', 'directions']
        """
        from sartre.plan.estimate import plan, shape_of  # noqa: PLC0415 - only planning needs it

        self._check_settings()
        return plan(self, shape_of(X))

    def mechanisms(self, X: Any = None) -> dict[str, Mechanism]:
        """Return the fitted mechanism of every variable, by name: a function of its parents.

        Its arguments are the parents in the order of their names. The diagnostics, the report and `scm_` use the same
        mechanisms.

        Parameters
        ----------
        X : array of shape (n, d) or data frame, optional
            The rows of `fit` in other units, for functions in these units; by default, the rows as given to `fit`.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x0 = rng.normal(size=300)
        >>> x1 = 2 * x0 + rng.normal(size=300) / 3
        >>> model = CausalDiscovery(random_state=0).fit(np.column_stack([x0, x1]))
        >>> model.graph_.edges, model.mechanisms()["x1"].predict(np.array([[1.0]])).round(1).tolist()
        ([('x0', 'x1')], [2.0])
        """
        check_is_fitted(self, "graph_")
        if X is None:
            return self._mechanisms
        table = self._read_again(X)
        table = replace(table, design=self._table.design) if table.shape == self._table.shape else table
        if np.array_equal(table.values, self._table.values, equal_nan=True):
            return self._mechanisms
        if table.shape != self._table.shape or table.nominal != self._table.nominal:
            raise ValueError(
                f"'X' must hold the {len(self._table.values)} rows given to 'fit', in any units, with the same "
                f"categories. Got {len(table.values)} rows, with the categories "
                f"{listed(table.names[j] for j in table.nominal) or 'none'}. Pass the table that was fitted."
            )
        return refit_mechanisms(table, self.graph_, self._mechanisms)

    def _read_again(self, X: Any) -> Table:
        """Read the table of `fit` once more; columns that name environments or groups are not variables."""
        X = without_columns(X, self._named) if hasattr(self, "_named") else X
        return as_table(X, categories=True, missing=True).reordered(self.graph_.names)

    @cached_property
    def _mechanisms(self) -> dict[str, Mechanism]:
        findings = findings_of(self.prune_step_)
        return fit_mechanisms(self._table, self.graph_, findings.pairs(), findings.mechanisms)

    @cached_property
    def edges_(self) -> pd.DataFrame:
        """The edges with the evidence for each, and with the shapes of their functions."""
        check_is_fitted(self, "graph_")
        shapes = edge_shapes(self._edges, self.graph_, self._table, self.mechanisms())
        return self._edges.assign(shape=np.array(shapes, dtype=object))

    @cached_property
    def diagnostics_(self) -> Diagnostics:
        """What the data and the fit say about the assumptions."""
        check_is_fitted(self, "graph_")
        return diagnose(self, self._table)

    @property
    def hidden_causes_(self) -> pd.DataFrame:
        """For which edges a hidden common cause would explain what is seen as well or better."""
        check_is_fitted(self, "graph_")
        if not hasattr(self, "_hidden"):  # a pickle from before there were marks
            self._hidden = HiddenCauses(self, self._table)
        return self._hidden.frame

    @cached_property
    def scm_(self) -> StructuralModel:
        """The structural causal model of the graph, with the interacting pairs that the pruner found.

        It is fitted to the rows of `fit`, to which the model keeps a reference: a pickle of the model contains the
        rows, a `clone` does not. To share a model without its rows, share ``graph_``.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x0 = rng.normal(size=300)
        >>> x1 = np.sin(x0) + rng.normal(size=300) / 3
        >>> model = CausalDiscovery(random_state=0).fit(np.column_stack([x0, x1]))
        >>> model.scm_
        StructuralModel: 2 variables, 1 edges, 0 pairs
        """
        check_is_fitted(self, "graph_")
        refusal = getattr(self, "_scm_refusal", None)  # of a saved model that had none
        if refusal is not None:
            raise ValueError(refusal)
        known = constraints(self, self.graph_.names)
        directions = open_directions(self.graph_, self.edges_, known)
        pairs = findings_of(self.prune_step_).pairs()
        return learnt_model(self._table, self.graph_, self.mechanisms(), pairs, directions)

    @property
    def environments_(self) -> pd.DataFrame | None:
        """The environments: their rows, and what was acted on in them; None without environments."""
        check_is_fitted(self, "graph_")
        if "_environments" in vars(self):  # of a saved model
            return vars(self)["_environments"]
        return environments_table(self._table.design, self._table.names, getattr(self, "environment_effects_", None))

    @cached_property
    def seen_interventions_(self) -> pd.DataFrame | None:
        """What was seen under interventions, and what the model predicts for them; None without interventions."""
        environments = self.environments_
        if environments is None or not environments["set"].any():
            return None
        return seen_interventions(self.scm_, dict(zip(environments["environment"], environments["set"], strict=True)))

    def save(self, path: str | Path, *, include_rows: bool = False) -> None:
        """Write the fitted model to a file that `sartre.load` reads; it holds JSON and arrays, and no pickle.

        Everything that is derived from the rows is there: graph, edges, order, diagnostics, and the mechanisms, which
        predict the same. Of the rows themselves, it holds the following, each column on its own:

        - 12 quantiles of every column (its ends among them), and means of groups of at least ten values, and of ten
          residuals, of similar size;
        - of columns that act in pairs, up to 256 of their values.

        With them ``scm_`` still samples and computes effects, whose intervals then come from refitting the mechanisms
        to targets simulated from them. Gaussian processes consist of rows: additive functions take their place, and
        `load` says so.

        Parameters
        ----------
        path : str or Path
        include_rows : bool
            Whether to keep the rows of `fit` too, so that the model works as before, for those who may see them.

        Examples
        --------
        >>> import os, tempfile
        >>> import numpy as np
        >>> x0, noise = np.random.default_rng(0).normal(size=(2, 300))
        >>> model = CausalDiscovery(random_state=0).fit(np.column_stack([x0, np.sin(2 * x0) + noise / 2]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(os.path.join(folder, "model.sartre"))
        ...     os.listdir(folder)
        ['model.sartre']
        """
        from sartre.saving import save  # noqa: PLC0415 - files are a layer above learning

        save(self, path, include_rows=include_rows)

    def report(
        self,
        path: str | Path,
        X: Any = None,
        *,
        stability: Stability | None = None,
        include_data: bool = True,
        title: str | None = None,
        command: str | None = None,
    ) -> None:
        """Write a report of the fitted model as one HTML file; `sartre.report.write_report` says what it contains.

        `X` is the table the model was fitted to, in any units; by default, the table as it was given to `fit`.
        """
        from sartre.report import write_report  # noqa: PLC0415 - drawing is a layer above learning

        check_is_fitted(self)
        write_report(
            self,
            self._table if X is None else self._read_again(X),
            path,
            stability=stability,
            include_data=include_data,
            title=title,
            command=command,
        )
