"""What all commands share: two consoles, errors in one sentence, warnings in one line, and progress."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from sartre.compute.progress import progress as shown_progress
from sartre.compute.progress import visible

if TYPE_CHECKING:
    from rich.text import Text

UNEXPECTED, BAD_INPUT, INTERRUPTED = 1, 2, 130
EXIT_CODES = "Exit codes: 0 success, 1 unexpected failure, 2 bad input or settings, 130 interrupted."
_REMEDIES = {
    errno.ENOSPC: "free some space, or choose another disk",
    errno.EDQUOT: "free some space, or choose another disk",
    errno.EACCES: "ask for permission to use it, or choose another",
    errno.EPERM: "ask for permission to use it, or choose another",
    errno.EROFS: "choose another folder",
    errno.EPIPE: "its reader must not end first, or redirect it to a file",
}


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
    """Show progress on standard error, as `sartre.compute.progress.progress` does."""
    with shown_progress(first, err) as begin:
        yield begin
