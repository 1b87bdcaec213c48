"""The compiled loops of the search for pairs; they check nothing."""

from __future__ import annotations

import numpy as np

from sartre.additive.kernels.compilation import compiled


@compiled(fastmath={"reassoc", "contract", "nsz"})
def block_squares(sums, width, values):
    """Add up the squares of every block of `width` rows and columns.

    in: sums (width a, width b), width; out: values (a, b)
    """
    values[:] = 0.0
    for i in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            values[i // width, j // width] += sums[i, j] * sums[i, j]


@compiled()
def row_products(first, second, out):
    """Multiply every column of one table by every column of another. in: (n, a), (n, b); out: (n, a b)."""
    n, width = second.shape
    for i in range(n):
        for p in range(first.shape[1]):
            for q in range(width):
                out[i, p * width + q] = first[i, p] * second[i, q]


@compiled()
def split_by_sign(rows, residual, out):
    """Scale every row by the root of |r_i| and put the rows with r_i > 0 first, the others last.

    in: rows (n, k), residual (n,); out: (n, k)
    returns: the number of rows with r_i > 0
    """
    first, last = 0, len(rows) - 1
    for i in range(len(rows)):
        root = rows.dtype.type(np.sqrt(abs(residual[i])))
        place = first if residual[i] > 0 else last
        for k in range(rows.shape[1]):
            out[place, k] = root * rows[i, k]
        if residual[i] > 0:
            first += 1
        else:
            last -= 1
    return first
