"""Count the files of the library that take part in fitting one target: the files that one must read to follow it.

    python benchmarks/files_crossed.py

The file of every Python function that runs is recorded (`sys.setprofile`); compiled kernels are not visible to it, and
their files are not counted. The target has four candidates, two of which act on it separately and two jointly. It is
fitted once in memory by `SARTRE().fit`, and once by `SARTRE().fit_batches` with so many rows that sums are used.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import sartre
from sartre.prune import SARTRE

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(sartre.__file__).parent
MOST = {"fit": 20, "fit_batches": 30}


def table(n: int) -> np.ndarray:
    """Return four causes and their effect, the last column."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    X[:, 4] += np.sin(2 * X[:, 0]) + X[:, 1] + X[:, 2] * X[:, 3]
    return X


def crossed(work: Callable[[], Any]) -> list[str]:
    """Return the files whose functions run, without kernels."""
    seen: set[str] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            seen.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    inside = [Path(name).relative_to(ROOT) for name in seen if Path(name).is_relative_to(ROOT)]
    return sorted(str(path) for path in inside if "kernels" not in str(path))


def main() -> None:
    """Print the files of both fits, and exit with 1 if there are too many."""
    few, many = table(1000), table(60_000)
    ways = {
        "fit": lambda: SARTRE(random_state=0).fit(few, range(5)),
        "fit_batches": lambda: SARTRE(random_state=0).fit_batches([many[:30_000], many[30_000:]], range(5)),
    }
    too_many = False
    for name, work in ways.items():
        work()  # compile, and run the late imports
        files = crossed(work)
        too_many |= len(files) > MOST[name]
        print(f"SARTRE().{name}: {len(files)} files, at most {MOST[name]}")
        print("\n".join(f"  {file}" for file in files))
    sys.exit(int(too_many))


if __name__ == "__main__":
    main()
