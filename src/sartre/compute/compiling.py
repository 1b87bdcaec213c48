"""Say that loops are being compiled, which happens once per machine and may take longer than the work itself."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)
COMPILE_SECONDS = 16  # of one core, for the loops of the default methods (`sartre discover sachs`, nothing cached)
COMPILED_LOOPS = 49  # so many have an entry in the cache afterwards
COMPILING = f"Compiling for this machine, once (about {round(COMPILE_SECONDS, -1)} s)"


@contextmanager
def compilation_logged() -> Iterator[None]:
    """Log when the compiler starts, and an empty message when it is done; loops that are cached on disk are silent."""
    from numba.core import event  # noqa: PLC0415 - slow to import, and only a run that uses loops needs it

    depth = 0

    class Compilation(event.Listener):
        def on_start(self, event: object) -> None:  # noqa: ARG002
            nonlocal depth
            depth += 1
            if depth == 1:
                logger.info(COMPILING)

        def on_end(self, event: object) -> None:  # noqa: ARG002
            nonlocal depth
            depth -= 1
            if depth == 0:
                logger.info("")

    with event.install_listener("numba:compile", Compilation()):
        yield


def compilation_left(loops: Iterable[Any]) -> float:
    """Return the share of the default methods' loops that are not in the cache on disk, so that a run compiles them.

    Parameters
    ----------
    loops : compiled functions
        Those of the library; each has a file in the cache once it has been used, newer than its source.
    """
    sources = {inspect.getfile(loop.py_func): loop.stats.cache_path for loop in loops}
    cached = 0
    for source, folder in sources.items():
        entries = Path(folder).glob(f"{Path(source).stem}.*.nbi") if folder else ()
        cached += sum(entry.stat().st_mtime >= Path(source).stat().st_mtime for entry in entries)
    return max(0.0, 1 - cached / COMPILED_LOOPS)
