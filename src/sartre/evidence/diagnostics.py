"""What the data and the fit say about the assumptions of causal discovery, in numbers and in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import chdtrc
from scipy.stats import kurtosis, normaltest, skew

from sartre.additive.bases.rank_polynomials import pair_basis, rank_polynomials
from sartre.additive.linear import explained_by_others
from sartre.data.checks import as_table, copies, near_copies
from sartre.data.html_table import html_section
from sartre.data.row_dependence import (
    REMEDY,
    RowSorting,
    dependence_between_rows,
    dependent_columns,
    neighbour_correlation,
    row_sorting,
)
from sartre.data.table import Table, standardise, standardise_columns
from sartre.evidence.graph_checks import about_bound, about_lines, about_roots, about_unchecked
from sartre.evidence.table_checks import (
    FEW_VALUES,
    about_codes,
    about_dependence,
    about_groups,
    about_samples,
    about_values,
)
from sartre.graph.paths import alignment
from sartre.prune.mechanisms import mechanisms_of, parent_columns
from sartre.settings import listed

if TYPE_CHECKING:
    from sartre.steps import Mechanism


WARNING_LEVEL = 0.001  # the level of all tests of one kind together
FEWEST_SAMPLES = 20  # samples that any test needs
SKEWED, NOT_NORMAL, HEAVY_NOISE = 0.5, 1.0, 3.0  # skewness and excess kurtosis; the last is that of Laplace noise
STILL_EXPLAINED = 0.01  # share of a residual that a parent must still explain, beyond chance, to be reported
NONE_FAILED = "none of the checks failed; they cannot see hidden common causes, selected samples or feedback"
SORTED, FEWEST_PATHS = 0.9, 6  # var-sortability that is reported, and the number of pairs it needs


@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics:
    """The findings of `diagnose`.

    Attributes
    ----------
    messages : tuple of strings
        A few sentences for each thing to worry about, with what to do; empty if there is none.
    nodes : DataFrame
        One row per variable: ``n`` (number of rows in which it was observed and not set), ``variance``, ``r2`` (of the
        linear regression on all others) and, for the residual given the parents, ``skewness``, ``kurtosis`` (0 if
        normal), ``normality`` (p-value of D'Agostino's test), ``independence`` (smallest p-value of the tests of
        independence of each parent, times their number), ``dependent_on`` (the parent with that p-value) and
        ``autocorrelation`` (of neighbouring rows). They are NaN for variables with fewer than ten distinct values or
        fewer than twenty samples.
    var_sortability, r2_sortability : float
        Share of the directed paths along which the variance, or r2, increases, with ties as one half (Reisach et al.,
        2021 and 2023): near 1/2 if it says nothing about the order, NaN if there is no path.
    copies : tuple of pairs of names
        Pairs of columns with an absolute correlation of at least 0.999.
    samples_per_variable : float
    """

    messages: tuple[str, ...]
    nodes: pd.DataFrame
    var_sortability: float
    r2_sortability: float
    copies: tuple[tuple[str, str], ...]
    samples_per_variable: float

    def _repr_html_(self) -> str:
        """Return the messages and the table of variables."""
        title = f"Diagnostics of {len(self.nodes)} variables"
        return html_section(title, self.messages or [NONE_FAILED], self.nodes)

    def __repr__(self) -> str:
        told = [f"  - {message}" for message in self.messages] or [f"  {NONE_FAILED}"]
        return "\n".join([f"Diagnostics of {len(self.nodes)} variables", *told])


class _Independence(NamedTuple):
    p_value: float
    parent: str
    share: float


def diagnose(model: Any, X: Any) -> Diagnostics:
    """Examine the assumptions behind a learnt graph.

    The residual of every variable is examined, given its mechanism: a function of its parents and of the pairs that
    interact. Nothing here proves an assumption; it can only show where one fails.

    Parameters
    ----------
    model : CausalDiscovery
        A fitted model; any object with ``graph_`` will do.
    X : array of shape (n, d) or data frame
        The data it was fitted to, with missing values and categories as they are.

    References
    ----------
    Reisach, Seiler and Weichwald, "Beware of the simulated DAG!", NeurIPS 2021. Reisach, Tami, Seiler, Chambaz and
    Weichwald, "A scale-invariant sorting criterion to find a causal order in additive noise models", NeurIPS 2023.

    Examples
    --------
    >>> from sartre import CausalDiscovery
    >>> rng = np.random.default_rng(0)
    >>> rain = rng.normal(size=400)
    >>> river = np.sin(2 * rain) + rng.normal(size=400) / 2
    >>> table = pd.DataFrame({"rain": rain, "river": river})
    >>> diagnose(CausalDiscovery(random_state=0).fit(table), table)
    Diagnostics of 2 variables
      none of the checks failed; they cannot see hidden common causes, selected samples or feedback
    """
    graph = model.graph_
    table = as_table(X, categories=True, missing=True).reordered(graph.names)
    adjacency = np.asarray(graph.adjacency, dtype=bool)
    mechanisms = mechanisms_of(model, table)
    sorting = row_sorting(table)
    parents = [parent_columns(graph, name) for name in table.names]
    rows = [_node(table, j, parents[j], mechanisms[name], sorting) for j, name in enumerate(table.names)]
    nodes = pd.DataFrame(rows, index=pd.Index(table.names, name="variable"))
    numbers = [j for j in range(table.shape[1]) if j not in table.nominal]
    own = [table.values[table.rows_of(j), j] for j in range(len(nodes))]
    nodes.insert(1, "variance", [np.var(own[j]) if j in numbers else np.nan for j in range(len(nodes))])
    nodes.insert(2, "r2", _r2(table, numbers))
    share = nodes.pop("share").to_numpy()
    copies = _copies(table, numbers)
    by_variance, n_paths = alignment(adjacency, nodes["variance"].to_numpy())
    by_r2, _ = alignment(adjacency, nodes["r2"].to_numpy())
    messages = [
        *about_samples(table, copies),
        *about_codes(table),
        *about_values(table, numbers),
        *about_dependence(table, numbers, copies),
        *_about_residuals(nodes, share),
        *_about_rows(nodes, table),
        *about_groups(table, numbers),
        *_about_variances(by_variance, n_paths),
        *about_lines(model, table, mechanisms, nodes),
        *about_unchecked(model, table),
        *about_roots(model),
        *about_bound(model),
    ]
    return Diagnostics(tuple(messages), nodes, by_variance, by_r2, copies, table.shape[0] / table.shape[1])


def _node(table: Table, j: int, parents: list[int], mechanism: Mechanism, sorting: RowSorting) -> dict[str, Any]:
    """Describe the residual of a variable given its mechanism, in the rows that follow it."""
    rows = np.flatnonzero(table.rows_of(j))
    told: dict[str, Any] = {
        "n": len(rows),
        **dict.fromkeys(["skewness", "kurtosis", "normality", "independence"], np.nan),
        "dependent_on": None,
        "autocorrelation": np.nan,
        "share": np.nan,
    }
    column = table.values[rows, j]
    if len(rows) < FEWEST_SAMPLES or j in table.nominal or table.constant[j]:
        return told
    causes = table.select(np.array(parents, dtype=np.intp)).take(rows)
    residual = standardise(mechanism.residuals(causes.values, column))
    if j not in sorting.keys:
        told["autocorrelation"] = neighbour_correlation(residual, sorting.take(rows))
    if len(np.unique(column)) < FEW_VALUES:
        return told
    told["skewness"], told["kurtosis"] = float(skew(residual)), float(kurtosis(residual))
    told["normality"] = float(normaltest(residual).pvalue)
    found = _independence(residual, causes)
    if found is not None:
        told["independence"], told["dependent_on"], told["share"] = found
    return told


def _independence(residual: NDArray[np.float64], parents: Table) -> _Independence | None:
    """Test a residual against each parent by the products of their rank polynomials (or contrasts of levels).

    n times the sum of the squared correlations has a chi-square distribution if they are independent.
    """
    own = rank_polynomials(residual[:, None])[0]
    basis = pair_basis(parents.values, parents.nominal)
    n, found = len(residual), []
    for j, name in enumerate(parents.names):
        theirs = basis.values[j][:, basis.values[j].any(axis=0)]
        if theirs.shape[1]:
            squares = float(((own.T @ theirs / n) ** 2).sum())
            df = own.shape[1] * theirs.shape[1]
            p_value = float(chdtrc(df, n * squares))
            found.append(_Independence(min(1.0, p_value * parents.shape[1]), name, squares - df / n))
    return min(found, default=None)


def _r2(table: Table, numbers: list[int]) -> NDArray[np.float64]:
    """Return the share of each column that a linear model of all others explains, with missing values at the mean."""
    result = np.full(table.shape[1], np.nan)
    result[numbers] = explained_by_others(
        Table(standardise_columns(table.values[:, numbers]), tuple(table.names[j] for j in numbers))
    )
    return result


def _copies(table: Table, numbers: list[int]) -> tuple[tuple[str, str], ...]:
    Z = standardise_columns(table.values[:, numbers])
    pairs = [*near_copies(Z), *copies((k, Z[:, k]) for k in np.flatnonzero(Z.any(axis=0)).tolist())]
    return tuple((table.names[numbers[a]], table.names[numbers[b]]) for a, b in sorted(pairs))


def _about_residuals(nodes: pd.DataFrame, share: NDArray[np.float64]) -> list[str]:
    messages = []
    level = WARNING_LEVEL / len(nodes)
    heavy = nodes["kurtosis"] > HEAVY_NOISE
    odd = (nodes["normality"] < level) & ((nodes["skewness"].abs() > SKEWED) | (nodes["kurtosis"].abs() > NOT_NORMAL))
    if heavy.any():
        messages.append(
            f"The noise of {listed(nodes.index[heavy])} has heavy tails, so a few samples dominate the fit. Check the "
            "largest values, transform the columns (logarithms, ranks), and use robust tests (SARTRE does so itself)."
        )
    if (odd & ~heavy).any():
        messages.append(
            f"The noise of {listed(nodes.index[odd & ~heavy])} is not normal. Orderers that assume normal noise may "
            "reverse edges. Compare with one that does not."
        )
    dependent = (nodes["independence"] < level) & (share > STILL_EXPLAINED)
    if dependent.any():
        shown = listed([f"{name} (on {nodes.loc[name, 'dependent_on']})" for name in nodes.index[dependent]])
        messages.append(
            f"The residual still depends on a parent for {shown}: the edge may point the other way, there may be a "
            "hidden common cause, or the noise may not be additive (its variance may depend on the parent, for "
            "example). Transform the column, or examine the edge."
        )
    return messages


def _about_rows(nodes: pd.DataFrame, table: Table) -> list[str]:
    """Say if neighbouring rows are correlated, in residuals or in the columns, as `fit` warns."""
    if table.design is not None and table.design.groups is not None:
        return []
    size = nodes["autocorrelation"]
    serial = dependent_columns(size.to_numpy(), nodes["n"].to_numpy())
    if not serial.any():
        warned = dependence_between_rows(table)
        return [] if warned is None else [warned]
    message = (
        f"Neighbouring rows are correlated in {listed(nodes.index[serial])}, up to {size[serial].max():.2f}: the data "
        "may be a time series or come in groups. The tests treat rows as independent, so their p-values are too small. "
        f"{REMEDY}."
    )
    return [message]


def _about_variances(by_variance: float, n_paths: int) -> list[str]:
    if n_paths < FEWEST_PATHS or by_variance <= SORTED:
        return []
    message = (
        f"The variance increases along {by_variance:.0%} of the directed paths: the order could be read off the "
        "variances alone, and they depend on the units. Standardise the columns, and check whether the graph changes."
    )
    return [message]
