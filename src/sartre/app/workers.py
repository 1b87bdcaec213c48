"""Processes that work for the page, as the server sees them: start a task, watch it, cancel it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_START = "from sartre.app.worker import main; main()"  # with -P, nothing comes from the current folder


@dataclass(eq=False)
class Job:
    """A piece of work in a process of its own: how far it is, and how it ended.

    Its state is running, done, failed or cancelled.
    """

    name: str
    progress: str = "Starting"
    state: str = "running"
    result: Any = None
    error: str | None = None
    warnings: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    seconds: float | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def end(self, state: str, *, result: Any = None, error: str | None = None) -> None:
        """Keep how the task ended; only the first end counts."""
        if self.state == "running":
            self.result, self.error, self.seconds = result, error, time.monotonic() - self.began
            self.state = state
            self.ended.set()

    def document(self) -> dict[str, Any]:
        """Return what the page shows of the task, without its result."""
        seconds = time.monotonic() - self.began if self.seconds is None else self.seconds
        shown = {"state": self.state, "progress": self.progress, "error": self.error, "warnings": self.warnings}
        return {**shown, "seconds": round(seconds, 1)}


class _Process:
    """One process, and the thread that reads what it answers."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own module, without a shell
            [sys.executable, "-P", "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            start_new_session=True,
        )
        self.task: Job | None = None
        self.idle = threading.Event()
        self.idle.set()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def begin(self, task: Job, arguments: dict[str, Any], folder: Path) -> None:
        self.task = task
        self.idle.clear()
        asked = {"task": task.name, "arguments": arguments, "folder": str(folder)}
        line = json.dumps(asked).encode() + b"\n"
        try:
            assert self._process.stdin is not None  # noqa: S101 - it is a pipe
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except OSError:  # it has just ended
            task.end("failed", error=self._obituary())

    def kill(self) -> None:
        """End the process and all that it has started."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        for line in self._process.stdout:
            task, message = self.task, json.loads(line)
            if task is None:
                continue
            if "progress" in message:
                task.progress = message["progress"]
            elif "warning" in message:
                task.warnings.append(message["warning"])
            else:
                self.task = None
                self.idle.set()
                if "error" in message:
                    task.end("failed", error=message["error"])
                else:
                    task.end("done", result=message["result"])
        self._process.wait()
        if self.task is not None:
            self.task.end("failed", error=self._obituary())

    def _obituary(self) -> str:
        code = self._process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        hint = " The system ends processes that need too much memory; try fewer rows or columns." if code == -9 else ""
        return f"The process that worked on this ended unexpectedly ({how}).{hint} Everything else is still here."


class Workers:
    """Start tasks in processes, of which one that has loaded the library is always waiting.

    Parameters
    ----------
    folder : Path
        Where the processes wait.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._processes: list[_Process] = []
        self._closed = False
        self._prepare()

    def start(self, name: str, arguments: dict[str, Any], folder: Path) -> Job:
        """Begin a task in a process in which nothing else runs, and return it at once.

        Names of files in the arguments are relative to the folder.
        """
        task = Job(name)
        with self._lock:
            if self._closed:
                task.end("cancelled")
                return task
            self._processes = [each for each in self._processes if each.alive]
            waiting = [each for each in self._processes if each.idle.is_set()]
            for each in waiting[1:]:  # one is enough
                each.kill()
                self._processes.remove(each)
            process = waiting[0] if waiting else self._new()
            process.begin(task, arguments, folder)
        return task

    def cancel(self, task: Job) -> None:
        """End the process of a task, and with it the task."""
        task.end("cancelled")
        with self._lock:
            for each in [each for each in self._processes if each.task is task]:
                each.kill()
                self._processes.remove(each)
        self._prepare()

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            self._closed = True
            for each in self._processes:
                each.kill()
            self._processes = []

    def _prepare(self) -> None:
        with self._lock:
            if not self._closed and not any(each.alive and each.idle.is_set() for each in self._processes):
                self._new()

    def _new(self) -> _Process:
        process = _Process(self._folder)
        self._processes.append(process)
        return process
