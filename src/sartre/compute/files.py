"""Files are written completely or not at all, and destinations are checked before long computations."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


def check_destination(path: str | Path, source: str | Path | None = None) -> None:
    """Refuse a path that cannot be written, or is the input file, so that a long run does not fail at its end."""
    path = Path(path)
    folder = path.resolve().parent
    if path.is_dir():
        raise IsADirectoryError(f"'{path}' is a folder; name a file to write.")
    if path.exists() and not path.is_file():
        raise ValueError(f"'{path}' is not a regular file; name a file to write.")
    if source is not None and path.exists() and Path(source).exists() and path.samefile(source):
        raise ValueError(f"'{path}' is the input file; name another file or folder for the result.")
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder '{path.parent}' to write '{path.name}' in; create it first.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"The folder '{path.parent}' is not writable; choose another.")


@contextmanager
def reading(name: object) -> Iterator[None]:
    """Name the file in an error of the operating system that does not, as those of a read do not."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(name)
        raise


@contextmanager
def made_folder(path: str | Path) -> Iterator[None]:
    """Create a folder for results, and its parents; if the work inside fails, those left empty are removed."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"'{folder}' is a file; name a folder to write in.")
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for place in missing:
            if place.is_dir() and not any(place.iterdir()):
                place.rmdir()


def write_text_atomically(path: str | Path, text: str) -> None:
    """Write a file completely or not at all: no partial file is ever left, and no old file is damaged."""
    write_texts_atomically({path: text})


def write_texts_atomically(texts: Mapping[Any, str | bytes]) -> None:
    """Write several files, given by path, in this way; none is replaced before all are on disk.

    Text is written as UTF-8. A file that is replaced keeps its permissions.
    """
    temporaries: dict[Path, Path] = {}
    path: Any = None
    try:
        for path, text in texts.items():
            check_destination(path)
            target = Path(path).resolve()  # a link is followed, so that it stays a link
            temporaries[target] = target.with_name(f".{uuid.uuid4().hex}.tmp")
            _write_to_disk(temporaries[target], text, target)
        for path, temporary in temporaries.items():
            temporary.replace(path)
        for folder in {target.parent for target in temporaries}:
            _sync_folder(folder)
    except OSError as error:
        if error.errno is not None:
            error.filename, error.filename2 = str(path), None  # name the file that was asked for
        raise
    finally:
        for temporary in temporaries.values():
            temporary.unlink(missing_ok=True)


def _write_to_disk(temporary: Path, text: str | bytes, target: Path) -> None:
    """Write a new file through to the disk, with the permissions of the file that it will replace, if there is one."""
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    temporary.touch(0o666 if mode is None else 0o600, exist_ok=False)  # nobody else may read it before it has its mode
    if isinstance(text, bytes):
        temporary.write_bytes(text)
    else:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    if mode is not None:
        temporary.chmod(mode)


def _sync_folder(folder: Path) -> None:
    """Write the new names in a folder through to the disk, where the system can."""
    with suppress(OSError):  # Windows cannot open a folder, and some network disks cannot sync one
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
