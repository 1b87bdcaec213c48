"""Results are kept on disk as they arrive, so that an interrupted computation resumes where it stopped."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, is_dataclass
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sartre.compute.files import check_destination, write_text_atomically

if TYPE_CHECKING:
    from sartre.data.table import Table


FORMAT = "sartre checkpoint 1"
SILENT = ("n_jobs", "verbose")  # settings that change no result
_MISMATCH = {
    "version": "was written by version {stored} of sartre, but this is {wanted}",
    "data": "belongs to different data (different values, column names or column order)",
    "settings": "belongs to a model with different settings: {stored}",
    "seed": "belongs to random_state {stored}. Got {wanted} instead",
}
# Settings on which no half-sample depends, or which are at a default that older checkpoints do not name
_IMMATERIAL = re.compile(r"(?<=\()({0})(, )?|, ({0})(?=[,)])".format(r"directions=(True|False)|device='cpu'"))


@dataclass
class Checkpoint:
    """Numbered results of one computation, and the file they are kept in, if any.

    ``identity`` describes the computation: "version", "data", "settings" and "seed"; each result is plain JSON.
    """

    path: Path | None
    identity: dict[str, Any]
    results: dict[int, Any]

    @classmethod
    def open(cls, path: str | Path | None, identity: dict[str, Any]) -> Checkpoint:
        """Resume from the file if it exists, or start it; refuse the file of another computation.

        A seed of None in `identity` means the seed in the file.
        """
        if path is None:
            return cls(None, identity, {})
        path = Path(path)
        check_destination(path)
        if not path.exists():
            return cls(path, identity, {})
        content = _read(path)
        stored = content["identity"]
        wanted = {**identity, "seed": stored["seed"] if identity["seed"] is None else identity["seed"]}
        for key, text in _MISMATCH.items():
            if _material(key, stored[key]) != _material(key, wanted[key]):
                reason = text.format(stored=stored[key], wanted=wanted[key])
                raise ValueError(f"The checkpoint '{path}' {reason}. Name another file, or delete this one.")
        return cls(path, wanted, {int(number): result for number, result in content["results"].items()})

    def add(self, number: int, result: Any) -> None:
        """Keep a result, also on disk if there is a file."""
        self.results[number] = result
        self.write()

    def write(self) -> None:
        """Write all results to the file, completely or not at all."""
        if self.path is not None:
            body = json.dumps({"identity": self.identity, "results": self.results}, separators=(",", ":"))
            write_text_atomically(self.path, f'{{"format":"{FORMAT}","sha256":"{_digest(body)}","content":{body}}}\n')


def _material(key: str, value: Any) -> Any:
    """Return what counts of an identity's value."""
    return _IMMATERIAL.sub("", value) if key == "settings" and isinstance(value, str) else value


def describe_table(table: Table) -> str:
    """Return a digest of a table's values, names, levels and design."""
    levels = [[j, table.levels[j]] for j in sorted(table.levels)]
    digest = hashlib.sha256(json.dumps([table.shape, table.names, levels]).encode())
    digest.update(table.values.tobytes(order="F"))
    if table.design is not None:
        for array in (table.design.acted, table.design.indicators, table.design.shifted, table.design.groups):
            digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def describe_settings(value: Any) -> str:
    """Return a text that is the same if and only if the settings are, apart from ``n_jobs`` and ``verbose``.

    Examples
    --------
    >>> from sartre.order import RandomOrder
    >>> describe_settings(RandomOrder(random_state=3))
    'sartre.order.random_order.RandomOrder(random_state=3)'
    """
    if hasattr(value, "get_params"):
        settings = value.get_params(deep=False).items()
        told = ", ".join(f"{name}={describe_settings(setting)}" for name, setting in settings if name not in SILENT)
        return f"{type(value).__module__}.{type(value).__qualname__}({told})"
    if isinstance(value, np.ndarray):
        return f"array({describe_settings(value.tolist())})"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(describe_settings, value))}]"
    if value is None or isinstance(value, (str, Number, range)) or is_dataclass(value):
        return repr(value.item() if isinstance(value, np.generic) else value)
    raise TypeError(
        f"A checkpoint cannot record a setting of type {type(value).__name__}. Use a number, a text or a list of them "
        "(an int for 'random_state'), or no checkpoint."
    )


def _read(path: Path) -> dict[str, Any]:
    damaged = ValueError(
        f"The checkpoint '{path}' is damaged, or is not a checkpoint. Name another file, or delete this one."
    )
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        content, stored = document["content"], document["sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise damaged from None
    if document.get("format") != FORMAT or _digest(json.dumps(content, separators=(",", ":"))) != stored:
        raise damaged
    return content


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
