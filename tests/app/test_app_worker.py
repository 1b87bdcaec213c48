"""The process that works for the page says what it does, in order, and whatever goes wrong."""

from __future__ import annotations

import logging
import warnings

import pytest

from sartre.app.worker import _do


class Told(list):
    """Keeps what would be written to the server."""

    def tell(self, **message):
        self.append(message)


def test_progress_warnings_and_the_result_are_told_in_order():
    told = Told()

    def work(begin):
        begin("Reading")
        logging.getLogger("sartre.order").info("order: 1 of 2")
        logging.getLogger("sartre.compute.compiling").info("Compiling")
        logging.getLogger("sartre.compute.compiling").info("")
        warnings.warn("Two\nlines", UserWarning, stacklevel=1)
        return {"edges": 3}

    _do(work, told)
    assert told == [
        {"progress": "Reading"},
        {"progress": "order: 1 of 2"},
        {"progress": "Compiling"},
        {"progress": "order: 1 of 2"},
        {"warning": "Two lines"},
        {"result": {"edges": 3}},
    ]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("There are\nno rows."), "There are no rows."),
        (FileNotFoundError(2, "No such file or directory", "cells.csv"), "No such file or directory: 'cells.csv'"),
        (MemoryError(), "There is not enough memory"),
        (KeyError("x"), "Unexpected KeyError"),
    ],
)
def test_every_failure_is_told_in_a_sentence(error, sentence):
    told = Told()

    def work(_):
        raise error

    _do(work, told)
    assert len(told) == 1
    assert told[0]["error"].startswith(sentence)
