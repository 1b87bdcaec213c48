"""The server talks to the page that it served and to nobody else."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from sartre.app.security import Guard
from sartre.app.server import application

EVIL = "http://evil.example"


def called(app, path="/", *, method="GET", headers=(), chunks=(b"",), host="127.0.0.1:8000"):
    """Call an ASGI application once and return the status and the text of its answer."""
    path, _, query = path.partition("?")
    given = [(b"host", host.encode())] if host else []
    given += [(name.lower().encode(), value.encode()) for name, value in headers]
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query.encode()}
    scope |= {"headers": given, "root_path": "", "scheme": "http", "server": ("127.0.0.1", 8000), "http_version": "1.1"}
    waiting, told = list(chunks), []

    async def receive():
        body = waiting.pop(0) if waiting else b""
        return {"type": "http.request", "body": body, "more_body": bool(waiting)}

    async def send(message):
        told.append(message)

    asyncio.run(app(scope, receive, send))
    return told[0]["status"], b"".join(message.get("body", b"") for message in told[1:]).decode()


@pytest.fixture
def guarded():
    async def hello(_):
        return PlainTextResponse("hello")

    routes = [Route("/", hello), Route("/api/state", hello), Route("/api/runs", hello, methods=["POST"])]
    return Guard(Starlette(routes=routes), 8000, "secret")


KEY = ("X-Sartre-Token", "secret")


def test_the_page_opens_only_with_the_token_in_its_address(guarded):
    assert called(guarded, "/?token=secret") == (200, "hello")
    for path in ("/", "/?token=", "/?token=wrong", "/?token=secret&token=secret", "/?token=SECRET", "/?Token=secret"):
        status, text = called(guarded, path)
        assert status == 403
        assert "token is missing" in text


def test_the_api_takes_the_token_only_from_a_header(guarded):
    assert called(guarded, "/api/state", headers=[KEY]) == (200, "hello")
    for headers in ([], [("X-Sartre-Token", "wrong")], [KEY, KEY], [("Cookie", "token=secret")]):
        assert called(guarded, "/api/state?token=secret", headers=headers)[0] == 403


@pytest.mark.parametrize(
    "host", ["", "evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "localhost.evil.example:8000"]
)
def test_other_hosts_are_refused_whatever_they_know(guarded, host):
    assert called(guarded, "/?token=secret", host=host)[0] == 421
    assert called(guarded, "/api/state", headers=[KEY], host=host)[0] == 421


def test_two_hosts_are_refused(guarded):
    assert called(guarded, "/?token=secret", headers=[("Host", "evil.example")])[0] == 421


def test_requests_of_other_sites_are_refused_even_with_the_token(guarded):
    own = ("Origin", "http://127.0.0.1:8000")
    assert called(guarded, "/api/runs", method="POST", headers=[KEY, own])[0] == 200
    for header in (
        ("Origin", EVIL),
        ("Origin", "null"),
        ("Origin", "http://127.0.0.1:9000"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ):
        assert called(guarded, "/api/runs", method="POST", headers=[KEY, header])[0] == 403, header
        assert called(guarded, "/api/state", headers=[KEY, header])[0] == 403, header


def test_a_link_elsewhere_may_open_the_page_if_it_has_the_token(guarded):
    headers = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")]
    assert called(guarded, "/?token=secret", headers=headers)[0] == 200
    assert called(guarded, "/?token=secret", method="POST", headers=headers)[0] == 403


class Nothing:
    """Stands for a session that must not be asked."""

    run = None

    def __init__(self, folder):
        self._folder = folder

    def place_for(self, name):
        return self._folder / name

    def discard(self, place):
        place.unlink(missing_ok=True)


def test_an_upload_that_is_too_long_is_refused_and_leaves_nothing(tmp_path):
    app = application(Nothing(tmp_path), 8000, "secret", most_uploaded=2**20)
    for headers, chunks in (
        ([("Content-Length", str(2**20 + 1))], [b"a"]),
        ([("Content-Length", "many")], [b"a"]),
        ([], [b"a" * 2**19] * 3),  # without a length, it is counted
    ):
        status, text = called(app, "/api/table?name=a.csv", method="POST", headers=[KEY, *headers], chunks=chunks)
        assert status == 413
        assert "larger than 1 MB" in json.loads(text)["error"]
        assert list(tmp_path.iterdir()) == []


def test_a_request_that_says_too_much_or_nothing_sensible_is_refused(tmp_path):
    app = application(Nothing(tmp_path), 8000, "secret")
    assert called(app, "/api/runs", method="POST", headers=[KEY], chunks=[b"a" * 2**20] * 9)[0] == 413
    for body in (b"", b"{", b"[]", b"[" * 100_000, b"\xff"):
        status, text = called(app, "/api/runs", method="POST", headers=[KEY], chunks=[body])
        assert (status, "JSON" in text) == (422, True)


def test_only_files_of_the_page_are_served(tmp_path):
    app = application(Nothing(tmp_path), 8000, "secret")
    assert called(app, "/static/app.js")[0] == 200
    for name in ("../server.py", "..%2fserver.py", "page.html", "server.py", "no.js", "", "a/b.js", "%2e%2e/x.js"):
        assert called(app, f"/static/{name}")[0] == 404, name


def test_the_real_server_listens_on_the_loopback_address_only(program):
    assert program.host == "127.0.0.1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # nothing is sent
        own = probe.getsockname()[0]
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match=r"refused|timed out|unreachable"):
        socket.create_connection((own, program.port), timeout=2)


def test_answers_forbid_everything_but_the_page_itself(program):
    status, headers, body = program.raw("GET", f"/?token={program.token}")
    assert status == 200
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers
    assert program.token not in body.decode()
    assert b"http" not in body.replace(b"http-equiv", b"")  # no address of another server
