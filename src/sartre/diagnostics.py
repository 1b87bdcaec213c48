"""What the data and the fit say about the assumptions of causal discovery, in numbers and in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtrc, ndtr
from scipy.stats import kurtosis, normaltest, skew

from sartre.additive.bases import smooth_bases
from sartre.additive.design import prepare
from sartre.additive.interactions import pair_basis, rank_polynomials
from sartre.additive.robust import normal_scores
from sartre.additive.screening import basis_size, near_copies
from sartre.additive.selection import standardise
from sartre.additive.term_model import Singles, TermModel
from sartre.linear import alignment, explained_by_others
from sartre.table import Table
from sartre.validation import as_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sartre.additive.term_model import Term

LEVEL = 0.001  # of all tests of one kind together
SAMPLES_A_VARIABLE = 10  # fewer, and a model of all variables at once is no longer possible
FEW_VALUES = 10  # a column with fewer distinct values has no continuous noise
FEWEST = 20  # samples, for any test
SKEWED, NOT_NORMAL, HEAVY = 0.5, 1.0, 3.0  # skewness and excess kurtosis; the last is that of Laplace noise
DEPENDENT = 0.01  # share of a residual that a parent must still explain, beyond chance, to be worth a word
SERIAL = 0.1  # correlation of neighbouring rows worth a word
SORTED, FEWEST_PATHS = 0.9, 6  # var-sortability worth a word, and of how many pairs
_SPLINES = 10
_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics:
    """What `diagnose` finds.

    Attributes
    ----------
    messages : tuple of strings
        One sentence or two for each thing to worry about, with what to do; empty if there is none.
    nodes : DataFrame
        One row a variable: ``n`` (values there are), ``variance``, ``r2`` (of the linear regression on all others) and,
        of what the variable's parents leave unexplained, ``skewness``, ``kurtosis`` (0 if normal), ``normality``
        (p-value of D'Agostino's test), ``independence`` (p-value of the test that it is independent of each parent,
        times their number), ``dependent_on`` (the parent of that p-value), ``autocorrelation`` (of neighbouring
        rows). NaN where it makes no sense: for variables with fewer than ten values or fewer than twenty samples.
    var_sortability, r2_sortability : float
        Share of the found directed paths along which the variance, or r2, increases, ties half (Reisach et al., 2021
        and 2023): near 1/2 if it tells nothing of the order, NaN without a path.
    copies : tuple of pairs of names
        Columns that are the same up to unit, sign and a correlation of 0.999.
    samples_per_variable : float
    """

    messages: tuple[str, ...]
    nodes: pd.DataFrame
    var_sortability: float
    r2_sortability: float
    copies: tuple[tuple[str, str], ...]
    samples_per_variable: float

    def __repr__(self) -> str:
        told = [f"  - {message}" for message in self.messages] or ["  nothing to worry about"]
        return "\n".join([f"Diagnostics of {len(self.nodes)} variables", *told])


class _Independence(NamedTuple):
    p_value: float
    parent: str
    share: float


def diagnose(model: Any, X: Any) -> Diagnostics:  # noqa: ANN401 - any fitted model, any table
    """Look at the assumptions behind a learnt graph.

    Every variable is fitted again by smooth functions of its found parents (and by the pairs that act together, where
    the pruner has found any), and what is left is examined. Nothing here proves an assumption; it shows where
    one fails.

    Parameters
    ----------
    model : CausalDiscovery
        Fitted; anything with ``graph_`` will do.
    X : array of shape (n, d) or data frame
        The data it was fitted to, missing values and categories as they are.

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
      nothing to worry about
    """
    table = as_table(X, categories=True, missing=True)
    graph = model.graph_
    if tuple(graph.names) != table.names:
        raise ValueError(
            f"The table must have the columns of the graph, in its order: {', '.join(graph.names[:_SHOWN])}, ... "
            f"Got {', '.join(table.names[:_SHOWN])}, ..."
        )
    adjacency = np.asarray(graph.adjacency, dtype=bool)
    pairs = _found_pairs(model, table.names)
    rows = [_node(table, j, np.flatnonzero(adjacency[:, j]), pairs.get(j, [])) for j in range(table.shape[1])]
    nodes = pd.DataFrame(rows, index=pd.Index(table.names, name="variable"))
    numbers = [j for j in range(table.shape[1]) if j not in table.nominal]
    nodes.insert(1, "variance", [np.nanvar(table.values[:, j]) if j in numbers else np.nan for j in range(len(nodes))])
    nodes.insert(2, "r2", _r2(table, numbers))
    share = nodes.pop("share").to_numpy()
    copies = _copies(table, numbers)
    by_variance, n_paths = alignment(adjacency, nodes["variance"].to_numpy())
    by_r2, _ = alignment(adjacency, nodes["r2"].to_numpy())
    messages = [
        *_about_samples(table, copies),
        *_about_residuals(nodes, share),
        *_about_rows(nodes),
        *_about_variances(by_variance, n_paths),
    ]
    return Diagnostics(tuple(messages), nodes, by_variance, by_r2, copies, table.shape[0] / table.shape[1])


def _node(table: Table, j: int, parents: NDArray[np.intp], pairs: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Fit a variable by its parents and describe what is left."""
    rows = np.flatnonzero(~np.isnan(table.values[:, j]))
    told: dict[str, Any] = {
        "n": len(rows),
        **dict.fromkeys(["skewness", "kurtosis", "normality", "independence"], np.nan),
        "dependent_on": None,
        "autocorrelation": np.nan,
        "share": np.nan,
    }
    column = table.values[rows, j]
    if len(rows) < FEWEST or j in table.nominal or table.constant[j]:
        return told
    mine = table.select(parents).take(rows)
    residual = _residual(standardise(column), mine, [(_place(parents, a), _place(parents, b)) for a, b in pairs])
    scores = normal_scores(residual[:, None])[:, 0]
    told["autocorrelation"] = float((scores[1:] * scores[:-1]).sum() / (scores**2).sum()) if scores.any() else np.nan
    if len(np.unique(column)) < FEW_VALUES:
        return told
    told["skewness"], told["kurtosis"] = float(skew(residual)), float(kurtosis(residual))
    told["normality"] = float(normaltest(residual).pvalue)
    found = _independence(residual, mine)
    if found is not None:
        told["independence"], told["dependent_on"], told["share"] = found
    return told


