"""The peers, as their users would run them: the paper's stack, adelie, and CAM-pruning by pyGAM and by mgcv.

Each takes a matrix with its columns in topological order and returns an adjacency matrix (row -> column).
They are imported inside the functions because only the environment of `make bench` has them.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

TOL = 1e-6
Blocks = list["NDArray[np.float64]"]


def embed(X: NDArray[np.float64], n_trees: int = 5, max_leaves: int = 8) -> Blocks:
    """Return the leaf indicators of scikit-learn's RandomTreesEmbedding for every column."""
    from sklearn.ensemble import RandomTreesEmbedding  # noqa: PLC0415

    blocks = []
    for j, column in enumerate(X.T):
        trees = RandomTreesEmbedding(n_trees, max_leaf_nodes=max_leaves, sparse_output=False, random_state=j)
        blocks.append(np.asfortranarray(trees.fit_transform(column[:, None])))
    return blocks


def celer_coefficients(
    phi: NDArray[np.float64], y: NDArray[np.float64], sizes: list[int], penalty: float, tol: float
) -> Blocks:
    """Solve one group lasso with celer; return one block of coefficients per group."""
    from celer import GroupLasso  # noqa: PLC0415

    groups: Any = sizes  # celer's annotation allows only an int
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # celer warns about convergence; agreement is checked on the objective
        model = GroupLasso(groups=groups, alpha=penalty, tol=tol, fit_intercept=True, max_iter=200).fit(phi, y)
    return np.split(model.coef_, np.cumsum(sizes)[:-1])


def adelie_coefficients(
    phi: NDArray[np.float64], y: NDArray[np.float64], sizes: list[int], penalty: float, tol: float
) -> Blocks:
    """Solve one group lasso with adelie; return one block of coefficients per group."""
    import adelie  # noqa: PLC0415

    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    state = adelie.grpnet(
        X=adelie.matrix.dense(phi, method="naive", n_threads=1),
        glm=adelie.glm.gaussian(y=y, dtype=np.float64),
        groups=starts,
        penalty=np.ones(len(sizes)),
        lmda_path=[penalty],
        early_exit=False,
        tol=tol,
        n_threads=1,
        progress_bar=False,
    )
    return np.split(np.asarray(state.betas[-1].todense()).ravel(), starts[1:])


def _prune_by(solver: Callable[..., Blocks], X: NDArray[np.float64], penalty: float) -> NDArray[np.uint8]:
    blocks = embed(X)
    sizes = [block.shape[1] for block in blocks]
    adjacency = np.zeros((X.shape[1], X.shape[1]), dtype=np.uint8)
    for i in range(1, X.shape[1]):
        phi = np.asfortranarray(np.hstack(blocks[:i]))
        coefficients = solver(phi, X[:, i], sizes[:i], penalty, TOL)
        adjacency[:i, i] = [bool(np.linalg.norm(block) > 1e-8) for block in coefficients]
    return adjacency


def paper_stack(X: NDArray[np.float64], penalty: float = 0.1) -> NDArray[np.uint8]:
    """Prune by SARTRE on the paper's own stack: RandomTreesEmbedding, then celer for each target."""
    return _prune_by(celer_coefficients, X, penalty)


def adelie_stack(X: NDArray[np.float64], penalty: float = 0.1) -> NDArray[np.uint8]:
    """Prune like `paper_stack`, with adelie as the solver."""
    return _prune_by(adelie_coefficients, X, penalty)


def cam_by_pygam(X: NDArray[np.float64], alpha: float = 0.001) -> NDArray[np.uint8]:
    """Prune by pyGAM: one LinearGAM per target, ten splines per term, keep p < alpha (its p-values are too small)."""
    from pygam import LinearGAM, s  # noqa: PLC0415

    adjacency = np.zeros((X.shape[1], X.shape[1]), dtype=np.uint8)
    for i in range(1, X.shape[1]):
        formula = s(0, n_splines=10)
        for j in range(1, i):
            formula += s(j, n_splines=10)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pyGAM warns about its own p-values
            model = LinearGAM(formula).fit(X[:, :i], X[:, i])
        adjacency[:i, i] = np.asarray(model.statistics_["p_values"][:i]) < alpha
    return adjacency


_MGCV = """
library(mgcv)
X <- read.csv(commandArgs(TRUE)[1])
for (i in 2:ncol(X)) {
  p <- i - 1
  k <- if (nrow(X) / p < 30) min(10, ceiling(nrow(X) / (3 * p))) else 10
  smooths <- paste0("s(", names(X)[1:p], ", k = ", k, ")", collapse = " + ")
  model <- gam(as.formula(paste(names(X)[i], "~", smooths)), data = X)
  cat(summary(model)$s.pv, "\\n")
}
"""


def cam_by_mgcv(X: NDArray[np.float64], alpha: float = 0.001) -> NDArray[np.uint8]:
    """Prune by R's mgcv with its defaults; R and mgcv must be installed (Debian: r-base-core, r-cran-mgcv)."""
    d = X.shape[1]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "table.csv")
        header = ",".join(f"x{j}" for j in range(d))
        np.savetxt(file, X, delimiter=",", header=header, comments="", fmt="%.17g")
        command = [str(shutil.which("Rscript")), "-e", _MGCV, str(file)]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    adjacency = np.zeros((d, d), dtype=np.uint8)
    for i, line in enumerate(lines, start=1):
        adjacency[:i, i] = np.array(line.split(), dtype=float) < alpha
    return adjacency


def has_mgcv() -> bool:
    """Return whether R and mgcv are installed."""
    rscript = shutil.which("Rscript")
    return (
        bool(rscript)
        and subprocess.run([rscript, "-e", "library(mgcv)"], capture_output=True, check=False).returncode == 0
    )
