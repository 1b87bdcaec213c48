"""Variants that the paper only mentions: intervals that use the target, and other numbers of trees and leaves."""

from __future__ import annotations

from experiments import methods
from experiments.claims import ABOUT, about_equal, mean_of, no_more, together
from experiments.study import FAMILIES, Cell, Claim, Data, Study

KINDS = [(methods.SCORES, methods.intervals(kind)) for kind in ("random", "forest", "boosting")]
SIZES = [(methods.SCORES, methods.intervals("random", *size)) for size in methods.TREES if size != (5, 8)]


def cells(quick: bool) -> list[Cell]:
    """Return SARTRE(0.1) with other intervals on 20 variables, 2000 samples; quick: 10 variables, 300 samples."""
    drawn = [Data(family, *((10, 300) if quick else (20, 2000))) for family in FAMILIES]
    return [Cell(data, *method) for data in drawn for method in (*KINDS, *SIZES)]


STUDY = Study(
    name="ablations",
    title="Intervals",
    text="SCORE's order, SARTRE with penalty 0.1; d = 20, n = 2000. Names give the kind of trees, then trees x leaves.",
    cells=cells,
    axis="",
    measures=("shd", "sid", "precision", "recall", "seconds"),
    claims=(
        Claim(
            "Random intervals do no harm compared with those of forests and boosting, which use the target.",
            together(*(no_more(what, KINDS[0], other, ABOUT) for what in ("shd", "sid") for other in KINDS[1:])),
            "No harm means that SHD and SID are at most a tenth worse.",
            "Under the same penalty, intervals that use the target find more edges, true and false: on SF4 forests "
            "have recall {:.2f} and precision {:.2f}, random intervals {:.2f} and {:.2f}. So SHD is as good in most "
            "cases, and SID, which hardly penalises false edges, is not.",
            tuple(
                mean_of(what, one, family="SF4", nodes=20) for one in KINDS[1::-1] for what in ("recall", "precision")
            ),
        ),
        Claim(
            "Random intervals are faster, because all targets share them.",
            together(*(no_more("prune_seconds", KINDS[0], other) for other in KINDS[1:])),
        ),
        Claim(
            "(Not in the paper) The numbers of trees and leaves hardly matter.",
            together(*(about_equal("shd", other, KINDS[0], ABOUT) for other in SIZES)),
            "Hardly means that SHD differs by at most a tenth from that of five trees with eight leaves, either way.",
            "More trees give more functions under the same penalty, which is then weaker: on ER1 five trees have "
            "precision {:.2f} and recall {:.2f}, twenty have {:.2f} and {:.2f}.",
            tuple(
                mean_of(what, one, family="ER1", nodes=20)
                for one in (KINDS[0], SIZES[-1])
                for what in ("precision", "recall")
            ),
        ),
    ),
)
