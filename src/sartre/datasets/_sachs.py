"""The protein-signalling data of Sachs et al. (Science, 2005)."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

from sartre.datasets.stored import stored_dag, stored_table
from sartre.settings import check_choice
from sartre.simulate.dataset import Dataset

SAMPLES = {  # subset: file and SHA-256
    "observational": ("sachs_observational.csv", "c6f109d1d98550e2f8ee57ee021b30713c08ba6cfe626b3e23805568c54cec8e"),
    "full": ("sachs_full.csv.gz", "0ef7afec32f6cb445219f691681e2c1131126cd9dfd0300a2487fcbbbb19645d"),
}
GRAPHS = {  # number of edges: file and SHA-256
    "17": ("sachs_edges.csv", "d6b02b994ad3e9a959b8a16bf0c61f2671fc71464c54d806439874c801ddad25"),
    "20": ("sachs_edges_20.csv", "f08797f0f0bb28edb3c588cba4cd310bc43c5c859f027be21acf530321eca733"),
}


def load_sachs(
    subset: Literal["observational", "full"] = "observational", graph: Literal["17", "20"] = "17"
) -> Dataset:
    """Load eleven proteins and lipids measured in single human T cells, with the accepted signalling graph.

    The values are raw fluorescence intensities, neither logged nor scaled.

    Parameters
    ----------
    subset : {"observational", "full"}
        ``"observational"``: the 853 cells of the first condition (anti-CD3 and anti-CD28). ``"full"``: the 7466 cells
        of all nine conditions, one after the other. Most of the others perturb the pathway, so that ``"full"`` is not
        a sample of one distribution, although it is often used as one.
    graph : {"17", "20"}
        The consensus graph of 17 edges that most benchmarks use, or the variant of 20 edges, which adds PIP2 -> PKC,
        PIP3 -> Akt and Plcg -> PKC and reverses Plcg -> PIP3.

    Returns
    -------
    Dataset
        ``X``, a data frame of 11 columns, and ``dag``.

    References
    ----------
    K. Sachs, O. Perez, D. Pe'er, D. A. Lauffenburger, G. P. Nolan: Causal protein-signaling networks derived from
    multiparameter single-cell data. Science 308, 523-529, 2005.

    Examples
    --------
    >>> X, dag = load_sachs()
    >>> X.shape, dag.n_edges
    ((853, 11), 17)
    >>> dag.parents("Erk")
    ['Mek', 'PKA']
    """
    check_choice("load_sachs", "subset", subset, list(SAMPLES))
    check_choice("load_sachs", "graph", graph, list(GRAPHS))
    folder = files("sartre.datasets") / "data"
    file, sha256 = SAMPLES[subset]
    X = stored_table(folder / file, sha256)
    if subset == "full":
        X = X.drop(columns="condition")
    file, sha256 = GRAPHS[graph]
    return Dataset(X, stored_dag(folder / file, sha256, list(X.columns)))
