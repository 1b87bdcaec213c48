"""A computation that cannot fit into memory is refused before it starts."""

from __future__ import annotations

import numpy as np
import pytest

from sartre.compute import memory
from sartre.order import SCORE, NoGAM


@pytest.mark.parametrize("orderer", [SCORE(), NoGAM()], ids=repr)
def test_a_kernel_that_does_not_fit_is_refused_before_it_is_made(monkeypatch, orderer):
    monkeypatch.setattr(memory, "free_bytes", lambda: 1e6)
    with pytest.raises(MemoryError, match=r"The kernel of 500 rows needs about .* GB .* Use fewer rows"):
        orderer.fit(np.random.default_rng(0).normal(size=(500, 3)))


def test_a_sample_that_fits_is_used(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 1e6)
    X = np.random.default_rng(0).normal(size=(500, 3))
    assert sorted(SCORE(max_samples=100, random_state=0).fit(X).order_.tolist()) == [0, 1, 2]


def test_a_limit_on_the_address_space_counts(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10**12, 10**12))
    assert memory._left_of_address_space() < 10**12
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert memory._left_of_address_space() == np.inf
