"""Say that loops are being compiled, which happens once per machine and may take longer than the work itself."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

logger = logging.getLogger(__name__)
COMPILING = "Compiling for this machine, once (about 20 s)"


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
