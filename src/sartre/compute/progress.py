"""Progress of long computations, from the messages that the library logs: a bar on a terminal, otherwise lines.

The command line and ``CausalDiscovery(verbose=1)`` both use it; without either, the library is silent.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from rich.progress import TaskID

SECONDS_BETWEEN_LINES = 1.5  # two seconds of silence look like a hang, and a busy machine is slow
LONG_RUN = 0.05, 60.0  # share of the elapsed time that a long run may be silent, and the longest silence
_COUNT = re.compile(r"(?P<stage>[^:]+): (?P<done>\d+) of (?P<total>\d+)\b")
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


@contextmanager
def progress(first: str, console: Console | None = None) -> Iterator[Callable[[str], None]]:
    """Show progress on standard error: a bar on a terminal, else a line every two seconds, and later less often.

    The text is that of the library's latest log record; the function that is yielded begins a stage without records.

    Examples
    --------
    >>> import io
    >>> screen = Console(file=io.StringIO())
    >>> with progress("Learning", screen):
    ...     pass
    >>> screen.file.getvalue()
    'Learning\\n'
    """
    console = Console(stderr=True, markup=False, highlight=False, emoji=False) if console is None else console
    view = Bar(console) if _can_redraw(console) else Lines(console)
    handler = ProgressHandler(view)
    logger = logging.getLogger("sartre")
    level, passes_on = logger.level, logger.propagate
    logger.propagate = passes_on and logger.getEffectiveLevel() <= logging.INFO  # nobody else asked for more messages
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        view.start(first)
        yield handler.begin
    finally:
        view.stop()
        logger.setLevel(level)
        logger.propagate = passes_on
        logger.removeHandler(handler)


class View(Protocol):
    """What shows the latest message."""

    def start(self, text: str) -> None:
        """Begin with a message."""

    def show(self, text: str) -> None:
        """Replace the message."""

    def stop(self) -> None:
        """End."""


class ProgressHandler(logging.Handler):
    """Pass on log messages, except those of the many steps that run at once on halves of the rows."""

    _OUTER = ("sartre.evidence.stability", "sartre.evidence.certificates")

    def __init__(self, view: View) -> None:
        super().__init__(logging.INFO)
        self._view = view
        self._outer = False

    def begin(self, text: str) -> None:
        """Begin a stage."""
        self._outer = False
        self._view.show(text)

    def emit(self, record: logging.LogRecord) -> None:
        """Show a message."""
        self._outer |= record.name in self._OUTER
        if not self._outer or record.name in self._OUTER:
            self._view.show(record.getMessage())


class Lines:
    """Print one line at once, then one after each `pause`, from a separate thread that slow work cannot delay."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._text = ""
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def start(self, text: str) -> None:
        """Print the first line."""
        self._text = text
        self._console.print(visible(text), soft_wrap=True)
        self._thread.start()

    def show(self, text: str) -> None:
        """Replace the text of the next line."""
        self._text = text

    def stop(self) -> None:
        """Print no more lines."""
        self._ended.set()
        self._thread.join()

    def _tell(self) -> None:
        elapsed = 0.0
        while not self._ended.wait(pause(elapsed)):
            elapsed = time.monotonic() - self._began
            with suppress(OSError):  # standard error may be closed; the work continues
                self._console.print(f"{visible(self._text)} ({elapsed:.0f} s)", soft_wrap=True)


def pause(elapsed: float) -> float:
    """Return the seconds until the next line of a run: 1.5 at first, and a minute in a run of hours.

    Examples
    --------
    >>> pause(10), pause(600), pause(7200)
    (1.5, 30.0, 60.0)
    """
    share, longest = LONG_RUN
    return max(SECONDS_BETWEEN_LINES, min(share * elapsed, longest))


class Bar:
    """A line on the terminal with the current stage, its elapsed and its remaining time; it is erased at the end."""

    def __init__(self, console: Console) -> None:
        text = TextColumn("{task.description}", markup=False)
        times = TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()
        self._bar = Progress(SpinnerColumn(), text, BarColumn(20), *times, console=console, transient=True)
        self._stage = ""
        self._task: TaskID = self._bar.add_task("", total=None)

    def start(self, text: str) -> None:
        """Show the line."""
        self.show(text)
        self._bar.start()

    def show(self, text: str) -> None:
        """Replace the text; one such as "order: 3 of 20 leaves found" moves the bar."""
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
        """Erase the line."""
        self._bar.stop()


def _can_redraw(console: Console) -> bool:
    """Return whether a line can be drawn again in place; notebooks need ipywidgets for that."""
    return find_spec("ipywidgets") is not None if console.is_jupyter else console.is_terminal
