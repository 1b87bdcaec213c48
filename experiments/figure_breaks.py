"""Beyond the paper: where each method breaks when what it assumes does not hold."""

from __future__ import annotations

from experiments.claims import no_more, together
from experiments.figure_variables import BASELINES, COMPARED, OURS, PAPER
from experiments.study import Cell, Claim, Data, Study

CHANGES: dict[str, dict[str, object]] = {
    "as assumed": {},
    "5 hidden causes": {"hidden": 5},
    "Laplace noise": {"noise": "laplace"},
    "uniform noise": {"noise": "uniform"},
    "t(3) noise": {"noise": "t3"},
    "unequal variances": {"noise": "heteroscedastic"},
    "standardised": {"columns": "standardised"},
    "five values": {"columns": "discrete"},
}


def cells(quick: bool) -> list[Cell]:
    """Return all methods under every change, 20 variables, 2000 samples; quick: 10 variables, 300 samples."""
    size = (10, 300) if quick else (20, 2000)
    drawn = [Data(family, *size, **change) for family in ("ER1", "ER4") for change in CHANGES.values()]  # pyright: ignore[reportArgumentType]
    return [Cell(data, *method) for data in drawn for method in COMPARED]


STUDY = Study(
    name="figure-breaks",
    title="Where methods break",
    text="d = 20, n = 2000, one change at a time: hidden common causes of two variables each, other noise, columns at "
    "variance one, columns cut into five values.",
    cells=cells,
    axis="change",
    measures=("shd", "sid", "f1"),
    claims=(
        Claim(
            "(Ours) The defaults have the best SHD under every change.",
            together(*(no_more("shd", OURS, other) for other in (*BASELINES, PAPER))),
        ),
    ),
)


def change_of(row: object) -> str:
    """Return the name of the change in a row of results."""
    found = [
        name
        for name, change in CHANGES.items()
        if all(str(getattr(row, key)) == str(change.get(key, default)) for key, default in _PLAIN.items())
    ]
    return found[0]


_PLAIN = {"hidden": 0, "noise": "gaussian", "columns": "raw"}
