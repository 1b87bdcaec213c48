"""DiffAN (Sanchez et al., 2023): SCORE's criterion, with the score learnt by a denoising network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sartre.compute.devices import check_device
from sartre.data.checks import as_table
from sartre.knowledge.precedence import check_before
from sartre.order.diffusion import N_STEPS, Diffusion
from sartre.order.leaves import remove_leaves
from sartre.settings import check_choice, check_number, seed_of
from sartre.steps import Cost, StepTags

if TYPE_CHECKING:
    from sartre.data.table import Table
    from sartre.settings import RandomState

CORRECTIONS = ("retrain", "deciduous")
SHARPEST = 0.3  # share of the steps that vote; later ones have so much noise that all derivatives look alike
AGAIN = 10  # training continues for 1 / 10 of its epochs after each leaf
ROWS = 500  # number of evenly spaced rows at which derivatives are taken, enough for their variance
LARGEST_LOSS = 1e30  # replaces a variance that is not finite


class DiffAN(BaseEstimator):
    """Order variables by removing leaves l = argmin_j Var[d s_j / d x_j], with s learnt by a denoising network.

    The network learns the noise that was added to the rows, which is the score of the noisy rows up to a factor. Each
    of several noise levels votes for the variable whose derivative varies least, and the variable with the most votes
    is removed as a leaf; ties go to the smaller share of the variances. The scores of the remaining variables come
    from training the network for a few more epochs without the leaf, or from `deciduous`, a formula that needs no
    training but relies on second derivatives of the network and on Gaussian noise of the leaf.

    It requires PyTorch: ``pip install "sartre[diffan]"``. Columns are standardised first, so units and offsets do not
    matter. The time hardly grows with n, but below a few thousand rows the Stein estimator of SCORE is better.

    Parameters
    ----------
    n_epochs : int
        Maximum number of passes over the rows; training ends when the loss on a held-out fifth of the rows stops
        falling.
    n_votes : int
        Number of noise levels that vote.
    width : int
        Units in each of three hidden layers.
    correction : {"retrain", "deciduous"}
        How the scores of the remaining variables are computed.
    device : {"cpu", "cuda"}
        The device on which PyTorch runs.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        The same int gives the same order on the same machine.

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first. Constant columns come first.
    scores_ : array of shape (d, d)
        Row k: minus the votes, plus half the mean share of the variances, when the k-th variable of the order was
        removed as a leaf; NaN for variables removed before.
    loss_ : float
        Mean squared error of the network of all variables on the held-out rows; 1 if it has learnt nothing, NaN if
        there was nothing to order.

    References
    ----------
    Sanchez, Liu, O'Neil and Tsaftaris, "Diffusion models for causal discovery via topological ordering", ICLR 2023.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=500)
    >>> effect = np.sin(2 * cause) + rng.normal(size=500) / 2
    >>> DiffAN(random_state=0).fit(np.column_stack([effect, cause])).order_  # doctest: +SKIP
    array([1, 0])
    """

    def __init__(
        self,
        n_epochs: int = 800,
        *,
        n_votes: int = 4,
        width: int = 128,
        correction: str = "retrain",
        device: str = "cpu",
        random_state: RandomState = None,
    ) -> None:
        self.n_epochs = n_epochs
        self.n_votes = n_votes
        self.width = width
        self.correction = correction
        self.device = device
        self.random_state = random_state

    @property
    def step_tags(self) -> StepTags:
        """The properties of this step."""
        return StepTags(runs_on_gpu=True, costs=(Cost("DiffAN" if self.device == "cpu" else "DiffAN on a GPU"),))

    def fit(self, X: Any, before: Any = None) -> DiffAN:
        """Learn the order of the columns of a table X (n, d); where ``before[i, j]``, i must precede j."""
        for name in ("n_epochs", "n_votes", "width"):
            check_number("DiffAN", name, getattr(self, name), low=1, integer=True)
        check_choice("DiffAN", "correction", self.correction, CORRECTIONS)
        check_device("DiffAN", self.device)
        table = as_table(X, min_rows=10).standardized()
        votes = _Votes(self, table, seed_of("DiffAN", self.random_state))
        self.order_, self.scores_ = remove_leaves(table, check_before(before, table.names), votes)
        self.loss_ = votes.loss
        return self


class _Votes:
    """The votes on the remaining variables; the network is trained at the first call."""

    def __init__(self, settings: DiffAN, table: Table, seed: int) -> None:
        self._settings, self._seed = settings, seed
        self._columns = np.flatnonzero(~table.constant)
        self._Z = table.values[:, self._columns]
        self._some = self._Z[np.linspace(0, len(self._Z) - 1, min(len(self._Z), ROWS)).astype(int)]
        self._gone: list[int] = []  # positions among the columns, in the order of removal
        self.loss = float("nan")

    def __call__(self, remaining: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return minus the number of votes for each variable, plus half its mean share of the variances."""
        places = np.searchsorted(self._columns, remaining)
        self._gone += [k for k in range(len(self._columns)) if k not in places and k not in self._gone]
        if np.isnan(self.loss):
            self._model = Diffusion(self._Z, self._settings.width, self._settings.device, self._seed)
            self.loss = self._model.train(np.arange(len(self._columns)), self._settings.n_epochs)
        elif self._settings.correction == "retrain":
            self._model.train(places, max(1, self._settings.n_epochs // AGAIN))
        rule = deciduous if self._settings.correction == "deciduous" else None
        gone, n_votes = np.array(self._gone, dtype=np.intp), self._settings.n_votes
        score = np.zeros(len(places))
        for step in np.linspace(0, SHARPEST * N_STEPS, n_votes).astype(int).tolist():
            derivatives = self._model.derivatives(self._some, step, gone, rule)[:, places]
            variances = np.nan_to_num(derivatives.var(axis=0), nan=LARGEST_LOSS, posinf=LARGEST_LOSS)
            score[variances.argmin()] -= 1
            score += variances / max(variances.sum(), 1 / LARGEST_LOSS) / (2 * n_votes)
        return score


def deciduous(score: Any, jacobian: Any, leaf: int) -> tuple[Any, Any]:
    """Return the score and Jacobian of the density without a leaf, given those with it, at one point.

        s_j  <-  s_j - s_l (d_j s_l) / (d_l s_l),      J  <-  J - J_:l J_l: / J_ll

    For a leaf l with Gaussian noise the first formula is exact: s_l = -(x_l - f(x)) / sigma^2, so the subtracted term
    is the part of s_j that comes from the density of the leaf. The second formula is its derivative for a linear f. It
    is exact for a linear Gaussian model, however many leaves are removed in turn; for other models it omits the second
    derivatives of f, whose contribution is zero on average. A positive multiple of the score obeys the same rule.

    Parameters
    ----------
    score : array of shape (d,)
    jacobian : array of shape (d, d)
        [j, k] = d s_j / d x_k.
    leaf : int

    Returns
    -------
    score, jacobian
        Zero at the leaf.

    Examples
    --------
    For x2 = 0.7 x1 + e2 the marginal score of x1 is -x1.

    >>> precision = np.array([[1.49, -0.7], [-0.7, 1.0]])
    >>> score, jacobian = deciduous(-precision @ [1.3, -0.4], -precision, leaf=1)
    >>> score.round(12).tolist(), jacobian.round(12).tolist()
    ([-1.3, 0.0], [[-1.0, 0.0], [0.0, 0.0]])
    """
    row = jacobian[leaf] / jacobian[leaf, leaf]
    return score - score[leaf] * row, jacobian - jacobian[:, leaf][:, None] * row
