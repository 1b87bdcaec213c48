"""The paper's third figure: up to 512 variables with the true order, and, beyond the paper, with a learnt order."""

from __future__ import annotations

from experiments import methods
from experiments.claims import best, mean_of, no_more, together
from experiments.study import Cell, Claim, Data, Study

CAM, PYGAM, DAS, PAPER, OURS = ((methods.TRUE, name) for name in methods.PRUNED)
LEARNT = (methods.OURS, methods.AUTO)
LARGEST_PYGAM = 64  # variables; above, pyGAM takes minutes per data set, and its time grows with their third power


def cells(quick: bool) -> list[Cell]:
    """Return the pruners on 64 to 512 variables, 2000 samples; quick: 64 variables, 500 samples."""
    n, sizes = (500, (64,)) if quick else (2000, (64, 128, 256, 512))
    drawn = [Data(family, d, n) for d in sizes for family in ("ER1", "ER4")]
    chosen = [Cell(data, *method) for data in drawn for method in (CAM, DAS, PAPER, OURS, LEARNT)]
    return chosen + [Cell(data, *PYGAM) for data in drawn if data.nodes <= LARGEST_PYGAM and not quick]


STUDY = Study(
    name="figure-highdim",
    title="Many variables",
    text="n = 2000 samples, d = 64 to 512 variables. The true order is given, as in the paper; our defaults are also "
    "shown with the order that they learn. CAM-pruning by pyGAM is too slow above 64 variables.",
    cells=cells,
    axis="nodes",
    measures=("shd", "sid", "seconds"),
    claims=(
        Claim("SARTRE is faster than DAS.", no_more("prune_seconds", PAPER, DAS)),
        Claim(
            "SARTRE has better SHD and SID than DAS.",
            together(*(no_more(what, PAPER, DAS) for what in ("shd", "sid"))),
            "DAS keeps at most 20 candidates per variable, chosen by derivatives, which are hard to estimate with many "
            "variables.",
            "Its recall on ER1 falls from {:.2f} at d = 64 to {:.2f} at d = 512. CAM-pruning of all candidates has "
            "SHDs of {:.0f} and {:.0f} there, SARTRE(0.1) has {:.0f} and {:.0f}.",
            (
                *(mean_of("recall", DAS, family="ER1", nodes=d) for d in (64, 512)),
                *(mean_of("shd", one, family="ER1", nodes=d) for one in (CAM, PAPER) for d in (64, 512)),
            ),
        ),
        Claim(
            "(Ours) The default pruner has the best SHD and SID.",
            best(("shd", "sid"), OURS, (CAM, DAS, PAPER, PYGAM)),
        ),
    ),
)
