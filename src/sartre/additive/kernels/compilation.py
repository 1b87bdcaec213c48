"""The compiler settings of the engine's loops."""

from __future__ import annotations

from numba import njit


def compiled(**options):
    """Compile a function, and cache the result on disk if there is a writable folder.

    Nobody calls it by its address from C, and the wrapper for that would take a tenth of the time of compilation.
    """
    options["no_cfunc_wrapper"] = True

    def decorate(function):
        try:
            return njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # numba found no writable folder
            return njit(nogil=True, **options)(function)

    return decorate


_FAST = {"reassoc", "contract", "nsz"}  # sums may be reordered for SIMD; NaN and infinity keep their meaning
