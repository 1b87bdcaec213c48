"""Compressed text files: ``cells.csv.gz``, ``.bz2``, ``.xz`` and ``.zst``."""

from __future__ import annotations

import importlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from typing import TYPE_CHECKING, Any, BinaryIO

from sartre.data.file_names import COMPRESSED

if TYPE_CHECKING:
    from pathlib import Path

GROWTH = 4  # a compressed table of numbers is about four times larger once it is read


def is_compressed(path: Path) -> bool:
    """Return whether a file is compressed, judged by its extension."""
    return path.suffix.lower() in COMPRESSED


def unpacked_size(path: Path) -> int:
    """Return the number of bytes of a text, roughly if it is compressed."""
    return path.stat().st_size * (GROWTH if is_compressed(path) else 1)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, and decompress it if its extension says so; a damaged one is refused.

    Examples
    --------
    >>> import gzip, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "cells.csv.gz"
    ...     _ = file.write_bytes(gzip.compress(b"a,b"))
    ...     with opened(file) as content:
    ...         content.read()
    b'a,b'
    """
    if not is_compressed(path):
        with path.open("rb") as file:
            yield file
        return
    module = _module(path)
    try:
        with path.open("rb") as file, _unpacked(module, file) as unpacked:
            yield unpacked
    except (EOFError, zlib.error, LZMAError, _own_error(module)) as error:
        raise _damaged(path) from error
    except OSError as error:  # gzip and bz2 raise it for bad data, without a number
        if error.errno is None:
            raise _damaged(path) from error
        raise


def _unpacked(module: Any, file: BinaryIO) -> Any:
    """Return the stream of unpacked bytes; the reader of zstandard does not notice that a file has been cut short."""
    cuts_silently = hasattr(module, "ZstdDecompressor") and not hasattr(module, "ZstdFile")
    return io.BufferedReader(_Frames(module.ZstdDecompressor(), file)) if cuts_silently else module.open(file)


class _Frames(io.RawIOBase):
    """The bytes in one or more frames of zstandard, of which the last must be complete."""

    def __init__(self, decompressor: Any, file: BinaryIO) -> None:
        self._decompressor, self._file = decompressor, file
        self._frame: Any = None
        self._packed = self._ready = b""

    def readable(self) -> bool:
        """Return that bytes can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; 0 means that all has been read."""
        while not self._ready:
            self._packed = self._packed or self._file.read(io.DEFAULT_BUFFER_SIZE)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError
                return 0
            self._frame = self._frame or self._decompressor.decompressobj()
            self._ready = self._frame.decompress(self._packed)
            self._packed = b""
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, None
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n


def _own_error(module: Any) -> type[Exception]:
    """Return the error that a module raises for bad data, if it has one of its own."""
    return getattr(module, "ZstdError", EOFError)


def _module(path: Path) -> Any:
    """Return the module that opens files of this kind."""
    name = COMPRESSED[path.suffix.lower()]
    for candidate in ("compression.zstd", name) if name == "zstandard" else (name,):
        try:
            return importlib.import_module(candidate)
        except ImportError:
            continue
    raise ImportError(
        f"Reading '{path}' needs zstandard; install it with: pip install \"sartre[zstd]\", or unpack the file first."
    )


def _damaged(path: Path) -> ValueError:
    return ValueError(f"'{path}' is not a complete {path.suffix.lower()} file; compress it again, or unpack it.")


def peeked(path: Path, size: int) -> tuple[bytes, float]:
    """Return the first bytes of a text, and about which share of the whole they are."""
    with opened(path) as file:
        content = file.read(size)
    whole = len(content) < size
    return content, 1.0 if whole else len(content) / max(unpacked_size(path), len(content))
