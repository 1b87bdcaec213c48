"""Topological orders: ``fit(X)`` gives ``order_``, column indices with the source first."""

from sartre.order.fixed import FixedOrder
from sartre.order.score import SCORE

__all__ = ["SCORE", "FixedOrder"]
