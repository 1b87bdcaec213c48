"""Beyond the paper: hidden common causes, and which of the edges that they make are marked."""

from __future__ import annotations

from experiments import methods, peers
from experiments.claims import best, mean_of
from experiments.hidden import EFFECTS
from experiments.study import Cell, Claim, Data, Study

OURS, CAMUV = ("", methods.MARKS), ("", peers.CAMUV)
SIZES, SMALL = (500, 1000, 2000, 5000), 1000
HIDDEN, HIDDEN_SMALL = 5, 2


def cells(quick: bool) -> list[Cell]:
    """Return the marks of 20 variables over n and effect, and both methods on 8 variables; quick: 6 and 300 rows."""
    if quick:
        return [Cell(Data(family, 6, 300, hidden=2 * bool(effect)), *OURS) for family, effect in EFFECTS.items()]
    large = [Data(family, 20, n, hidden=HIDDEN * bool(EFFECTS[family])) for family in EFFECTS for n in SIZES]
    small = [Data(family, 8, SMALL, hidden=HIDDEN_SMALL * bool(effect)) for family, effect in EFFECTS.items()]
    return [*(Cell(data, *OURS) for data in large), *(Cell(data, *each) for data in small for each in (OURS, CAMUV))]


_SMALL = {"family": "ER2-additive", "nodes": 8}
STUDY = Study(
    name="figure-hidden",
    title="Hidden common causes",
    text="ER2 graphs with Gaussian-process mechanisms and hidden causes that act on two or three variables each: five "
    "at d = 20, two at d = 8. Here, edges counts the marks, precision is the share of the marks that are right (1 "
    "without a mark), recall the share found of the pairs that have a hidden cause and no edge, and the SHD is that of "
    "the arrows, without what is marked. CAMUV (Maeda and Shimizu, UAI 2021) is that of lingam 1.13.0.",
    cells=cells,
    axis="samples",
    measures=("recall", "precision", "edges", "shd"),
    claims=(
        Claim(
            "(Ours) At d = 8, marks are right more often than those of CAMUV, and the arrows have a better SHD.",
            best(("precision", "shd"), OURS, (CAMUV,), nodes=(8,)),
            why="With additive effects, the SHD of the arrows is {:.1f}, compared with {:.1f} for CAMUV.",
            figures=tuple(mean_of("shd", method, **_SMALL) for method in (OURS, CAMUV)),
        ),
    ),
)
