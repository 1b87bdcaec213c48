"""Topological orders: ``fit(X)`` gives ``order_``, column indices with the source first."""

from sartre.order.fixed import FixedOrder
from sartre.order.score import SCORE
from sartre.order.search import OrderSearch

__all__ = ["SCORE", "FixedOrder", "OrderSearch"]
