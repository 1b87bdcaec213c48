"""Basis functions of columns (intervals, splines, levels, rank polynomials) and of pairs of columns."""
