"""What all commands share: two consoles, errors in one sentence, warnings in one line, and progress."""

from __future__ import annotations

import errno
import logging
import os
import re
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from rich.text import Text

SECONDS_BETWEEN_LINES = 1.5  # two seconds of silence look like a hang, and a busy machine is slow
LONG_RUN = 0.05, 60.0  # share of the elapsed time that a long run may be silent, and the longest silence
UNEXPECTED, BAD_INPUT, INTERRUPTED = 1, 2, 130
EXIT_CODES = "Exit codes: 0 success, 1 unexpected failure, 2 bad input or settings, 130 interrupted."
_COUNT = re.compile(r"(?P<stage>[^:]+): (?P<done>\d+) of (?P<total>\d+)\b")
_REMEDIES = {
    errno.ENOSPC: "free some space, or choose another disk",
    errno.EDQUOT: "free some space, or choose another disk",
    errno.EACCES: "ask for permission to use it, or choose another",
    errno.EPERM: "ask for permission to use it, or choose another",
    errno.EROFS: "choose another folder",
    errno.EPIPE: "its reader must not end first, or redirect it to a file",
}
# Control characters but tabs and line ends, and the marks that turn the direction of writing
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Show control characters as escapes, so that no name or message can direct the terminal.

    Examples
    --------
    >>> visible("\x1b[2Jrain")
    '\\x1b[2Jrain'
    """
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class _PlainConsole(Console):
    """A console that shows text as it is, except control characters, in lines and in cells of tables."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(markup=False, highlight=False, emoji=False, stderr=stderr)

    def render_str(self, text: str, **settings: Any) -> Text:
        """Convert text of a line or a cell, whose control characters become visible."""
        return super().render_str(visible(text), **settings)

    def on_broken_pipe(self) -> None:
        """Let `guarded` report that the reader of standard output has ended; Rich would exit without a word."""
        if self.stderr:
            super().on_broken_pipe()
        _discard_output()
        raise  # noqa: PLE0704 - Rich calls this where it handles the error


out = _PlainConsole()
err = _PlainConsole(stderr=True)


@contextmanager
def guarded(*, debug: bool) -> Iterator[None]:
    """Turn every failure into one sentence and its exit code; `debug` shows the traceback first."""
    try:
        with _warnings_in_one_line():
            yield
        _flush()
    except KeyboardInterrupt:
        err.print("Stopped.")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:  # noqa: BLE001 - every failure is reported
        if debug:
            err.print(traceback.format_exc(), soft_wrap=True, end="")
        sentence, code = described(error)
        err.print(f"Error: {sentence}", soft_wrap=True)
        raise typer.Exit(code) from None


def _flush() -> None:
    """Write out what was printed, so that a full disk is reported here and not at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
        raise


def _discard_output() -> None:
    """Send what is still to be printed nowhere; otherwise Python fails again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def described(error: Exception) -> tuple[str, int]:
    """Describe a failure in one sentence, and return it with its exit code."""
    if isinstance(error, OSError) and error.errno is not None:
        remedy = _REMEDIES.get(error.errno, "check its name and folder")
        place = "standard output" if error.filename is None else f"'{error.filename}'"
        return f"{error.strerror}: {place}; {remedy}.", BAD_INPUT
    if isinstance(error, MemoryError):
        own = str(error) if " GB of memory" in str(error) else ""
        return own or "There is not enough memory for this; use fewer rows or columns.", BAD_INPUT
    cache = _damaged_cache(error)
    if cache is not None:
        return f"The compiled code in '{cache}' is damaged; delete that folder, and it is compiled again.", BAD_INPUT
    text = " ".join(str(error).split())
    if isinstance(error, (ValueError, TypeError, OSError, ImportError)):
        return text, BAD_INPUT
    return f"Unexpected {type(error).__name__}: {text}; run again with --debug to see where.", UNEXPECTED


def _damaged_cache(error: Exception) -> str | None:
    """Return the folder of Numba's cache if it was being read when an error occurred."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_globals.get("__name__") == "numba.core.caching":
            return getattr(frame.f_locals.get("self"), "cache_path", None)
    return None


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    def show(message: Warning | str, *_: object, **__: object) -> None:
        err.print(f"Warning: {' '.join(str(message).split())}", soft_wrap=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("default", category)
        warnings.showwarning = show
        yield


@contextmanager
def progress(first: str) -> Iterator[Callable[[str], None]]:
    """Show progress on standard error: a bar on a terminal, else a line every two seconds, and later less often.

    The text is that of the library's latest log record; the function that is yielded begins a stage without records.
    """
    view = _Bar() if err.is_terminal else _Lines()
    handler = ProgressHandler(view)
    logger = logging.getLogger("sartre")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        view.start(first)
        yield handler.begin
    finally:
        view.stop()
        logger.setLevel(level)
        logger.removeHandler(handler)


class ProgressHandler(logging.Handler):
    """Pass on log messages, except those of the many steps that run at once on halves of the rows."""

    _OUTER = ("sartre.evidence.stability", "sartre.evidence.certificates")

    def __init__(self, view: _Bar | _Lines) -> None:
        super().__init__(logging.INFO)
        self._view = view
        self._outer = False

    def begin(self, text: str) -> None:
        self._outer = False
        self._view.show(text)

    def emit(self, record: logging.LogRecord) -> None:
        self._outer |= record.name in self._OUTER
        if not self._outer or record.name in self._OUTER:
            self._view.show(record.getMessage())


class _Lines:
    """Print one line at once, then one after each `pause`, from a separate thread that slow work cannot delay."""

    def __init__(self) -> None:
        self._text = ""
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def start(self, text: str) -> None:
        self._text = text
        err.print(text, soft_wrap=True)
        self._thread.start()

    def show(self, text: str) -> None:
        self._text = text

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _tell(self) -> None:
        elapsed = 0.0
        while not self._ended.wait(pause(elapsed)):
            elapsed = time.monotonic() - self._began
            with suppress(OSError):  # standard error may be closed; the work continues
                err.print(f"{self._text} ({elapsed:.0f} s)", soft_wrap=True)


def pause(elapsed: float) -> float:
    """Return the seconds until the next line of a run: 1.5 at first, and a minute in a run of hours.

    Examples
    --------
    >>> pause(10), pause(600), pause(7200)
    (1.5, 30.0, 60.0)
    """
    share, longest = LONG_RUN
    return max(SECONDS_BETWEEN_LINES, min(share * elapsed, longest))


class _Bar:
    """A line on the terminal with the current stage, its elapsed and its remaining time; it is erased at the end."""

    def __init__(self) -> None:
        text = TextColumn("{task.description}", markup=False)
        times = TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()
        self._bar = Progress(SpinnerColumn(), text, BarColumn(20), *times, console=err, transient=True)
        self._stage = ""
        self._task = self._bar.add_task("", total=None)

    def start(self, text: str) -> None:
        self.show(text)
        self._bar.start()

    def show(self, text: str) -> None:
        text = visible(text)
        count = _COUNT.match(text)
        stage = count["stage"] if count else text.partition(":")[0]
        total, done = (int(count["total"]), int(count["done"])) if count else (None, 0)
        if stage != self._stage:  # a new stage starts its own time
            self._stage = stage
            self._bar.remove_task(self._task)
            self._task = self._bar.add_task(text, total=total, completed=done)
        else:
            self._bar.update(self._task, description=text, total=total, completed=done)

    def stop(self) -> None:
        self._bar.stop()
