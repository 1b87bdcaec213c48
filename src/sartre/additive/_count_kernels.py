"""Loops that add up whole numbers over rows: sums of integers do not depend on how the rows are cut."""

# ruff: noqa: ANN001, ANN202 - numba infers the types; each docstring says what goes in and out

from __future__ import annotations

import numpy as np

from sartre.additive._kernels import compiled

_NEAR = 1024  # rows whose values stay in the second-level cache while they are added up by every column's bins


@compiled()
def encode_columns(X, edges, edge_start, codes):
    """Find the bin of every value, bin b being (edges[b - 1], edges[b]].

    in: X (m, d); edges, all columns' one after the other, those of j from edge_start[j] to edge_start[j + 1]
    out: codes (d, m)
    """
    for j in range(X.shape[1]):
        first, size = edge_start[j], edge_start[j + 1] - edge_start[j]
        for i in range(X.shape[0]):
            x = X[i, j]
            low, length = first, size
            while length > 0:  # the number of borders below x, by halving
                half = length >> 1
                below = edges[low + half] < x
                low = low + half + 1 if below else low
                length = length - half - 1 if below else half
            codes[j, i] = low - first


@compiled()
def count_pairs(codes, n_bins, counts):
    """Count how often the bins of two columns meet, for all pairs (0, 1), (0, 2), ..., (1, 2), ...

    in: codes (d, m), n_bins (d,)
    in and out: counts, one (n_bins[j], n_bins[k]) table after the other
    """
    d, m = codes.shape
    start = 0
    for j in range(d):
        for k in range(j + 1, d):
            width = n_bins[k]
            first, second = codes[j], codes[k]
            for i in range(m):
                counts[start + first[i] * width + second[i]] += 1
            start += n_bins[j] * width


@compiled()
def add_by_bin(codes, bin_start, values, sums):
    """Add up all columns' values by every column's bins: sums[bin_start[j] + b] += values[i] over c_j(i) = b.

    in: codes (d, m), bin_start (d,), values (m, t) of whole numbers
    in and out: sums (bins, t)
    """
    d, m = codes.shape
    for near in range(0, m, _NEAR):
        far = min(near + _NEAR, m)
        for j in range(d):
            for i in range(near, far):
                total = sums[bin_start[j] + codes[j, i]]
                row = values[i]
                for t in range(row.size):
                    total[t] += row[t]


@compiled()
def fixed_point(X, centre, scale, unit, largest, out):
    """Standardise and round to whole numbers of 1 / unit, no further from zero than largest / unit.

    in: X (m, d), centre (d,), scale (d,); out: out (m, d)
    """
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[i, j] = min(max(np.rint((X[i, j] - centre[j]) / scale[j] * unit), -largest), largest)


@compiled()
def smooth_functions(X, curves, unit, largest, out):
    """Evaluate piecewise cubics, rounded to whole numbers of 1 / unit.

    The functions of column j, of which there are rank[j], are the straight line z = (x - centre) / scale and, on the
    piece p of z (0 below the first knot), c_0 + c_1 t + c_2 t^2 + c_3 t^3, t = z - origin[p].

    in: X (m, d); curves (centre, scale, rank, start, knots, knot_start, origin, cubic, cubic_start): start (d,) is the
        first column of each in `out`; knots of j from knot_start[j] to knot_start[j + 1], and one piece more than knots
        at knot_start[j] + j; cubic, 4 (rank[j] - 1) numbers a piece, from cubic_start[j]
    out: out (m, 1 + q); the first column, which is no function, is left alone
    """
    centre, scale, rank, start, knots, knot_start, origin, cubic, cubic_start = curves
    for i in range(X.shape[0]):
        row = out[i]
        for j in range(X.shape[1]):
            if rank[j] == 0:
                continue
            z = (X[i, j] - centre[j]) / scale[j]
            bent = rank[j] - 1
            piece = 0
            for knot in range(knot_start[j], knot_start[j + 1]):
                piece += knots[knot] < z
            t = z - origin[knot_start[j] + j + piece]
            at = cubic_start[j] + 4 * bent * piece
            a, b = cubic[at : at + bent], cubic[at + bent : at + 2 * bent]
            c, d = cubic[at + 2 * bent : at + 3 * bent], cubic[at + 3 * bent : at + 4 * bent]
            mine = row[start[j] : start[j] + rank[j]]
            mine[0] = z
            for k in range(bent):
                mine[1 + k] = a[k] + t * (b[k] + t * (c[k] + t * d[k]))
        for k in range(1, row.size):
            row[k] = min(max(np.rint(row[k] * unit), -largest), largest)
