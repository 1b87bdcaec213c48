"""Progress in Python: nothing is printed unless it is asked for, and logging is left as it was."""

from __future__ import annotations

import io
import logging

import numpy as np
import pytest
from rich.console import Console

from sartre import CausalDiscovery
from sartre.compute import progress
from sartre.order import FixedOrder
from sartre.prune import SARTRE
from sartre.steps import for_resamples

X = np.random.default_rng(0).normal(size=(60, 3))


def model(**settings):
    return CausalDiscovery(FixedOrder([0, 1, 2]), SARTRE(joint=False), random_state=0, **settings)


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.001)


def test_a_fit_is_silent_by_default_and_tells_what_it_does_if_asked(capsys):
    model().fit(X)
    assert capsys.readouterr() == ("", "")
    model(verbose=1).fit(X)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0] == "Learning the order"
    model(verbose=1).fit_batches([X[:30], X[30:]])
    assert capsys.readouterr().err.splitlines()[0] == "Reading the rows"


def test_both_results_are_the_same():
    assert model(verbose=1).fit(X).edges_.equals(model().fit(X).edges_)


def test_logging_is_as_it_was_and_a_quiet_logger_stays_quiet():
    logger, root, heard = logging.getLogger("sartre"), logging.getLogger(), io.StringIO()
    handler = logging.StreamHandler(heard)
    root.addHandler(handler)
    before = logger.level, logger.propagate, list(logger.handlers)
    with progress.progress("Begin", Console(file=io.StringIO())):
        logging.getLogger("sartre.order").info("order: 1 of 3 leaves found")
    root.removeHandler(handler)
    assert heard.getvalue() == ""  # nobody asked for messages of this level
    assert (logger.level, logger.propagate, list(logger.handlers)) == before


def test_on_a_terminal_it_is_a_bar_that_is_erased():
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    with progress.progress("Begin", screen):
        logging.getLogger("sartre.order").info("order: %d of %d leaves found", 1, 3)
    assert "order: 1 of 3 leaves found" in screen.file.getvalue()
    assert screen.file.getvalue().rstrip().endswith("\x1b[2K")


def test_a_notebook_without_widgets_gets_lines(monkeypatch):
    screen = Console(file=io.StringIO(), force_jupyter=True)
    monkeypatch.setattr(progress, "find_spec", lambda _: None)
    assert not progress._can_redraw(screen)
    monkeypatch.setattr(progress, "find_spec", lambda _: "there")
    assert progress._can_redraw(screen)


def test_the_setting_is_checked_and_half_samples_are_silent():
    with pytest.raises(TypeError, match="'verbose' parameter of CausalDiscovery must be an int"):
        model(verbose="loud").fit(X)
    assert for_resamples(model(verbose=1)).verbose == 0


def test_two_fits_at_once_leave_logging_as_it_was():
    logger = logging.getLogger("sartre")
    before = logger.level, logger.propagate
    first, second = (progress.progress(name, Console(file=io.StringIO())) for name in "ab")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert (logger.level, logger.propagate) == before
