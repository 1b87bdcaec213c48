"""The protein-signalling data of Sachs et al. (Science, 2005)."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal, overload

from sartre.datasets.stored import stored_dag, stored_table
from sartre.settings import check_choice
from sartre.simulate.dataset import Dataset, Experiment

SAMPLES = {  # subset: file and SHA-256
    "observational": ("sachs_observational.csv", "c6f109d1d98550e2f8ee57ee021b30713c08ba6cfe626b3e23805568c54cec8e"),
    "full": ("sachs_full.csv.gz", "0ef7afec32f6cb445219f691681e2c1131126cd9dfd0300a2487fcbbbb19645d"),
}
GRAPHS = {  # number of edges: file and SHA-256
    "17": ("sachs_edges.csv", "d6b02b994ad3e9a959b8a16bf0c61f2671fc71464c54d806439874c801ddad25"),
    "20": ("sachs_edges_20.csv", "f08797f0f0bb28edb3c588cba4cd310bc43c5c859f027be21acf530321eca733"),
}
TARGETS = {  # by condition; 1 and 2 stimulate the cell in general
    3: ["Akt"],  # Akt inhibitor
    4: ["PKC"],  # G06976, an inhibitor
    5: ["PIP2"],  # psitectorigenin, an inhibitor
    6: ["Mek"],  # U0126, an inhibitor
    7: ["PIP3"],  # LY294002, an inhibitor of PI3K, which was not measured
    8: ["PKC"],  # PMA, an activator
    9: ["PKA"],  # beta2cAMP, an activator
}


@overload
def load_sachs(subset: Literal["observational"] = ..., graph: Literal["17", "20"] = ...) -> Dataset: ...
@overload
def load_sachs(subset: Literal["full"], graph: Literal["17", "20"] = ...) -> Experiment: ...
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
    Dataset, or Experiment if the subset is full
        ``X``, a data frame of 11 columns, and ``dag``. An `Experiment` also has ``environment``, the condition of each
        cell (1 to 9), and ``interventions``, the molecule that each of the conditions 3 to 9 acts on.

    Notes
    -----
    Conditions and what they act on; reagents and their effects are those of table 1 of the paper and of its supplement:

    | condition | reagents | acts on |
    |---|---|---|
    | 1 | anti-CD3, anti-CD28 | nothing in particular: general stimulation, taken as observational |
    | 2 | anti-CD3, anti-CD28, ICAM-2 | the same |
    | 3 | anti-CD3, anti-CD28, Akt inhibitor | Akt, inhibited |
    | 4 | anti-CD3, anti-CD28, G06976 (in the file names G0076) | PKC, inhibited |
    | 5 | anti-CD3, anti-CD28, psitectorigenin | PIP2, inhibited |
    | 6 | anti-CD3, anti-CD28, U0126 | Mek, inhibited |
    | 7 | anti-CD3, anti-CD28, LY294002 | PI3K, inhibited; here assigned to its product, PIP3 |
    | 8 | PMA | PKC, activated |
    | 9 | beta2cAMP | PKA, activated |

    PI3K was not measured, so that the target of condition 7 is a choice: others assign it to Akt, or to none. All
    targets are given as set, the usual reading, although some reagents change what a molecule does and not how much of
    it is measured. Conditions 8 and 9 lack anti-CD3 and anti-CD28, so that they differ from the others in more than
    their target.

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
    >>> load_sachs("full")
    Experiment: 7466 rows, 11 variables, 17 edges
      1: 853 rows
      2: 902 rows
      3: 911 rows, Akt set
      4: 723 rows, PKC set
      5: 810 rows, PIP2 set
      6: 799 rows, Mek set
      7: 848 rows, PIP3 set
      8: 913 rows, PKC set
      9: 707 rows, PKA set
    """
    check_choice("load_sachs", "subset", subset, list(SAMPLES))
    check_choice("load_sachs", "graph", graph, list(GRAPHS))
    folder = files("sartre.datasets") / "data"
    file, sha256 = SAMPLES[subset]
    X = stored_table(folder / file, sha256)
    condition = X.pop("condition") if subset == "full" else None
    file, sha256 = GRAPHS[graph]
    dag = stored_dag(folder / file, sha256, list(X.columns))
    if condition is None:
        return Dataset(X, dag)
    return Experiment(X, dag, condition, {number: list(names) for number, names in TARGETS.items()})
