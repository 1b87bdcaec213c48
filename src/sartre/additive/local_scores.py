"""How well a variable is predicted by some others: penalised log residual variances, in Gram form.

The local score of a standardised variable y given a set of variables is

    log(residual variance) + sum over the blocks taken of (k log(n) / 2 + log(N)) / n

where blocks of k functions are taken one by one, the best first, while that lowers the score: the smooth functions of
one variable of the set (N = d such blocks), or the products of two variables' first rank polynomials (N = d (d - 1) / 2).
Smaller is better. It is half a BIC with an extended-BIC term: without log(N) the best of thousands of pairs over-fits.

The set matters only through the blocks that it offers at each step. So the paths of all sets share one tree for each
target, in which a node is a sequence of blocks taken and knows what every other block would gain then; a score is a walk
from the root, at each node to the best block inside the set. Nothing in it grows with n, and no step is done twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from sartre.additive._search_kernels import gains
from sartre.additive.design import prepare
from sartre.additive.interactions import rank_polynomials
from sartre.additive.splines import spline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sartre.additive.design import Design

KNOTS = 9  # of a variable's natural cubic splines: 8 functions without the constant
ORDERS = 2  # of the rank polynomials in the products: 4 functions a pair
RIDGE = 1e-4  # on a function with roughness 1, the smoothest that bends
LINE = 1e-6  # on every function: exactly dependent columns share their effect
FLOOR = 1e-9  # of a residual variance: columns that are functions of each other
MAX_BLOCKS = 12
PAIRS = 100  # that are looked at for one target, those that stand out most on their own
MAX_COLUMNS = 6000  # of the Gram matrix: 300 MB
MAX_BYTES = 1 << 29  # of the nodes: more are forgotten and computed again


class Blocks(NamedTuple):
    """Blocks of functions: their variables (first = second for a single one), columns, and price."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    start: NDArray[np.intp]
    width: NDArray[np.intp]
    price: NDArray[np.float64]


class Node:
    """A sequence of blocks taken for one target.

    variance: what is left of 1. price: of the blocks taken. used: their variables, as bits. ways: the blocks that would
    gain, best first, as (their variables' bits, place among the target's candidates).
    """

    __slots__ = ("children", "correlation", "half", "parent", "price", "squares", "used", "variance", "ways")

    def __init__(self, parent: Node | None, variance: float, price: float, used: int) -> None:
        self.parent, self.variance, self.price, self.used = parent, variance, price, used
        self.children: dict[int, Node] = {}
        self.ways: list[tuple[int, int]] = []

    @property
    def value(self) -> float:
        """The local score."""
        return float(np.log(self.variance)) + self.price


