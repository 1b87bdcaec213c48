"""The process that works for the page: it reads tasks, one line of JSON each, and answers in lines of JSON.

A task works in a folder, so that messages name files without a path. What is written is ``{"progress": text}``,
``{"warning": text}`` or, at the end of a task, ``{"result": ...}`` or ``{"error": text}``. The process ends when the
server does.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, TextIO

from sartre.cli._console import described
from sartre.compute.progress import ProgressHandler


class _Channel:
    """Lines of JSON to the server; what anything else prints goes to standard error instead."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._lines: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def tell(self, **message: Any) -> None:
        with self._lock:
            self._lines.write(json.dumps(message, allow_nan=False) + "\n")
            self._lines.flush()


class _Progress:
    """Pass on what the library says of its progress."""

    def __init__(self, channel: _Channel) -> None:
        self._channel, self._text = channel, ""

    def start(self, text: str) -> None:
        self.show(text)

    def show(self, text: str) -> None:
        self._text = text
        self._channel.tell(progress=text)

    def compile(self, text: str) -> None:
        self._channel.tell(progress=text or self._text)

    def stop(self) -> None:
        pass


def main() -> None:
    """Do one task after another until standard input ends."""
    channel, waiting = _Channel(), queue.SimpleQueue[str]()
    threading.Thread(target=_read, args=(waiting,), daemon=True).start()
    from sartre.app.tasks import TASKS  # noqa: PLC0415 - it imports the library, which takes a second or two

    while True:
        asked = json.loads(waiting.get())
        os.chdir(asked["folder"])
        _do(lambda begin, asked=asked: TASKS[asked["task"]](asked["arguments"], begin), channel)


def _read(waiting: queue.SimpleQueue[str]) -> None:
    """Read tasks; end this process at once, whatever it is doing, when the server has ended."""
    for line in sys.stdin:
        waiting.put(line)
    os._exit(0)


def _do(work: Callable[[Callable[[str], None]], Any], channel: _Channel) -> None:
    """Do one task and tell its result, or in one sentence why there is none."""

    def warn(message: Warning | str, *_: object, **__: object) -> None:
        channel.tell(warning=" ".join(str(message).split()))

    handler = ProgressHandler(_Progress(channel))
    logger = logging.getLogger("sartre")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for category in (UserWarning, RuntimeWarning):
                warnings.simplefilter("default", category)
            warnings.showwarning = warn
            result = work(handler.begin)
        channel.tell(result=result)
    except Exception as error:  # noqa: BLE001 - every failure is told
        channel.tell(error=described(error)[0])
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)
