"""The server of the page: it passes what the page asks on to the session, and its answers back as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from sartre import __version__
from sartre.app.script import script
from sartre.app.security import Guard
from sartre.app.session import KNOWLEDGE_FILE, Session
from sartre.graph.dag import Dag
from sartre.graph.difference import difference
from sartre.report.assets import graph_script, graph_style, panel_script

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from sartre.app.session import Run
    from sartre.app.workers import Job

MOST_UPLOADED = 2 * 2**30  # bytes of a table
MOST_SAID = 8 * 2**20  # bytes of any other request: names of 100,000 columns fit
_OF_THE_REPORT: dict[str, Callable[[], str]] = {
    "graph.js": graph_script,
    "graph.css": graph_style,
    "panel.js": panel_script,
}
_PLAIN_NAME = re.compile(r"[a-z_]+\.[a-z]+")
_TAKEN_AWAY = {"report.html", "report-without-rows.html", "graph.json", "edges.csv", KNOWLEDGE_FILE}
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

Handler = Callable[..., Awaitable[Any]]


def application(session: Session, port: int, token: str, *, most_uploaded: int = MOST_UPLOADED) -> ASGIApp:
    """Return the application for one session, behind its guard."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            session.close()

    def route(path: str, handler: Handler, method: str = "GET") -> Route:
        @wraps(handler)
        async def answer(request: Request) -> Response:
            try:
                found = await handler(session, request)
            except (ValueError, TypeError) as error:
                return JSONResponse({"error": str(error)}, 422)
            return found if isinstance(found, Response) else JSONResponse(found)

        return Route(path, answer, methods=[method])

    routes = [
        route("/", _page),
        route("/static/{name}", _static),
        route("/api/state", _state),
        route("/api/table", _upload, "POST"),
        route("/api/table", _stop_looking, "DELETE"),
        route("/api/draft", _check, "POST"),
        route("/api/knowledge", _read_knowledge, "POST"),
        route("/api/estimate", _estimate, "POST"),
        route("/api/runs", _run, "POST"),
        route("/api/runs/{number:int}", _run_state),
        route("/api/runs/{number:int}", _remove, "DELETE"),
        route("/api/runs/{number:int}/content", _content),
        route("/api/runs/{number:int}/difference", _difference),
        route("/api/runs/{number:int}/effect", _effect, "POST"),
        route("/api/runs/{number:int}/files/{name}", _file),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _told, Exception: _told})
    app.state.most_uploaded = most_uploaded
    return Guard(app, port, token)


async def _page(_: Session, request: Request) -> Response:  # noqa: ARG001
    return Response(_own_file("page.html"), media_type="text/html; charset=utf-8")


async def _static(_: Session, request: Request) -> Response:
    name = request.path_params["name"]
    suffix = f".{name.rpartition('.')[2]}"
    if suffix not in _KINDS or not _PLAIN_NAME.fullmatch(name):
        raise HTTPException(404, "There is no such file.")
    return Response(_own_file(name), media_type=f"{_KINDS[suffix]}; charset=utf-8")


async def _state(session: Session, _: Request) -> Any:
    return {**session.document(), "version": __version__}


async def _upload(session: Session, request: Request) -> Any:
    """Store a table, look at it, and take it if it is one."""
    name = request.query_params.get("name", "")
    place = session.place_for(name)
    try:
        await _store(request, place, request.app.state.most_uploaded)
    except BaseException:
        session.discard(place)
        raise
    task = session.look(place)
    if not await run_in_threadpool(session.adopt, task, place):
        session.discard(place)
        raise ValueError(" ".join([task.error or "Reading the table was stopped.", *task.warnings]))
    return session.document()


async def _stop_looking(session: Session, _: Request) -> Any:
    session.stop_looking()
    return session.document()


async def _check(session: Session, request: Request) -> Any:
    return session.check(await _said(request))


async def _read_knowledge(session: Session, request: Request) -> Any:
    return {"knowledge": session.read_knowledge(await _body(request), request.query_params.get("name", ""))}


async def _estimate(session: Session, request: Request) -> Any:
    return await _result(session.estimate(await _said(request)))