def _residual(y: NDArray[np.float64], parents: Table, pairs: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    usable = np.flatnonzero(~parents.constant).tolist()
    terms: list[Term] = [*usable, *(pair for pair in pairs if set(pair) <= set(usable))]
    if not terms:
        return y
    size = basis_size(len(y), len(usable), _SPLINES)
    smooths = prepare(parents.values, smooth_bases(parents.values, size, parents.nominal))
    X = np.column_stack([standardise(column) for column in parents.values.T])
    model = TermModel(y, Singles(X, smooths), pair_basis(parents.values, parents.nominal) if pairs else None)
    solved = model.solve(terms)
    return y - model.functions(solved) @ solved.beta


def _independence(residual: NDArray[np.float64], parents: Table) -> _Independence | None:
    """Test a residual against each parent by the products of their rank polynomials (contrasts of levels).

    n times the sum of the squared correlations is a chi-square if they are independent.
    """
    mine = rank_polynomials(residual[:, None])[0]
    basis = pair_basis(parents.values, parents.nominal)
    n, found = len(residual), []
    for j, name in enumerate(parents.names):
        theirs = basis.values[j][:, basis.values[j].any(axis=0)]
        if theirs.shape[1]:
            squares = float(((mine.T @ theirs / n) ** 2).sum())
            df = mine.shape[1] * theirs.shape[1]
            p_value = float(chdtrc(df, n * squares))
            found.append(_Independence(min(1.0, p_value * parents.shape[1]), name, squares - df / n))
    return min(found, default=None)


def _found_pairs(model: Any, names: Sequence[str]) -> dict[int, list[tuple[int, int]]]:  # noqa: ANN401
    frame = getattr(getattr(model, "prune_step_", None), "interactions_", None)
    result: dict[int, list[tuple[int, int]]] = {}
    if frame is not None:
        place = {name: j for j, name in enumerate(names)}
        for first, second, target in frame[["first", "second", "target"]].itertuples(index=False):
            result.setdefault(place[target], []).append((place[first], place[second]))
    return result


def _place(parents: NDArray[np.intp], j: int) -> int:
    return int(np.flatnonzero(parents == j)[0])


def _standardised(table: Table, numbers: list[int]) -> NDArray[np.float64]:
    return np.column_stack([np.empty((table.shape[0], 0)), *(standardise(table.values[:, j]) for j in numbers)])


def _r2(table: Table, numbers: list[int]) -> NDArray[np.float64]:
    """Return the share of each column that a linear model of all others explains, missing values at the mean."""
    result = np.full(table.shape[1], np.nan)
    result[numbers] = explained_by_others(Table(_standardised(table, numbers), tuple(table.names[j] for j in numbers)))
    return result


def _copies(table: Table, numbers: list[int]) -> tuple[tuple[str, str], ...]:
    Z = _standardised(table, numbers)
    first: dict[bytes, int] = {}
    pairs = near_copies(Z)
    for k in np.flatnonzero(Z.any(axis=0)).tolist():
        original = first.setdefault(Z[:, k].tobytes(), k)
        if original != k:
            pairs.append((original, k))
    return tuple((table.names[numbers[a]], table.names[numbers[b]]) for a, b in sorted(pairs))


def _about_samples(table: Table, copies: Sequence[tuple[str, str]]) -> list[str]:
    n, d = table.shape
    messages = []
    if n < SAMPLES_A_VARIABLE * d:
        messages.append(
            f"There are {n} samples for {d} variables, fewer than {SAMPLES_A_VARIABLE} each: many true edges are "
            "missed, and the order is hardly better than chance. Bring more samples, or fewer variables."
        )
    if copies:
        shown = _listed([f"{a} and {b}" for a, b in copies])
        messages.append(
            f"Some columns say the same: {shown}. Which of them has an edge is arbitrary. Keep one of each."
        )
    few = [
        name
        for j, name in enumerate(table.names)
        if j in table.levels or len(np.unique(table.values[:, j])) < FEW_VALUES
    ]
    if few:
        messages.append(
            f"Categories and columns with few values have no continuous noise: {_listed(few)}. Whether their edges are "
            "there is tested; which way they point is not reliable. Say in 'knowledge' what is known of it."
        )
    return messages


def _about_residuals(nodes: pd.DataFrame, share: NDArray[np.float64]) -> list[str]:
    messages = []
    level = LEVEL / len(nodes)
    heavy = nodes["kurtosis"] > HEAVY
    odd = (nodes["normality"] < level) & ((nodes["skewness"].abs() > SKEWED) | (nodes["kurtosis"].abs() > NOT_NORMAL))
    if heavy.any():
        messages.append(
            f"The noise of {_listed(nodes.index[heavy])} has heavy tails: a few samples decide. Look at the largest "
            "values, transform the columns (logarithms, ranks), and use robust tests (SARTRE does so by itself)."
        )
    if (odd & ~heavy).any():
        messages.append(
            f"The noise of {_listed(nodes.index[odd & ~heavy])} is not normal. Orderers that assume normal noise may "
            "turn edges around: compare with one that does not."
        )
    dependent = (nodes["independence"] < level) & (share > DEPENDENT)
    if dependent.any():
        shown = _listed([f"{name} (on {nodes.loc[name, 'dependent_on']})" for name in nodes.index[dependent]])
        messages.append(
            f"What the parents leave unexplained still depends on them for {shown}: the edge may point the other "
            "way, a common cause may be hidden, or the noise may not simply add up (a variance that follows the "
            "parent, say). Transform the column, or look at the edge."
        )
    return messages


def _about_rows(nodes: pd.DataFrame) -> list[str]:
    size = nodes["autocorrelation"].abs()
    p_value = 2 * ndtr(-size * np.sqrt(nodes["n"]))
    serial = (size > SERIAL) & (p_value < LEVEL / len(nodes))
    if not serial.any():
        return []
    message = (
        f"Neighbouring rows are alike in {_listed(nodes.index[serial])}, correlations up to {size[serial].max():.2f}: "
        "a time series, or groups of rows? Tests take rows for independent and are too sure. Keep rows that are far "
        "apart, or differences; rows that were merely sorted do no harm."
    )
    return [message]


def _about_variances(by_variance: float, n_paths: int) -> list[str]:
    if n_paths < FEWEST_PATHS or by_variance <= SORTED:
        return []
    message = (
        f"The variance increases along {by_variance:.0%} of the found paths: the order could be read off the variances "
        "alone, and they depend on the units. Standardise the columns, and see whether the graph stays."
    )
    return [message]


def _listed(names: Sequence[str] | pd.Index) -> str:
    shown = ", ".join(map(str, names[:_SHOWN]))
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
