"""How much memory a computation may still take."""

from __future__ import annotations

from pathlib import Path

GIGABYTE = 1e9


def free_bytes() -> float:
    """Return the memory that this process may still take; infinity where the system does not say.

    Examples
    --------
    >>> free_bytes() > 0
    True
    """
    return min(_available(), _left_of_address_space())


def check_memory(needed: float, what: str, remedy: str) -> None:
    """Raise a `MemoryError` if a computation would need more than is free: running out halfway can hang the system.

    Examples
    --------
    >>> check_memory(1.0, "The kernel of 2 rows", "Use fewer rows.")
    """
    free = free_bytes()
    if needed > free:
        raise MemoryError(
            f"{what} needs about {needed / GIGABYTE:.1f} GB of memory. Only {free / GIGABYTE:.1f} GB are free. {remedy}"
        )


def _available() -> float:
    """Return the memory that the machine has left (Linux)."""
    lines = _lines("/proc/meminfo")
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")), float("inf"))


def _left_of_address_space() -> float:
    """Return what a limit on the address space of this process leaves (Linux)."""
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return float("inf")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    used = next((1024.0 * int(line.split()[1]) for line in _lines("/proc/self/status") if line.startswith("VmSize")), 0)
    return float("inf") if limit == resource.RLIM_INFINITY else max(0.0, limit - used)


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="ascii").splitlines() if Path(path).exists() else []
