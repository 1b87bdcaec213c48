"""The file of a model: a ZIP archive of one JSON document and the arrays that it refers to.

A file may come from anybody. Nothing in it is executed: arrays hold plain numbers, their sizes are checked before
memory is taken, and members are not compressed, so that none is larger than the file.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sartre.compute.files import reading

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT = "model.json"
MODEL_FORMAT, MODEL_FORMAT_VERSION = "sartre model", 1
LARGEST_HEADER = 10_000  # characters of an array's header, as in NumPy
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same model is the same file


class ArrayStore:
    """Arrays to be written; the document refers to them by number."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []

    def put(self, array: Any) -> dict[str, int]:
        """Keep an array of numbers, and return the reference to it.

        Examples
        --------
        >>> ArrayStore().put([1.0, 2.0])
        {'array': 0}
        """
        self.arrays.append(np.ascontiguousarray(array))
        return {"array": len(self.arrays) - 1}


class StoredArrays:
    """Arrays that were read."""

    def __init__(self, arrays: Sequence[NDArray[Any]]) -> None:
        self._arrays = arrays

    def get(self, reference: Any, shape: tuple[int | None, ...], kinds: str = "f") -> NDArray[Any]:
        """Return an array with this shape (None for any length) and one of these kinds; all its numbers are finite.

        Examples
        --------
        >>> StoredArrays([np.zeros((2, 3))]).get({"array": 0}, (2, None)).shape
        (2, 3)
        """
        array = self.any(reference, shape, kinds)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError("an array holds NaN or infinity")
        return array

    def any(self, reference: Any, shape: tuple[int | None, ...], kinds: str = "f") -> NDArray[Any]:
        """Return an array with this shape and one of these kinds, which may hold NaN and infinity."""
        array = self._arrays[_whole(reference["array"])]
        fits = len(array.shape) == len(shape) and all(b in (None, a) for a, b in zip(array.shape, shape, strict=True))
        if not fits or array.dtype.kind not in kinds:
            raise ValueError(f"an array has the shape {array.shape} and the type {array.dtype}")
        return array


def packed(document: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> bytes:
    """Return the file that holds a document and its arrays."""
    out = io.BytesIO()
    head = {"format": MODEL_FORMAT, "format_version": MODEL_FORMAT_VERSION}
    text = json.dumps(head | document, ensure_ascii=False, allow_nan=False, indent=1)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(DOCUMENT, _EPOCH), text.encode("utf-8", "surrogatepass"))
        for k, array in enumerate(arrays):
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(_member(k), _EPOCH), member.getvalue())
    return out.getvalue()


def unpacked(path: Path) -> tuple[dict[str, Any], StoredArrays]:
    """Return the document of a file and its arrays; whatever is not such a file is a ValueError."""
    with reading(path), path.open("rb") as file:
        size = path.stat().st_size
        if not zipfile.is_zipfile(file):
            raise ValueError("it is no archive")
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if any(member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1 for member in members):
                raise ValueError("its members are compressed or encrypted")
            if sum(member.file_size for member in members) > size:
                raise ValueError("its members are larger than the file")
            document = _document(archive.read(DOCUMENT))
            count = len(members) - 1
            return document, StoredArrays([_array(archive.read(_member(k))) for k in range(count)])


def _document(content: bytes) -> dict[str, Any]:
    document = json.loads(content.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)
    if not isinstance(document, dict) or document.get("format") != MODEL_FORMAT:
        raise ValueError(f"it does not call itself a {MODEL_FORMAT}")
    version = document.get("format_version")
    if version != MODEL_FORMAT_VERSION:
        raise ValueError(
            f"it is of version {version!r:.20} of the format, and this version of sartre reads version "
            f"{MODEL_FORMAT_VERSION}; read it with the version of sartre that wrote it ({document.get('sartre')!r:.20})"
        )
    return document


def _array(content: bytes) -> NDArray[Any]:
    """Read an array of numbers whose size is what its header says."""
    member = io.BytesIO(content)
    if np.lib.format.read_magic(member) != (1, 0):
        raise ValueError("an array is of another version of NumPy's format")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(member, max_header_size=LARGEST_HEADER)
    if dtype.kind not in "biuf" or dtype.hasobject or min(shape, default=0) < 0:
        raise ValueError("an array does not hold numbers")
    if len(content) - member.tell() != prod(shape) * dtype.itemsize:
        raise ValueError("an array is not as large as it says")
    array = np.frombuffer(content, dtype, offset=member.tell()).reshape(shape, order="F" if fortran else "C")
    return array.astype(dtype.newbyteorder("="))


def _member(k: int) -> str:
    return f"arrays/{k}.npy"


def _whole(number: Any) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError(f"a number of an array is {number!r:.20}")
    return number


def _no_constant(text: str) -> None:
    raise ValueError(f"it holds {text}, which is no number in JSON")
