"""Functions that the benchmarks share: one thread, times, peak memory, versions, Markdown tables."""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

THREAD_SETTINGS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def use_one_thread() -> None:
    """Limit every library to one thread; call this before NumPy is imported."""
    for name in THREAD_SETTINGS:
        os.environ[name] = "1"


def measured(function: Callable[[], Any], repeat: int = 1) -> tuple[float, float, Any]:
    """Return the best time in seconds, the peak memory of the process in MB during the runs, and the result."""
    _reset_peak()
    best, result = float("inf"), None
    for _ in range(repeat):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, _peak_mb(), result


def versions(*packages: str) -> str:
    """Return one line with the versions of Python and of the packages."""
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)])


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def _reset_peak() -> None:
    """Reset the peak of the resident memory (Linux only)."""
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak_mb() -> float:
    """Return the peak of the resident memory in MB, or NaN if the system does not report it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
