"""Topological orders: ``fit(X)`` sets ``order_``, the column indices with the source first."""

from sartre.order.cam import CAM
from sartre.order.caps import CaPS, parent_score
from sartre.order.diffan import DiffAN
from sartre.order.fixed import FixedOrder
from sartre.order.nogam import NoGAM
from sartre.order.r2_sort import R2Sort
from sartre.order.random_order import RandomOrder
from sartre.order.resit import RESIT
from sartre.order.score import SCORE
from sartre.order.search.search import OrderSearch
from sartre.order.variance_sort import VarianceSort

__all__ = [
    "CAM",
    "RESIT",
    "SCORE",
    "CaPS",
    "DiffAN",
    "FixedOrder",
    "NoGAM",
    "OrderSearch",
    "R2Sort",
    "RandomOrder",
    "VarianceSort",
    "parent_score",
]
