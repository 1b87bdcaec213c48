"""Loops that add up integers over rows; such sums do not depend on how the rows are split."""

from __future__ import annotations

import numpy as np

from sartre.additive.kernels.compilation import compiled

_NEAR = 1024  # rows per batch, so that their values stay in the second-level cache for all columns' hats


@compiled()
def fixed_point(X, centre, scale, unit, largest, out):
    """Standardise and round to integer multiples of 1 / unit, clipped at +-largest / unit.

    in: X (m, d), centre (d,), scale (d,); out: out (m, d)
    """
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[i, j] = min(max(np.rint((X[i, j] - centre[j]) / scale[j] * unit), -largest), largest)


@compiled()
def between_nodes(X, nodes, node_start, full, codes, weights):
    """Find the two nodes around every value, and its position between them in `full` steps.

    in: X (m, d); nodes, two or more per column, those of j from node_start[j] to node_start[j + 1]
    out: codes (d, m), the lower node; weights (d, m), 0 to full; a value beyond all nodes is put at the outermost one
    """
    for j in range(X.shape[1]):
        first, size = node_start[j], node_start[j + 1] - node_start[j]
        for i in range(X.shape[0]):
            x = X[i, j]
            low, length = first + 1, size - 2  # search the inner nodes only
            while length > 0:
                half = length >> 1
                below = nodes[low + half] < x
                low = low + half + 1 if below else low
                length = length - half - 1 if below else half
            lower, upper = nodes[low - 1], nodes[low]
            codes[j, i] = low - 1 - first
            weights[j, i] = np.int64(min(max(np.rint((x - lower) / (upper - lower) * full), 0.0), full))


@compiled()
def multiply_hats(codes, weights, full, n_nodes, totals):
    """Add up the products of two columns' hat functions, for all pairs (0, 1), (0, 2), ..., (1, 2), ...

    For a value with weight w between two nodes, the lower node's hat is `full` - w and the upper node's is w.

    in: codes, weights (d, m), n_nodes (d,)
    in and out: totals, one (n_nodes[j], n_nodes[k]) table after the other
    """
    d, m = codes.shape
    start = 0
    for j in range(d):
        for k in range(j + 1, d):
            width = n_nodes[k]
            first, second, up, right = codes[j], codes[k], weights[j], weights[k]
            for i in range(m):
                at = start + first[i] * width + second[i]
                v, w = np.int64(up[i]), np.int64(right[i])
                totals[at] += (full - v) * (full - w)
                totals[at + 1] += (full - v) * w
                totals[at + width] += v * (full - w)
                totals[at + width + 1] += v * w
            start += n_nodes[j] * width


@compiled()
def add_by_hat(codes, weights, full, node_start, values, sums, own):
    """Add up all columns' values times every column's hats, and the products of each hat with itself and the next.

    in: codes, weights (d, m), node_start (d,), values (m, t), integers
    in and out: sums (nodes, t), own (nodes, 2)
    """
    d, m = codes.shape
    for near in range(0, m, _NEAR):
        far = min(near + _NEAR, m)
        for j in range(d):
            for i in range(near, far):
                node = node_start[j] + codes[j, i]
                w = np.int64(weights[j, i])
                v = full - w
                own[node, 0] += v * v
                own[node, 1] += v * w
                own[node + 1, 0] += w * w
                low, high, row = sums[node], sums[node + 1], values[i]
                for t in range(row.size):
                    low[t] += v * row[t]
                    high[t] += w * row[t]
