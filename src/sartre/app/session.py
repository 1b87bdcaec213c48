"""What one page works on: a table, what is known about its columns, and the runs; kept in a folder that is deleted."""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sartre.app.workers import Job, Workers
from sartre.knowledge.knowledge import Knowledge
from sartre.knowledge.text import knowledge_text

LONGEST_NAME = 80
NOT_FILES = ("-", "sachs")  # names that the reader takes for standard input and for a data set
KNOWLEDGE_FILE = "knowledge.toml"
_RUN_KEYS = ("order", "prune", "effort", "level", "penalty", "missing", "seed", "stability", "columns", "categorical")


@dataclass(eq=False)
class Run:
    """A run: what was asked for, its task, and the questions about its graph."""

    number: int
    folder: Path
    request: dict[str, Any]
    task: Job
    questions: list[dict[str, Any]] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """Return what the page shows of the run."""
        return {"number": self.number, "request": self.request, "result": self.task.result, **self.task.document()}


class Session:
    """The state behind the page.

    Parameters
    ----------
    table : Path, str or None
        The file that was named on the command line, or the name of an included data set.
    """

    def __init__(self, table: str | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sartre-app-"))
        self.workers = Workers(self.folder)
        self.draft: dict[str, Any] = {}
        self.runs: list[Run] = []
        self.table: dict[str, Any] | None = None
        self.looking: Job | None = None
        self._numbered = 0
        self._place = self.folder / "table"  # of the table; a name that is no file is that of an included data set
        if table is not None:
            place = Path(table).resolve() if Path(table).exists() else Path(table)
            looking = self.look(place)
            threading.Thread(target=self.adopt, args=(looking, place), daemon=True).start()

    def close(self) -> None:
        """End all work and delete the folder."""
        self.workers.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def place_for(self, name: str) -> Path:
        """Return where an uploaded table is stored: in this session's folder, under a name without a path.

        The name is kept as far as it is harmless, since readers go by its extension and messages show it.
        """
        return Path(tempfile.mkdtemp(prefix="table-", dir=self.folder)) / plain_name(name)

    def look(self, place: Path) -> Job:
        """Begin to look at a table."""
        self.stop_looking()
        self.looking = self._start("look", {}, place)
        return self.looking

    def stop_looking(self) -> None:
        """Stop reading a table."""
        if self.looking is not None and self.looking.state == "running":
            self.workers.cancel(self.looking)

    def adopt(self, task: Job, place: Path) -> bool:
        """Wait until a table was looked at; if it is one, take it in place of the last one and forget its runs."""
        task.ended.wait()
        if task.state != "done":
            return False
        for run in self.runs:
            self.workers.cancel(run.task)
            shutil.rmtree(run.folder, ignore_errors=True)
        self.discard(self._place)
        self.runs, self.draft, self._place, self._numbered = [], {}, place, 0
        self.table = {"name": place.name.encode("utf-8", "replace").decode(), "warnings": task.warnings, **task.result}
        return True

    def document(self) -> dict[str, Any]:
        """Return all that the page needs to show itself again."""
        looking = None if self.looking is None else self.looking.document()
        runs = [run.document() for run in self.runs]
        return {"table": self.table, "looking": looking, "draft": self.draft, "runs": runs}

    def check(self, draft: dict[str, Any]) -> dict[str, Any]:
        """Keep what the page says is known; say whether it contradicts itself, and what it is as a file."""
        self.draft = draft
        try:
            knowledge = self._knowledge(draft.get("knowledge", {}), draft.get("columns", []))
        except (ValueError, TypeError) as error:
            return {"problem": str(error), "text": None}
        return {"problem": None, "text": knowledge_text(knowledge)}

    def read_knowledge(self, text: bytes, name: str) -> dict[str, Any]:
        """Read a file of knowledge; its names must be columns of the table."""
        place = self.folder / plain_name(name)
        place.write_bytes(text)
        try:
            knowledge = Knowledge.read(place)
        except (ValueError, TypeError) as error:
            raise ValueError(str(error).replace(str(place), place.name)) from None
        finally:
            place.unlink()
        self._check_names(knowledge, self.columns())
        return knowledge.to_dict()

    def columns(self) -> list[str]:
        """Return the names of the table's columns."""
        return [] if self.table is None else [column["name"] for column in self.table["columns"]]

    def estimate(self, request: dict[str, Any]) -> Job:
        """Begin to estimate how long a run would take."""
        settings, rows = self._settings(request), (self.table or {})["rows"]
        return self._start("estimate", {**settings, "rows": rows}, self._place)

    def run(self, request: dict[str, Any]) -> Run:
        """Begin to learn a graph."""
        settings = self._settings(request)
        knowledge = self._knowledge(request.get("knowledge", {}), settings["columns"])
        self._numbered += 1
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=self.folder))
        (folder / KNOWLEDGE_FILE).write_text(knowledge_text(knowledge), encoding="utf-8")
        task = self._start("learn", {**settings, "run": str(folder)}, self._place)
        kept = {**settings, "knowledge": knowledge.to_dict(), "table": self.table_file}
        run = Run(self._numbered, folder, kept, task)
        self.runs.append(run)
        return run

    def run_of(self, number: int) -> Run:
        """Return a run by its number."""
        for run in self.runs:
            if run.number == number:
                return run
        raise ValueError(f"There is no run {number}; it was removed, or belonged to another table.")

    def finished(self, number: int) -> Run:
        """Return a run that has a result."""
        run = self.run_of(number)
        if run.task.state != "done":
            raise ValueError(f"Run {number} has no result; it is {run.task.state}.")
        return run

    def remove(self, number: int) -> None:
        """Cancel a run, or forget one that has ended."""
        run = self.run_of(number)
        if run.task.state == "running":
            self.workers.cancel(run.task)
            return
        self.runs.remove(run)
        shutil.rmtree(run.folder, ignore_errors=True)

    def effect(self, run: Run, question: dict[str, Any]) -> Job:
        """Begin to say what an outcome would be if a cause were set."""
        return self._start("effect", {**question, "run": str(run.folder)}, self._place)

    @property
    def table_file(self) -> str:
        """The table's file for a script: its path if it was named on the command line, otherwise only its name."""
        return self._place.name if self.folder in self._place.parents else str(self._place)

    def _start(self, name: str, arguments: dict[str, Any], place: Path) -> Job:
        """Begin a task about a table, which works in the folder of uploads and names them without a path."""
        uploaded = self.folder in place.parents
        source = place.name if uploaded else str(place)
        return self.workers.start(name, {**arguments, "source": source}, place.parent if uploaded else self.folder)

    def discard(self, place: Path) -> None:
        """Delete an uploaded table, but never a file of the user."""
        if self.folder in place.parents and place.parent != self.folder:
            shutil.rmtree(place.parent, ignore_errors=True)

    def _settings(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.table is None:
            raise ValueError("There is no table yet; choose a file first.")
        settings = {key: request.get(key) for key in _RUN_KEYS}
        foreign = [name for name in (settings["order"], settings["prune"]) if ":" in str(name)]
        if foreign:
            raise ValueError(f"The page runs the methods of sartre only. Got '{foreign[0]}'; use `sartre discover`.")
        known = set(self.columns())
        unknown = [name for name in settings["columns"] or [] if name not in known]
        if unknown:
            raise ValueError(f"The table has no column '{unknown[0]}'.")
        return settings

    def _knowledge(self, given: dict[str, Any], columns: Iterable[str]) -> Knowledge:
        knowledge = Knowledge(**given)
        self._check_names(knowledge, columns)
        return knowledge

    def _check_names(self, knowledge: Knowledge, columns: Iterable[str]) -> None:
        names = list(columns)
        if names and knowledge != Knowledge():
            knowledge.resolve(names)


def plain_name(name: str) -> str:
    r"""Return the last component of a name, with nothing in it that a file system could misread.

    Examples
    --------
    >>> plain_name("../../etc/passwd"), plain_name("C:\\data\\cells 2.csv"), plain_name("..")
    ('passwd', 'cells 2.csv', 'table')
    """
    last = re.split(r"[/\\]", name)[-1]
    kept = re.sub(r"[^\w .()+-]", "_", last).strip(" .")
    stem, dot, suffix = (piece.encode()[:LONGEST_NAME].decode(errors="ignore") for piece in kept.rpartition("."))
    cut = f"{stem}{dot}{suffix}"
    return f"table{cut}" if cut in ("", *NOT_FILES) else cut
