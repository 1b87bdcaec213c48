"""Who may talk to the server: only the page that it served, opened with the token that it printed.

Every request must name this server as its host, so that no other name can be pointed at this address (DNS rebinding),
and must not come from another site. The page itself needs the token in its address; all else needs it in a header,
which no other site can set. Files of the program (scripts, styles) hold no secrets and need no token.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER = "X-Sartre-Token"  # noqa: S105 - the name of a header
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
_OWN_SITE = {None, "same-origin", "none"}  # what browsers say of requests by the page, and of an address typed in


class Guard:
    """Refuse requests that are not from the page, and add headers that keep the page to itself.

    Parameters
    ----------
    app : ASGI application
    port : int
        Where the server listens, which is part of its name.
    token : str
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app, self._token = app, token
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        if port == 80:  # which browsers leave out
            self._hosts |= {"127.0.0.1", "localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with the reason for its refusal."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets
            await send({"type": "websocket.close"})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(scope)
        await (self._app if refusal is None else refusal)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers, path = Headers(scope=scope), scope["path"]
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return _refused(421, "This server answers only to the address that 'sartre app' printed.", path)
        opens_page = path == "/" and scope["method"] in {"GET", "HEAD"}
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin not in {f"http://{host}" for host in self._hosts}:
            return _refused(403, "Requests from other sites are refused.", path)
        if site not in _OWN_SITE and not opens_page:
            return _refused(403, "Requests from other sites are refused.", path)
        if path.startswith("/static/"):
            return None
        if opens_page:
            tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        else:
            tokens = headers.getlist(TOKEN_HEADER)
        if len(tokens) != 1 or not hmac.compare_digest(tokens[0].encode(), self._token.encode()):
            return _refused(403, "Open the whole address that 'sartre app' printed; its token is missing here.", path)
        return None


def _refused(status: int, sentence: str, path: str) -> Response:
    """Return an answer that says why: to the page as JSON, and to a reader as text."""
    if path.startswith("/api/"):
        return JSONResponse({"error": sentence}, status)
    return PlainTextResponse(sentence + "\n", status)
