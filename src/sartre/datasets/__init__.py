"""Real data with a known graph: source, licence and checksum of each are in ``data/README.md``."""

from sartre.datasets._sachs import load_sachs

__all__ = ["load_sachs"]
