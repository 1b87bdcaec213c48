"""Quantities that depend on the predictors alone, computed once and shared by all targets.

A column becomes integer codes: bin b holds the values in (edges[b - 1], edges[b]]. A basis is a table with one row per
bin. It is centred and rotated so that its functions are orthogonal over the samples.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

RANK_TOL = 1e-12  # eigenvalues below this share of the largest count as zero (a tree's leaves add up to one)
ROUGH_TOL = 1e-14  # smallest roughness of a penalised direction, relative to the largest; less is rounding
_GROWTH = 9  # the tables grow to 9/8 of the space they need


def encode(column: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[Any]:
    """Return the bin of every value; the first and the last bin reach to infinity.

    Parameters
    ----------
    column : array of shape (n,)
    edges : array of shape (B - 1,)
        Inner borders, increasing.

    Returns
    -------
    array of shape (n,), uint8 up to 256 bins and uint16 above

    Examples
    --------
    >>> encode(np.array([-5.0, 0.0, 0.1, 9.0]), np.array([0.0, 1.0]))
    array([0, 0, 1, 2], dtype=uint8)
    """
    return np.searchsorted(edges, column, side="left").astype(code_type(len(edges) + 1))


def code_type(n_bins: int) -> type[np.uint8 | np.uint16]:
    """Return the smallest integer type that numbers the bins; raise an error above 65,536 bins."""
    if n_bins > 1 << 16:
        raise ValueError(f"A variable can have at most 65,536 bins. Got {n_bins} instead. Use fewer trees or leaves.")
    return np.uint8 if n_bins <= 1 << 8 else np.uint16


class Basis(NamedTuple):
    """Basis functions of one variable, as a table: one row per bin, one column per function.

    ``edges`` are the B - 1 inner borders of the bins: bin b is ``(edges[b - 1], edges[b]]``. If the last border is
    infinite, the last bin holds the missing values (NaN). Smooth functions have a ``penalty``: b' penalty b is the
    roughness of the function with coefficients b. ``line`` holds the coefficients of the straight line, which is not
    penalised: one vector, or one column per unpenalised function. It is None if the penalty is zero throughout.
    """

    edges: NDArray[np.float64]
    table: NDArray[np.float64]
    penalty: NDArray[np.float64] | None = None
    line: NDArray[np.float64] | None = None


NOTHING = Basis(np.empty(0), np.empty((1, 0)), np.empty((0, 0)))  # for a column without observed values


def level_basis(column: NDArray[np.float64], scale: float = 1.0) -> Basis:
    """Return the unpenalised indicators of the levels 0, 1, ... of a category, so that its test is the F test.

    Parameters
    ----------
    column : array of shape (n,)
    scale : float
        Value of an indicator.

    Examples
    --------
    >>> level_basis(np.array([0.0, 2.0, 1.0])).table
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    n_levels = int(np.nanmax(column)) + 1
    return Basis(np.arange(n_levels - 1.0), scale * np.eye(n_levels), np.zeros((n_levels, n_levels)))


def with_missing(basis: Basis, scale: float = 1.0) -> Basis:
    """Add a bin for missing values and its unpenalised indicator; the other functions are zero in that bin."""
    bins, functions = basis.table.shape
    table = np.zeros((bins + 1, functions + 1))
    table[:bins, :functions] = basis.table
    table[bins, functions] = scale
    edges = np.append(basis.edges, np.inf)
    if basis.penalty is None:
        return Basis(edges, table)
    penalty = np.zeros((functions + 1, functions + 1))
    penalty[:functions, :functions] = basis.penalty
    if basis.line is None:
        return Basis(edges, table, penalty)
    line = np.zeros((functions + 1, 2))
    line[:functions, 0], line[functions, 1] = basis.line, 1.0
    return Basis(edges, table, penalty, line)


class Rotation(NamedTuple):
    """New functions (table - mean) @ vectors, orthogonal over the samples, with their mean squares and roughness."""

    mean: NDArray[np.float64]
    vectors: NDArray[np.float64]
    squares: NDArray[np.float64]
    roughness: NDArray[np.float64]


def rotate(basis: Basis, share: NDArray[np.float64]) -> Rotation:
    """Centre a basis and make its functions orthogonal; `share` is the share of the samples in each bin.

    Without a penalty, V comes from the covariance V D V' of the functions and preserves the norms of coefficients. With
    a penalty, the functions have mean square one and V also diagonalises the penalty.
    """
    mean = share @ basis.table
    if len(mean) == 0:
        return Rotation(mean, np.empty((0, 0)), mean, mean)
    centred = basis.table - mean
    return diagonalise(mean, centred.T @ (share[:, None] * centred), basis.penalty, basis.line)


