"""The simulated brain-imaging data of Smith et al. (NeuroImage, 2011), which have no licence to be in the package."""

from __future__ import annotations

from pathlib import Path

from sartre.datasets.stored import stored_dag, stored_table
from sartre.simulate.dataset import Dataset

DATA = Path(__file__).parent / "data"
SAMPLES = ("fmri_netsim_sim2.csv.gz", "4285cc8e767a4326aed98ff0619f52c733e6714a4a20bd7db17af8ba83b060f5")
EDGES = ("fmri_netsim_sim2_edges.csv", "8e381382a0ada776071f7db5e76c24a605c989ad8cb4203af5e81749d037701a")


def load_fmri() -> Dataset:
    """Load the second NetSim simulation: ten brain regions, fifty subjects one after the other.

    Returns
    -------
    Dataset
        ``X``, a data frame of 10000 rows (200 time points per subject, hence correlated) and 10 columns, and ``dag``
        with 11 edges.

    Examples
    --------
    >>> X, dag = load_fmri()
    >>> X.shape, dag.n_edges
    ((10000, 10), 11)
    """
    X = stored_table(DATA / SAMPLES[0], SAMPLES[1]).drop(columns="subject")
    return Dataset(X, stored_dag(DATA / EDGES[0], EDGES[1], list(X.columns)))
