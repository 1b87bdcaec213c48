"""Where the page is served: on the loopback address, under a new token each time."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable

import starlette as _starlette  # noqa: F401 - what is missing is told before the address is printed
import uvicorn

LOOPBACK = "127.0.0.1"


def serve(table: str | None, port: int, ready: Callable[[str], None]) -> None:
    """Serve the page on the loopback address until the program is interrupted.

    Parameters
    ----------
    table : str or None
        The table to begin with.
    port : int
        0 for any free one.
    ready : callable
        Called with the address, token included, as soon as it takes connections.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
        except OSError:
            raise ValueError(
                f"Port {port} is in use or not allowed; choose another with --port, or leave it out for a free one."
            ) from None
        listener.listen(128)
        chosen, token = listener.getsockname()[1], secrets.token_urlsafe(24)
        ready(f"http://{LOOPBACK}:{chosen}/?token={token}")
        from sartre.app.server import application  # noqa: PLC0415 - the library takes seconds; the address is there
        from sartre.app.session import Session  # noqa: PLC0415

        settings = uvicorn.Config(
            application(Session(table), chosen, token),
            ws="none",
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(settings).run(sockets=[listener])
