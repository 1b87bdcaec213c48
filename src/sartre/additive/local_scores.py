"""How well a variable is predicted by a set of others: penalised log residual variances in Gram form."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sartre.additive._search_kernels import forward
from sartre.additive.design import prepare
from sartre.additive.interactions import rank_polynomials
from sartre.additive.splines import spline

if TYPE_CHECKING:
    from collections.abc import Iterable
    from numpy.typing import NDArray

KNOTS = 9
RIDGE = 1e-4
FLOOR = 1e-9
MAX_BLOCKS = 12
GAMMA = 1.0
HALF = 0.5
MAXD=2

class LocalScores:
    def __init__(self, X, pairs=True):
        n, d = X.shape
        self.n, self.d = n, d
        design = prepare(X, [spline(X[:, j], KNOTS).basis() for j in range(d)])
        P = rank_polynomials(X)[:, :, :MAXD]
        cols = []; first=[]; second=[]; width=[]; ridge=[]; price=[]
        for j in range(d):
            if design.rank[j]:
                f = design.table(j)[design.codes[j]]
                cols.append(f); first.append(j); second.append(j); width.append(f.shape[1])
                r = design.roughness[design.spectrum_start[j]:design.spectrum_start[j]+design.rank[j]]
                ridge.append(RIDGE*r + 1e-6)
                price.append((HALF*f.shape[1]*np.log(n)+GAMMA*np.log(d))/n)
        npairs = max(1, d*(d-1)//2)
        if pairs:
            for a in range(d):
                for b in range(a+1, d):
                    f = (P[a][:, :, None]*P[b][:, None, :]).reshape(n, -1)
                    f = f - f.mean(0)
                    f = f[:, (f**2).mean(0) > 1e-9]
                    if f.shape[1]:
                        cols.append(f); first.append(a); second.append(b); width.append(f.shape[1])
                        ridge.append(np.full(f.shape[1], RIDGE+1e-6))
                        price.append((HALF*f.shape[1]*np.log(n)+GAMMA*np.log(npairs))/n)
        F = np.hstack(cols)
        self.matrix = F.T @ F / n
        self.matrix[np.diag_indices_from(self.matrix)] += np.concatenate(ridge)
        self.cross = np.ascontiguousarray((F.T @ X / n).T)
        width = np.array(width)
        self.blocks = (np.array(first), np.array(second), np.concatenate([[0], np.cumsum(width)[:-1]]), width, np.array(price))
        self.cands = [np.flatnonzero((self.blocks[0] != j) & (self.blocks[1] != j)) for j in range(d)]
        self.cache = [dict() for _ in range(d)]
        self.lists = [[] for _ in range(d)]
        self.calls = self.evals = 0
        self.taken = np.empty(MAX_BLOCKS, np.intp)

    def compute(self, j, mask):
        inside = np.array([(mask >> k) & 1 for k in range(self.d)], dtype=bool)
        v, size = forward(self.blocks, self.matrix, self.cross[j], self.cands[j], inside, FLOOR, MAX_BLOCKS, self.taken)
        used = 0
        for b in self.taken[:size]:
            used |= (1 << int(self.blocks[0][b])) | (1 << int(self.blocks[1][b]))
        return v, used

    def __call__(self, j, mask):
        self.calls += 1
        hit = self.cache[j].get(mask)
        if hit is not None:
            return hit
        for S, used, v in self.lists[j]:
            if mask & ~S == 0 and used & ~mask == 0:
                self.cache[j][mask] = v
                return v
        self.evals += 1
        v, used = self.compute(j, mask)
        self.lists[j].append((mask, used, v))
        self.cache[j][mask] = v
        return v