def diagonalise(
    mean: NDArray[np.float64],
    square: NDArray[np.float64],
    penalty: NDArray[np.float64] | None,
    line: NDArray[np.float64] | None = None,
) -> Rotation:
    """Compute the rotation of `rotate` from the mean and the mean products (k, k) of the centred functions alone."""
    values, vectors = np.linalg.eigh(square)
    kept = np.flatnonzero(values > RANK_TOL * values[-1])[::-1]
    values, vectors = values[kept], vectors[:, kept]
    if penalty is None:
        return Rotation(mean, vectors, values, np.zeros(len(kept)))
    whitened = vectors / np.sqrt(values)
    if not penalty.any() and line is None:
        return Rotation(mean, whitened, np.ones(len(kept)), np.zeros(len(kept)))
    inner = whitened.T @ penalty @ whitened
    lines, rest = np.empty((len(kept), 0)), np.eye(len(kept))
    if line is not None:  # express it in the whitened functions; everything orthogonal to it is rough
        straight = whitened.T @ (square @ line.reshape(len(mean), -1))
        lines, rest = np.hsplit(np.linalg.qr(np.hstack([straight, rest]))[0], [straight.shape[1]])
    roughness, turn = np.linalg.eigh(rest.T @ inner @ rest)
    roughness = np.maximum(roughness, ROUGH_TOL * roughness.max(initial=0.0))
    scaled = np.concatenate([np.zeros(lines.shape[1]), roughness / roughness.min(initial=np.inf)])
    return Rotation(mean, whitened @ np.hstack([lines, rest @ turn]), np.ones(len(kept)), scaled)


class Design(NamedTuple):
    """Codes of every variable and its basis, centred and rotated so that its Gram matrix is diagonal.

    With Phi_j the centred basis of variable j on the n samples and Phi_j' Phi_j / n = V D V', variable
    j has U_j = (centred table) V and D_j in decreasing order; directions with D = 0 are left out. The arrays are flat:
    the table of j starts at ``table_start[j]`` (row-major, ``n_bins[j]`` x ``rank[j]``), its D at
    ``spectrum_start[j]``. A variable without a basis (a constant column) has rank 0.

    A basis with a penalty is rotated further, so that D = 1 and the penalty is diagonal too. Its diagonal is
    ``roughness``, stored at the same positions as D: first 0 for the straight line (and any other unpenalised
    function), then increasing values from 1. It is 0 throughout for other bases.
    """

    codes: NDArray[Any]
    n_bins: NDArray[np.intp]
    rank: NDArray[np.intp]
    table_start: NDArray[np.intp]
    spectrum_start: NDArray[np.intp]
    tables: NDArray[np.float64]
    spectrum: NDArray[np.float64]
    roughness: NDArray[np.float64]

    def table(self, j: int) -> NDArray[np.float64]:
        """Return U_j, shape (n_bins[j], rank[j])."""
        start, shape = self.table_start[j], (self.n_bins[j], self.rank[j])
        return self.tables[start : start + shape[0] * shape[1]].reshape(shape)

    def eigenvalues(self, j: int) -> NDArray[np.float64]:
        """Return D_j, shape (rank[j],), largest first."""
        return self.spectrum[self.spectrum_start[j] : self.spectrum_start[j] + self.rank[j]]

    @property
    def spectra(self) -> list[NDArray[np.float64]]:
        """D_j of every variable."""
        return [self.eigenvalues(j) for j in range(len(self.rank))]


def prepare(X: NDArray[np.float64], bases: Iterable[Basis]) -> Design:
    """Encode the columns and diagonalise every variable's basis.

    Parameters
    ----------
    X : array of shape (n, d)
    bases : d bases, one per column
        An iterator may build them one by one: only one is held in memory.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> design = prepare(X, [Basis(edges=np.array([2.0]), table=np.eye(2))])
    >>> design.codes
    array([[0, 0, 1, 1]], dtype=uint8)
    >>> design.eigenvalues(0)
    array([0.5])
    """
    n, d = X.shape
    codes, n_bins = np.empty((d, n), dtype=code_type(1)), np.empty(d, dtype=np.intp)
    tables, filled, spectra, roughness = np.empty(0), 0, [], []
    for j, basis in enumerate(bases):
        n_bins[j] = len(basis.table)
        if code_type(len(basis.table)) is np.uint16 and codes.dtype == np.uint8:
            codes = codes.astype(np.uint16)
        codes[j] = encode(X[:, j], basis.edges)
        rotation = rotate(basis, np.bincount(codes[j], minlength=n_bins[j]) / n)
        table = ((basis.table - rotation.mean) @ rotation.vectors).ravel()
        if filled + len(table) > len(tables):  # grow in place: concatenating a list would need twice the memory
            tables.resize(_GROWTH * (filled + len(table)) // 8, refcheck=False)
        tables[filled : filled + len(table)] = table
        filled += len(table)
        spectra.append(rotation.squares)
        roughness.append(rotation.roughness)
    tables.resize(filled, refcheck=False)
    rank = np.array([len(spectrum) for spectrum in spectra], dtype=np.intp)
    return Design(
        codes=codes,
        n_bins=n_bins,
        rank=rank,
        table_start=starts(n_bins * rank),
        spectrum_start=starts(rank),
        tables=tables,
        spectrum=np.concatenate([np.empty(0), *spectra]),
        roughness=np.concatenate([np.empty(0), *roughness]),
    )


def spans(start: NDArray[np.intp], width: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return all indices in the spans with the given starts and widths, one span after the other.

    Examples
    --------
    >>> spans(np.array([7, 0]), np.array([2, 3]))
    array([7, 8, 0, 1, 2])
    """
    return np.repeat(start - np.cumsum(width) + width, width) + np.arange(width.sum())


def starts(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the start of each span when spans of the given sizes follow each other."""
    return (np.cumsum(sizes) - sizes).astype(np.intp)
