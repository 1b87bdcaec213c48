"""The default order: a search over orders by likelihood."""

from sartre.order.search.search import OrderSearch

__all__ = ["OrderSearch"]
