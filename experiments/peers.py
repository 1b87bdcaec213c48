"""Methods of other libraries: CAM-pruning by pyGAM, and what gCastle has, each in an environment of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

GCASTLE = ("NOTEARS", "NOTEARS-MLP", "GraN-DAG", "CORL")
PYGAM = "CAM-pruning by pyGAM"
METHODS = (*GCASTLE, PYGAM)
SECONDS: dict[str, float] = dict(zip(GCASTLE, (2.0, 60.0, 90.0, 90.0), strict=True))  # at 10 variables, about


def available(name: str) -> bool:
    """Return whether a method can be run here."""
    return name not in METHODS


def run(name: str, X: NDArray[Any], order: list[int], seed: int) -> tuple[NDArray[Any], float]:
    raise NotImplementedError


def set_up() -> None:
    pass
