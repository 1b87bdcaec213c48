"""Fitted models in files: JSON and arrays in one archive, without pickle, and without rows unless asked for."""

from sartre.saving.model import load, save

__all__ = ["load", "save"]