async def _run(session: Session, request: Request) -> Any:
    return session.run(await _said(request)).document()


async def _run_state(session: Session, request: Request) -> Any:
    return _run_of(session, request).document()


async def _remove(session: Session, request: Request) -> Any:
    await run_in_threadpool(session.remove, _run_of(session, request).number)
    return {"runs": [run.document() for run in session.runs]}


async def _content(session: Session, request: Request) -> Response:
    run = _finished(session, request)
    return FileResponse(run.folder / "content.json", media_type="application/json")


async def _difference(session: Session, request: Request) -> Any:
    """Say which edges came, went and turned since another run."""
    against = session.finished(int(request.query_params.get("against", "0")))
    before, after = (Dag.read(run.folder / "graph.json").edges for run in (against, _finished(session, request)))
    found = difference(before, after)
    return {"came": found.added, "went": found.removed, "turned": [(b, a) for a, b in found.reversed]}


async def _effect(session: Session, request: Request) -> Any:
    run, said = _finished(session, request), await _said(request)
    asked = {"cause": str(said.get("cause")), "outcome": str(said.get("outcome")), "at": said.get("at")}
    asked["seed"] = run.request["seed"]
    task = session.effect(run, asked)
    found = await _result(task)
    if asked not in run.questions:
        run.questions.append(asked)
    return {**found, "warnings": task.warnings}


async def _file(session: Session, request: Request) -> Response:
    """Give a file to take away."""
    run, name = _finished(session, request), request.path_params["name"]
    if name in _TAKEN_AWAY:
        return FileResponse(run.folder / name, media_type="application/octet-stream")
    if name == "repeat.py":
        return PlainTextResponse(script(run.request, run.task.result, run.questions))
    raise HTTPException(404, "There is no such file.")


def _run_of(session: Session, request: Request) -> Run:
    return session.run_of(request.path_params["number"])


def _finished(session: Session, request: Request) -> Run:
    return session.finished(request.path_params["number"])


async def _result(task: Job) -> dict[str, Any]:
    """Wait for a task; what went wrong in it is an error of the request."""
    await run_in_threadpool(task.ended.wait)
    if task.state != "done":
        raise ValueError(task.error or "This was cancelled.")
    result: dict[str, Any] = task.result
    return result


async def _store(request: Request, place: Path, most: int) -> None:
    """Write the body of a request to a file, as far as it is not too long."""
    _check_length(request, most)
    length = 0
    with place.open("xb") as file:
        async for chunk in request.stream():
            length += len(chunk)
            if length > most:
                raise _too_long(most)
            await run_in_threadpool(file.write, chunk)


async def _body(request: Request) -> bytes:
    _check_length(request, MOST_SAID)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_SAID:
            raise _too_long(MOST_SAID)
    return bytes(body)


async def _said(request: Request) -> dict[str, Any]:
    """Return the object that a request holds."""
    try:
        said = json.loads(await _body(request))
        json.dumps(said, allow_nan=False, ensure_ascii=False).encode()  # what cannot be said again is refused
    except (ValueError, RecursionError):
        raise ValueError("The request must hold JSON, of finite numbers.") from None
    if not isinstance(said, dict):
        raise TypeError("The request must hold a JSON object.")
    return said


def _check_length(request: Request, most: int) -> None:
    told = request.headers.get("content-length", "0")
    if not told.isdecimal() or int(told) > most:
        raise _too_long(most)


def _too_long(most: int) -> HTTPException:
    return HTTPException(
        413, f"This is larger than {most / 2**20:,.0f} MB, the most that the page takes. Use `sartre discover`."
    )


async def _told(_: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return JSONResponse({"error": error.detail}, error.status_code)
    return JSONResponse({"error": f"Unexpected {type(error).__name__}: {error}"}, 500)


def _own_file(name: str) -> bytes:
    """Return a file of the page; the graph and the panel of an edge are the report's."""
    if name in _OF_THE_REPORT:
        return _OF_THE_REPORT[name]().encode()
    place = files("sartre.app").joinpath("static", name)
    if not place.is_file():
        raise HTTPException(404, "There is no such file.")
    return place.read_bytes()
