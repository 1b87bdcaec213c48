"""The compiled loop that grows a random tree."""

from __future__ import annotations

import numpy as np

from sartre.additive.kernels.compilation import compiled


@compiled()
def grow_tree(x, prefix, draws, max_depth, cuts):
    """Grow one completely random tree, best first, on a sorted column.

    The open node whose random split explains most of a random target is split next; a split of the
    samples a..b-1 into L and R explains |L||R|/|L+R| (mean_L - mean_R)^2.

    in: x (n,) sorted; prefix (n + 1,) cumulative target; draws (2 L - 1,) uniforms, one per node; max_depth
    out: cuts (L - 1,) unsorted split points t; x <= t goes to the left
    returns: the number of `cuts` written
    """
    n_nodes = draws.size
    start = np.zeros(n_nodes, np.intp)
    stop = np.zeros(n_nodes, np.intp)
    depth = np.zeros(n_nodes, np.intp)
    middle = np.zeros(n_nodes, np.intp)
    at = np.zeros(n_nodes)
    gain = np.zeros(n_nodes)
    stop[0] = x.size
    made = 1
    fresh = 0
    n_cuts = 0
    while True:
        while fresh < made:
            gain[fresh] = -1.0
            a, b = start[fresh], stop[fresh]
            low, high = x[a], x[b - 1]
            if depth[fresh] < max_depth and high > low:
                t = low + draws[fresh] * (high - low)
                if t >= high:
                    t = low
                m = a + np.searchsorted(x[a:b], t, side="right")
                below, above = m - a, b - m
                step = (prefix[m] - prefix[a]) / below - (prefix[b] - prefix[m]) / above
                gain[fresh] = below * above / (below + above) * step * step
                at[fresh] = t
                middle[fresh] = m
            fresh += 1
        best = np.argmax(gain[:made])
        if gain[best] < 0.0 or n_cuts == cuts.size:
            return n_cuts
        cuts[n_cuts] = at[best]
        n_cuts += 1
        gain[best] = -1.0
        start[made], stop[made], depth[made] = start[best], middle[best], depth[best] + 1
        start[made + 1], stop[made + 1], depth[made + 1] = middle[best], stop[best], depth[best] + 1
        made += 2
