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
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn
from rich.text import Text

SECONDS_BETWEEN_LINES = 1.0  # two seconds of silence look like a hang, and a busy machine is slow
LONG_RUN = 120.0, 0.05, 60.0  # seconds after which lines become rarer, the share of later time, the longest silence
SECONDS_UNTIL_ESTIMATE = 2.0  # of a stage before its speed is trusted
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
    r"""Show progress on standard error: a bar on a terminal, else a line every two seconds, and later less often.

    The text is that of the library's latest log record; the function that is yielded begins a stage without records.

    Examples
    --------
    >>> import io
    >>> screen = Console(file=io.StringIO())
    >>> with progress("Learning", screen):
    ...     pass
    >>> screen.file.getvalue()
    'Learning\n'
    """
    console = Console(stderr=True, markup=False, highlight=False, emoji=False) if console is None else console
    view = Bar(console) if _can_redraw(console) else Lines(console)
    handler = ProgressHandler(view)
    try:
        with _informed(handler):
            view.start(first)
            yield handler.begin
    finally:
        view.stop()


_lock = threading.Lock()
_heard: list[logging.Handler] = []  # by whom the library's records are shown, from any thread
_before: list[tuple[int, bool]] = []  # level and propagation of the logger before the first of them


@contextmanager
def _informed(handler: logging.Handler) -> Iterator[None]:
    """Send the library's records to a handler; the last one to leave restores the logger."""
    logger = logging.getLogger("sartre")
    with _lock:
        if not _heard:
            _before[:] = [(logger.level, logger.propagate)]
            logger.propagate = logger.propagate and logger.getEffectiveLevel() <= logging.INFO  # others asked for less
            logger.setLevel(logging.INFO)
        _heard.append(handler)
        logger.addHandler(handler)
    try:
        yield
    finally:
        with _lock:
            logger.removeHandler(handler)
            _heard.remove(handler)
            if not _heard:
                level, logger.propagate = _before.pop()
                logger.setLevel(level)


class Clock:
    """What is being done, for how long the run has lasted, and how long this stage will take.

    While loops are compiled, only that is told, and the time does not count for the speed of the stage.
    """

    def __init__(self) -> None:
        self.text = self.compiling = ""
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


class View(Protocol):
    """What shows the latest message."""

    def start(self, text: str) -> None:
        """Begin with a message."""

    def show(self, text: str) -> None:
        """Replace the message."""

    def compile(self, text: str) -> None:
        """Say that loops are compiled, or with an empty text that this is done."""

    def stop(self) -> None:
        """End."""


class ProgressHandler(logging.Handler):
    """Pass on log messages, except those of the many steps that run at once on halves of the rows."""

    _COMPILER = "sartre.compute.compiling"
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
        if record.name == self._COMPILER:
            self._view.compile(record.getMessage())
            return
        self._outer |= record.name in self._OUTER
        if not self._outer or record.name in self._OUTER:
            self._view.show(record.getMessage())


class Lines:
    """Print one line at once, then one after each `pause`, from a separate thread that slow work cannot delay."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._clock = Clock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def start(self, text: str) -> None:
        """Begin with a message."""
        self._clock.show(text)
        self._console.print(visible(text), soft_wrap=True)
        self._thread.start()

    def show(self, text: str) -> None:
        """Take the latest message."""
        self._clock.show(text)

    def compile(self, text: str) -> None:
        """Say that loops are compiled, or with an empty text that this is done."""
        self._clock.compile(text)

    def stop(self) -> None:
        """End."""
        self._ended.set()
        self._thread.join()

    def _tell(self) -> None:
        elapsed = 0.0
        while not self._ended.wait(pause(elapsed)):
            elapsed = self._clock.elapsed
            with suppress(OSError):  # standard error may be closed; the work continues
                text = visible(self._clock.compiling or self._clock.text)
                self._console.print(f"{text} ({self._clock.times()})", soft_wrap=True)


def pause(elapsed: float) -> float:
    """Return the seconds until the next line of a run: one in the first minutes, and a minute in a run of hours.

    Examples
    --------
    >>> pause(10), pause(600), pause(7200)
    (1.0, 24.0, 60.0)
    """
    start, share, longest = LONG_RUN
    return max(SECONDS_BETWEEN_LINES, min(share * (elapsed - start), longest))


class Bar:
    """A line on the terminal with the current stage, the time so far and the time left; it is erased at the end."""

    def __init__(self, console: Console) -> None:
        text, times = TextColumn("{task.description}", markup=False), _Times()
        self._clock = times.clock
        self._bar = Progress(SpinnerColumn(), text, BarColumn(10), times, console=console, transient=True)
        self._task = self._bar.add_task("", total=None)

    def start(self, text: str) -> None:
        """Begin with a message."""
        self.show(text)
        self._bar.start()

    def show(self, text: str) -> None:
        """Take the latest message."""
        self._clock.show(visible(text))
        self._update()

    def compile(self, text: str) -> None:
        """Say that loops are compiled, or with an empty text that this is done."""
        self._clock.compile(text)
        self._update()

    def _update(self) -> None:
        clock = self._clock
        total, done = (clock.total, clock.done) if clock.total and not clock.compiling else (None, 0)
        self._bar.update(self._task, description=clock.compiling or clock.text, completed=done)
        self._bar.tasks[0].total = total  # `update` takes None for no change

    def stop(self) -> None:
        """End."""
        self._bar.stop()


class _Times(ProgressColumn):
    """The time that has passed, and the time that is left in this step once it is known."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()

    def render(self, task: object) -> Text:  # noqa: ARG002
        """Return the times."""
        return Text(self.clock.times(" elapsed"))


def _can_redraw(console: Console) -> bool:
    """Return whether a line can be drawn again in place; notebooks need ipywidgets for that."""
    return find_spec("ipywidgets") is not None if console.is_jupyter else console.is_terminal