class LocalScores:
    def __init__(self, X: NDArray[np.float64]) -> None:
        n, d = X.shape
        self.n = n
        self._build(X)
        self._bits = [(1 << int(a)) | (1 << int(b)) for a, b in zip(self.blocks.first, self.blocks.second, strict=True)]
        self._targets=[None]*d
        self._bytes = 0
        self.nodes=0
        self.evals=self.calls=0
        self.memo=[{} for _ in range(d)]

    def _build(self, X):
        n, d = X.shape
        design = prepare(X, [spline(X[:, j], KNOTS).basis() for j in range(d)])
        P = rank_polynomials(X)[:, :, :ORDERS]
        mains=[design.table(j)[design.codes[j]] for j in range(d)]
        rough=[design.roughness[design.spectrum_start[j]:design.spectrum_start[j]+design.rank[j]] for j in range(d)]
        a, b = np.triu_indices(d, 1)
        full = sum(m.shape[1] for m in mains) + 4*len(a)
        if len(a) > PAIRS or full > MAX_COLUMNS:
            T = np.stack([_stat(mains[i], mains[j], _prod(P[i],P[j]), X) for i,j in zip(a,b)])  # pairs x d
            T[np.arange(len(a)), a] = 0; T[np.arange(len(a)), b] = 0
            kept = np.zeros(T.shape, bool)
            top = np.argsort(-T, axis=0, kind="stable")[:PAIRS]
            kept[top, np.arange(d)] = True
            strength = np.where(kept, T, 0).max(axis=1)
            room = max(0, (MAX_COLUMNS - sum(m.shape[1] for m in mains))//4)
            order = np.argsort(-strength, kind="stable")
            pairs = np.sort(order[: min(room, int((strength>0).sum()))])
        else:
            pairs = np.arange(len(a)); kept = np.ones((len(a), d), bool)
        cols=list(mains); ridge=[RIDGE*r+LINE for r in rough]
        prods=[_prod(P[a[p]],P[b[p]]) for p in pairs]
        cols+=prods; ridge+=[np.full(q.shape[1],RIDGE+LINE) for q in prods]
        width=np.array([c.shape[1] for c in cols])
        first=np.concatenate([np.arange(d),a[pairs]]); second=np.concatenate([np.arange(d),b[pairs]])
        N=np.where(first==second,d,max(1,d*(d-1)//2))
        price=(0.5*width*np.log(n)+np.log(N))/n
        F=np.hstack(cols)
        self.matrix=F.T@F/n
        self.matrix[np.diag_indices_from(self.matrix)]+=np.concatenate(ridge)
        self.cross=F.T@X/n
        self.blocks=Blocks(first,second,np.concatenate([[0],np.cumsum(width)[:-1]]),width,price)
        offered=np.vstack([np.ones((d,d),bool),kept[pairs]])&(width>0)[:,None]
        offered[first,first]&=True
        idx=np.arange(len(first))
        offered[idx,first]=False; offered[idx,second]=False
        self.offered=offered

    def _target(self, j):
        if self._targets[j] is None:
            c=np.flatnonzero(self.offered[:,j])
            w=self.blocks.width[c]
            st=self.blocks.start[c]
            columns=np.repeat(st-np.cumsum(w)+w,w)+np.arange(w.sum())
            at=np.concatenate([[0],np.cumsum(w)[:-1]])
            root=Node(None,1.0,0.0,0)
            root.correlation=self.cross[columns,j]
            root.squares=np.concatenate([self.matrix[s:s+k,s:s+k].ravel() for s,k in zip(st,w)])
            root.half=np.zeros((len(columns),0))
            self._targets[j]=(c,w,columns,at,root)
            self._open(j,root)
        return self._targets[j]

    def _open(self,j,node,depth=0):
        c,w,columns,at,_=self._targets[j]
        g=np.empty(len(c))
        if len(c)==0: return
        gains(w,self.blocks.price[c],node.half,node.squares,node.correlation,node.variance,FLOOR,g)
        taken=node; 
        good=np.flatnonzero(g>0)
        good=good[np.argsort(-g[good],kind="stable")]
        node.ways=[(self._bits[c[i]],int(i)) for i in good]

    def walk(self, j, mask):
        t=self._target(j); node=t[4]; outside=~mask; depth=0
        while depth<MAX_BLOCKS:
            for need,i in node.ways:
                if not need&outside: break
            else: break
            nxt=node.children.get(i)
            node=nxt if nxt is not None else self._take(j,node,i,depth)
            depth+=1
        return node

    def _take(self,j,node,i,depth):
        c,w,columns,at,_=self._targets[j]
        k=w[i]; mine=slice(at[i],at[i]+k); b=c[i]; s=self.blocks.start[b]
        M=self.matrix[s:s+k][:,columns].T.copy()
        t=node
        while t is not None:
            if t.half.shape[1]: M-=t.half@t.half[mine].T
            t=t.parent
        L=np.linalg.cholesky(M[mine])
        H=solve_triangular(L,M.T,lower=True,check_finite=False).T
        wv=solve_triangular(L,node.correlation[mine],lower=True,check_finite=False)
        child=Node(node,max(node.variance-float(wv@wv),FLOOR),node.price+self.blocks.price[b],node.used|self._bits[b])
        child.half=np.ascontiguousarray(H)
        child.correlation=node.correlation-child.half@wv
        child.squares=node.squares.copy()
        node.children[i]=child
        self.nodes+=1
        self._open(j,child)
        if self.nodes<0: pass
        taken={i}
        t=node
        # never take a block twice
        child.ways=[x for x in child.ways if x[1]!=i and not _was(child,x[1])]
        self._bytes+=child.half.nbytes+child.squares.nbytes
        return child

    def __call__(self,j,mask):
        self.calls+=1
        v=self.memo[j].get(mask)
        if v is None:
            self.evals+=1
            v=self.memo[j][mask]=self.walk(j,mask).value
        return v

def _was(node,i):
    t=node
    while t.parent is not None:
        if t.parent.children.get(i) is t: return True
        t=t.parent
    return False

def _prod(p,q):
    f=(p[:,:,None]*q[:,None,:]).reshape(len(p),-1)
    f=f-f.mean(0)
    return f[:,(f**2).mean(0)>1e-9]

def _stat(f,g,z,X):
    own=np.hstack([f,g])
    A=own.T@own; A[np.diag_indices_from(A)]+=1e-6*len(X)
    z=z-own@np.linalg.solve(A,own.T@z)
    S=z.T@z; S[np.diag_indices_from(S)]+=1e-3*len(X)
    c=z.T@X
    return (c*np.linalg.solve(S,c)).sum(0)
