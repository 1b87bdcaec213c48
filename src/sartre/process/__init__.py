"""Gaussian-process regression of one target on functions of many columns at once."""
