"""Basis functions of columns: intervals, splines, levels, rank polynomials, and pairs of them."""
