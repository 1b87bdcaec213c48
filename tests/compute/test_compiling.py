"""Compilation is told when and only when it happens."""

from __future__ import annotations

import importlib
import logging
import os
import sys

import pytest

from sartre.compute.compiling import COMPILED_LOOPS, COMPILING, compilation_left, compilation_logged


@pytest.fixture
def loop(tmp_path, monkeypatch):
    """Return a function that loads a loop as a new process would, from the cache on disk if it is there."""
    (tmp_path / "thrice.py").write_text(
        "from numba import njit\n"
        "@njit(cache=True)\ndef inner(x): return 3 * x\n"
        "@njit(cache=True)\ndef thrice(x): return inner(x)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def load():
        sys.modules.pop("thrice", None)
        return importlib.import_module("thrice").thrice

    yield load
    sys.modules.pop("thrice", None)


def test_compilation_is_told_once_and_what_is_cached_is_silent(loop, caplog):
    caplog.set_level(logging.INFO, "sartre")
    with compilation_logged():
        assert loop()(2) == 6
    assert [record.getMessage() for record in caplog.records] == [COMPILING, ""]  # not once more for the inner loop
    assert COMPILING.startswith("Compiling for this machine, once (about ")
    caplog.clear()
    with compilation_logged():
        assert loop()(3) == 9
    assert caplog.records == []
    with compilation_logged():
        assert loop()(0.5) == 1.5  # of another type
    assert [record.getMessage() for record in caplog.records] == [COMPILING, ""]
    caplog.clear()
    loop()(2j)
    assert caplog.records == []


def test_loops_that_are_cached_are_not_planned(loop, tmp_path):
    thrice = loop()
    assert compilation_left([thrice]) == 1.0
    thrice(2)
    assert compilation_left([thrice]) == pytest.approx(1 - 2 / COMPILED_LOOPS)
    source = tmp_path / "thrice.py"
    os.utime(source, (source.stat().st_atime, source.stat().st_mtime + 100))  # it was changed since
    assert compilation_left([thrice]) == 1.0
