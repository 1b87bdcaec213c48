"""Peers in a separate environment: pyGAM, causal-learn's BOSS, GIES, lingam's CAMUV, and four methods of gCastle.

    environment()                                    # once, before any run: creates .venv-peers (needs a package index)
    adjacency, seconds, reason = run("NOTEARS", X, seed=0, timeout=300)
    adjacency, seconds, reason = run("GIES", X, seed=0, timeout=300, environments=[(rows, columns_set), ...])

pyGAM uses ten splines per term and keeps edges with p < 0.001, or with p < 0.05, which is the default level of SCORE
and DAS in dodiscover; the columns must be in topological order. Its p-values are too small, as its authors warn. BOSS
(Andrews et al., NeurIPS 2023) of causal-learn (0.1.4.8) scores linear models by the BIC with its default penalty; an
edge of its graph that may point either way points both ways. GIES (Hauser and Buehlmann, JMLR 2012) of the package gies
(0.0.3) writes such edges in the same way. It scores linear models of rows from several environments by the BIC, leaves
rows out of the model of a variable that was set in them, and centres each environment separately; it has no soft
interventions. CAMUV (Maeda and Shimizu, UAI 2021) of lingam (1.13.0) runs with its defaults; a pair that it marks as
having a hidden common cause points both ways. gCastle (1.0.4) runs with its defaults, which are those of the methods'
authors except as stated here, on columns that are not standardised:

- NOTEARS (linear; Zheng et al., NeurIPS 2018): l1 penalty 0.1, weights under 0.3 dropped.
- NOTEARS-MLP (Zheng et al., AISTATS 2020): one hidden layer of 10 units, l1 and l2 penalties 0.01, norms under 0.3
  dropped. In both forms of NOTEARS, if a cycle remains, the threshold is raised until there is none.
- GraN-DAG (Lachapelle et al., ICLR 2020): two hidden layers of 10 units, 10,000 iterations. Its authors allow 100,000
  and end with CAM-pruning; gCastle does neither, so this is a lower bound on the method.
- CORL order (Wang et al., IJCAI 2021), episodic reward: ITERATIONS of 64 orders, not 10,000. By then the policy has
  hardly begun to learn, so this is little better than the best of 64 * ITERATIONS random orders: a lower bound on the
  method. Orders are scored by Gaussian processes, as the authors do for nonlinear data; gCastle implements this score
  but has no option for it. Only the first SCORED_ROWS rows are used, since the time of a regression grows with the cube
  of their number. The graph has an edge for each pair of the order; the caller prunes it, as the authors do by
  CAM-pruning.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE.parent / ".venv-peers"
REQUIREMENTS = HERE / "peers_environment" / "requirements.txt"
WORKER = HERE / "peers_environment" / "worker.py"
ITERATIONS = 60  # of CORL order; they take about two minutes of CPU time at 10 variables
SCORED_ROWS = 500  # number of rows to which CORL order fits its Gaussian processes
# gCastle updates its best order only at iteration 1 and at multiples of lambda_iter_num (500 by default), so with fewer
# iterations it would return the first order. Hence lambda_iter_num is set below.
PYGAM, CORL_ORDER, GIES, CAMUV = "CAM-pruning by pyGAM", "CORL order", "GIES", "CAMUV"
PYGAM_LOOSE = f"{PYGAM} at 0.05"
SETTINGS: dict[str, dict[str, Any]] = {
    PYGAM: {"alpha": 0.001, "n_splines": 10},
    PYGAM_LOOSE: {"alpha": 0.05, "n_splines": 10},
    "BOSS": {"score_func": "local_score_BIC_from_cov"},
    "NOTEARS": {},
    "NOTEARS-MLP": {},
    "GraN-DAG": {},
    CORL_ORDER: {"iteration": ITERATIONS, "lambda_iter_num": ITERATIONS, "rows": SCORED_ROWS},
    GIES: {},
    CAMUV: {},
}
SECONDS: dict[str, float] = {"NOTEARS": 2.0, "NOTEARS-MLP": 25.0, "GraN-DAG": 55.0}  # at 10 variables and 2000 rows
FROM_OUTSIDE = (signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM)  # other signals are crashes of the method
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class UnavailableError(RuntimeError):
    """The environment of the peers does not exist and cannot be created; the message says why in one sentence."""


class KilledError(RuntimeError):
    """A run was ended by a signal of FROM_OUTSIDE (or for lack of memory), which says nothing about the method."""


class Outcome(NamedTuple):
    """The result of a run: a graph, or the reason why there is none.

    Attributes
    ----------
    adjacency : array of shape (d, d), dtype uint8, or None
        A[i, j] = 1 means i -> j; None if the run gave no graph.
    seconds : float
        CPU seconds of the fit on one thread, without imports; NaN if there is no graph.
    reason : str
        Why there is no graph; empty if there is one.
    """

    adjacency: NDArray[np.uint8] | None
    seconds: float
    reason: str


def environment() -> Path:
    """Return the Python of the peers; first create their environment if it is missing, incomplete or out of date.

    Call it once, before any `run`: two calls at the same time would create the same folder.

    Raises
    ------
    UnavailableError
        If the packages cannot be installed, for instance without a network. The caller should skip these methods.
    """
    if not is_ready():
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        _must([sys.executable, "-m", "venv", ENVIRONMENT])
        _must([_python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS])
        unfinished = _stamp().with_suffix(".part")
        unfinished.write_text(_key(), encoding="ascii")
        unfinished.replace(_stamp())  # this comes last: an installation that was killed has no stamp and is repeated
    return _python()


def run(
    method: str,
    X: NDArray[np.float64],
    seed: int,
    timeout: float,
    environments: Sequence[tuple[Sequence[int], Sequence[int]]] | None = None,
    candidates: NDArray[Any] | None = None,
) -> Outcome:
    """Run one method once, in a separate process with one thread.

    Parameters
    ----------
    method : str
        A name in SETTINGS.
    X : array of shape (n, d)
        The data exactly as the method gets them: nothing is standardised.
    seed : int
        Seed of all random generators of the process.
    timeout : float
        Wall-clock seconds after which the process is stopped.
    environments : sequence of pairs, optional
        GIES only: the rows of each environment, and the columns that were set in them. By default nothing was set.
    candidates : array of shape (d, d), optional
        pyGAM only: nonzero where an edge, [parent, child], may be kept. By default all edges of the order.

    Returns
    -------
    Outcome
        It has no graph, and the reason, if the time is over, the method fails, or the environment does not exist.

    Raises
    ------
    KilledError
        If the process is killed from outside.
    """
    if method not in SETTINGS:
        raise ValueError(f"The 'method' parameter of run must be one of {', '.join(SETTINGS)}. Got {method!r} instead.")
    if environments is not None and method != GIES:
        raise ValueError(f"The 'environments' parameter of run is for {GIES} only. Got it with {method!r}.")
    if candidates is not None and method not in (PYGAM, PYGAM_LOOSE):
        raise ValueError(f"The 'candidates' parameter of run is for {PYGAM} only. Got it with {method!r}.")
    if not is_ready():
        return _missing(f"{ENVIRONMENT.name} is not there; call environment() first")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "data.npy", np.ascontiguousarray(X, dtype=np.float64))
        task: dict[str, Any] = {"method": method, "seed": seed, "settings": SETTINGS[method]}
        if environments is not None:
            task["environments"] = [[[int(i) for i in rows], [int(j) for j in acted]] for rows, acted in environments]
        if candidates is not None:
            task["candidates"] = (np.asarray(candidates) != 0).astype(int).tolist()
        (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
        return _work(folder, timeout)


def _work(folder: Path, timeout: float) -> Outcome:
    """Run the worker on a folder and read its result."""
    command = [_python(), "-I", WORKER, folder]  # -I isolates the worker from our own environment
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            command, capture_output=True, text=True, check=False, timeout=timeout, env={**os.environ, **ONE_THREAD}
        )
    except subprocess.TimeoutExpired:
        return _missing(f"not done after {timeout:g} seconds")
    if -done.returncode in FROM_OUTSIDE:
        raise KilledError(f"killed by signal {-done.returncode}")
    if done.returncode != 0:
        return _missing(f"failed with exit status {done.returncode}: {_last_line(done.stderr)}")
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return Outcome(np.array(result["adjacency"], dtype=np.uint8), result["seconds"], "")


def _missing(reason: str) -> Outcome:
    """Return the outcome of a run that gave no graph."""
    return Outcome(None, float("nan"), reason)


def _must(command: list[str | Path]) -> None:
    """Run one step of creating the environment; raise an error with its output if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    if done.returncode != 0:
        raise UnavailableError(
            f"The peers are left out, as {ENVIRONMENT.name} could not be made "
            f"({_last_line(done.stdout + done.stderr)}): with a package index in reach, run this again."
        )


def is_ready() -> bool:
    """Return whether the environment is complete, with these requirements and this version of Python."""
    return _stamp().is_file() and _stamp().read_text(encoding="ascii") == _key()


def _key() -> str:
    """Return a hash of everything that an environment depends on."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}\n"
    return hashlib.sha256(version.encode() + REQUIREMENTS.read_bytes()).hexdigest()


def _stamp() -> Path:
    """Return the file that marks a complete environment."""
    return ENVIRONMENT / ".installed"


def _python() -> Path:
    """Return the environment's interpreter."""
    return ENVIRONMENT / "bin" / "python"


def _last_line(text: str) -> str:
    """Return the last line that is not blank, in which a traceback and pip say what went wrong."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no message")
