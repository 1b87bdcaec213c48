"""Read stored tables and graphs, after checking that their bytes have not changed."""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from sartre.graph.dag import Dag

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def stored_table(file: Traversable, sha256: str) -> pd.DataFrame:
    r"""Read a CSV file, gzipped if its name ends in ``.gz``, after checking its SHA-256.

    Examples
    --------
    >>> import hashlib, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "table.csv")
    ...     _ = file.write_bytes(b"a,b\n1,2\n")
    ...     stored_table(file, hashlib.sha256(b"a,b\n1,2\n").hexdigest()).to_dict("list")
    {'a': [1], 'b': [2]}
    """
    content = file.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise OSError(
            f"The data file '{file.name}' is not the one this release was made with: its SHA-256 must be {sha256}. "
            f"Got {found} instead. Restore the file or install sartre again."
        )
    return pd.read_csv(io.BytesIO(gzip.decompress(content) if file.name.endswith(".gz") else content))


def stored_dag(file: Traversable, sha256: str, names: Sequence[str]) -> Dag:
    r"""Read a graph over ``names`` from a CSV file with the columns source and target (source -> target).

    Examples
    --------
    >>> import hashlib, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "edges.csv")
    ...     _ = file.write_bytes(b"source,target\nb,a\n")
    ...     stored_dag(file, hashlib.sha256(b"source,target\nb,a\n").hexdigest(), ["a", "b"])
    Dag: 2 variables, 1 edges
      b -> a
    """
    edges = stored_table(file, sha256)
    return Dag.from_edges(zip(edges["source"], edges["target"], strict=True), names)
