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
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn

if TYPE_CHECKING:
    from rich.text import Text

SECONDS_BETWEEN_LINES = 1.0  # two seconds of silence look like a hang, and a busy machine is slow
LONG_RUN = 120.0, 0.05, 60.0  # seconds after which lines become rarer, the share of later time, the longest silence
SECONDS_UNTIL_ESTIMATE = 2.0  # of a stage before its speed is trusted
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
        sentence, code = _told(error)
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


def _told(error: Exception) -> tuple[str, int]:
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
    text = "\n".join(" ".join(line.split()) for line in _lines(error))
    if isinstance(error, (ValueError, TypeError, OSError, ImportError)):
        return text, BAD_INPUT
    return f"Unexpected {type(error).__name__}: {text}; run again with --debug to see where.", UNEXPECTED


def _lines(error: Exception) -> list[str]:
    """Return the text of an error; only a list of the problems of a table has several lines."""
    return str(error).splitlines() if hasattr(error, "problems") else [str(error)]


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
    handler = _Handler(view)
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


class _Clock:
    """What is being done, for how long the run has lasted, and how long this stage will take.

    While loops are compiled, only that is told, and the time does not count for the speed of the stage.
    """

    def __init__(self) -> None:
        self.text, self.compiling, self.told = "", "", False
        self.stage, self.done, self.total = "", 0, 0
        self._began = self._since = time.monotonic()
        self._first, self._compiled, self._started = 0, 0.0, 0.0

    def show(self, text: str) -> None:
        """Take the latest message; a new stage starts its own time."""
        count = _COUNT.match(text)
        stage = count["stage"] if count else text.partition(":")[0]
        self.text, self.done, self.total = text, *(map(int, count.group("done", "total")) if count else (0, 0))
        if stage != self.stage:
            self.stage, self._first, self._since, self._compiled = stage, self.done, time.monotonic(), 0.0

    def compile(self, text: str) -> None:
        """Say that loops are compiled, or with an empty text that this is done."""
        if text and not self.compiling:
            self._started = time.monotonic()
        elif self.compiling and not text:
            self._compiled += time.monotonic() - self._started
        self.compiling = text

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float | None:
        """Seconds that this stage will still take, if its speed is known and it will take as much as one."""
        steps, seconds = self.done - self._first, time.monotonic() - self._since - self._compiled
        if self.compiling or steps < 1 or seconds < SECONDS_UNTIL_ESTIMATE:
            return None
        left = seconds / steps * (self.total - self.done)
        return left if left >= 1 else None

    def times(self, passed: str = "") -> str:
        """Return the time that has passed, with a word for that, and the time that is left, if it is known."""
        left = self.left
        rest = "" if left is None else f", this step ends in {spoken(left)}"
        return f"{spoken(self.elapsed)}{passed}{rest}"


def spoken(seconds: float) -> str:
    """Return a time in seconds, minutes or hours.

    Examples
    --------
    >>> spoken(9.6), spoken(125), spoken(7500)
    ('9 s', '2 min 5 s', '2 h 5 min')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


class _Handler(logging.Handler):
    """Pass on log messages, except those of the many steps that run at once on halves of the rows."""

    _COMPILER = "sartre.compute.compiling"
    _OUTER = ("sartre.evidence.stability", "sartre.evidence.certificates")

    def __init__(self, view: _Bar | _Lines) -> None:
        super().__init__(logging.INFO)
        self._view = view
        self._outer = False

    def begin(self, text: str) -> None:
        self._outer = False
        self._view.show(text)

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == self._COMPILER:
            self._view.compile(record.getMessage())
            return
        self._outer |= record.name in self._OUTER
        if not self._outer or record.name in self._OUTER:
            self._view.show(record.getMessage())


class _Lines:
    """Print one line at once, then one after each `pause`, from a separate thread that slow work cannot delay."""

    def __init__(self) -> None:
        self._clock = _Clock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def start(self, text: str) -> None:
        self._clock.show(text)
        err.print(text, soft_wrap=True)
        self._thread.start()

    def show(self, text: str) -> None:
        self._clock.show(text)

    def compile(self, text: str) -> None:
        self._clock.compile(text)
        if text and not self._clock.told:
            self._clock.told = True
            err.print(text, soft_wrap=True)

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _tell(self) -> None:
        elapsed = 0.0
        while not self._ended.wait(pause(elapsed)):
            elapsed = self._clock.elapsed
            with suppress(OSError):  # standard error may be closed; the work continues
                err.print(f"{self._clock.compiling or self._clock.text} ({self._clock.times()})", soft_wrap=True)


def pause(elapsed: float) -> float:
    """Return the seconds until the next line of a run: one in the first minutes, and a minute in a run of hours.

    Examples
    --------
    >>> pause(10), pause(600), pause(7200)
    (1.0, 24.0, 60.0)
    """
    start, share, longest = LONG_RUN
    return max(SECONDS_BETWEEN_LINES, min(share * (elapsed - start), longest))


class _Bar:
    """A line on the terminal with the current stage, the time so far and the time left; it is erased at the end."""

    def __init__(self) -> None:
        text, times = TextColumn("{task.description}", markup=False), _Times()
        self._clock = times.clock
        self._bar = Progress(SpinnerColumn(), text, BarColumn(10), times, console=err, transient=True)
        self._task = self._bar.add_task("", total=None)

    def start(self, text: str) -> None:
        self.show(text)
        self._bar.start()

    def show(self, text: str) -> None:
        self._clock.show(visible(text))
        self._update()

    def compile(self, text: str) -> None:
        self._clock.compile(text)
        self._update()

    def _update(self) -> None:
        clock = self._clock
        total, done = (clock.total, clock.done) if clock.total and not clock.compiling else (None, 0)
        self._bar.update(self._task, description=clock.compiling or clock.text, completed=done)
        self._bar.tasks[0].total = total  # `update` takes None for no change

    def stop(self) -> None:
        self._bar.stop()


class _Times(ProgressColumn):
    """The time that has passed, and the time that is left in this step once it is known."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = _Clock()

    def render(self, task: object) -> Text:  # noqa: ARG002
        return err.render_str(self.clock.times(" elapsed"))
