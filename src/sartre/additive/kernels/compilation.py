"""How the engine's loops are compiled."""

from __future__ import annotations

from numba import njit


def compiled(**options):
    """Compile a function, and keep the result on disk where there is a folder to keep it in."""

    def decorate(function):
        try:
            return njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # numba finds no folder that it may write to
            return njit(nogil=True, **options)(function)

    return decorate


_FAST = {"reassoc", "contract", "nsz"}  # sums may be reordered for SIMD; NaN and infinity keep their meaning
