from __future__ import annotations

import pandas as pd
import pytest

from experiments import claims, page, reproduce
from experiments.figure_breaks import CHANGES, change_of
from experiments.study import Claim

FULL, QUICK = False, True
A, B = ("SCORE", "A"), ("SCORE", "B")


def frame_of(*rows: tuple[str, int, tuple[str, str], float]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"study_data": data, "family": data[:3], "trial": trial, "order": m[0], "prune": m[1], "shd": shd}
            for data, trial, m, shd in rows
        ]
    )


@pytest.mark.parametrize(
    ("mine", "word"), [((1.0, 1.0), "Holds"), ((1.0, 9.0), "Holds partly"), ((9.0, 9.0), "Does not hold here")]
)
def test_a_verdict_counts_the_settings(mine, word):
    frame = frame_of(*(row for k, x in enumerate(mine) for row in ((f"ER{k}", 0, A, x), (f"ER{k}", 0, B, 2.0))))
    told = page.verdict(Claim("A beats B.", claims.no_more("shd", A, B)), frame)
    assert f"**{word}**: in {sum(x < 2 for x in mine)} of 2" in told


def test_the_figures_of_a_reason_come_from_the_rows_and_without_them_there_is_no_reason():
    frame = frame_of(("ER1", 0, A, 1.0), ("ER1", 1, A, 2.0), ("SF1", 0, A, 7.0), ("ER1", 0, B, 2.0))
    claim = Claim(
        "A beats B.", claims.no_more("shd", A, B), "So.", "A has {:.1f}.", [claims.mean_of("shd", A, family="ER1")]
    )
    assert page.verdict(claim, frame).endswith("in 1 of 1 comparisons. So. A has 1.5.")
    unseen = claim._replace(figures=[claims.mean_of("shd", A, family="SF4")])
    assert page.verdict(unseen, frame).endswith("in 1 of 1 comparisons. So.")


@pytest.mark.parametrize(("value", "told"), [(0.01234, "0.0123"), (7.0, "7"), (999.6, "1000"), (1268.4, "1268")])
def test_numbers_are_short_and_large_ones_whole(value, told):
    assert page.short(value, 3) == told


def test_means_are_about_equal_if_neither_is_much_larger():
    frame = frame_of(*((f"ER{k}", 0, m, x) for k, pair in enumerate([(10, 11), (11, 10), (10, 12), (12, 10), (0, 0)])
                       for m, x in zip((A, B), pair, strict=True)))  # fmt: skip
    assert claims.about_equal("shd", A, B, 1.1)(frame) == [True, True, False, False, True]


def test_only_trials_that_both_have_are_compared():
    frame = frame_of(("ER1", 0, A, 1.0), ("ER1", 1, A, 100.0), ("ER1", 0, B, 2.0))
    assert claims.no_more("shd", A, B)(frame) == [True]
    assert claims.no_less("shd", A, B)(frame) == [False]


def test_settings_that_do_not_count_are_left_out_and_what_was_not_run_is_told():
    frame = frame_of(("ER1", 0, A, 1.0), ("ER1", 0, B, 2.0), ("SF1", 0, A, 3.0), ("SF1", 0, B, 2.0))
    assert claims.no_more("shd", A, B, family=("SF1",))(frame) == [False]
    assert "Not run yet" in page.verdict(Claim("", claims.no_more("shd", A, ("", "C"))), frame)


@pytest.mark.parametrize("name", reproduce.STUDIES)
@pytest.mark.parametrize("quick", [True, False])
def test_no_cell_of_a_study_stands_twice(name, quick):
    cells = reproduce.STUDIES[name].cells(quick)
    assert len(set(cells)) == len(cells) > 0


def test_every_change_is_found_again():
    cells = reproduce.STUDIES["figure-breaks"].cells(FULL)
    frame = pd.DataFrame([cell.settings() for cell in cells])
    assert {change_of(row) for row in frame.itertuples()} == set(CHANGES)


def test_quick_results_become_figures_and_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduce, "RESULTS", tmp_path)
    for name in ("figure-sensitivity", "table-real"):
        study = reproduce.STUDIES[name]
        first = study.cells(QUICK)[:2]
        monkeypatch.setitem(reproduce.STUDIES, name, study._replace(cells=lambda _, first=first: first))
    written = reproduce.reproduce(["figure-sensitivity", "table-real"], trials=1, jobs=1, quick=True)
    names = {file.name for file in written}
    assert names == {"table-real.csv", "reproduction.md"} | {f"figure-sensitivity.{k}" for k in ("csv", "png", "svg")}
    text = (tmp_path / "quick" / "reproduction.md").read_text(encoding="utf-8")
    assert "no edges | 17 ± 0 | 17 ± 0 | 53 ± 0" in text
    before = {file: file.read_bytes() for file in written}
    reproduce.reproduce(["figure-sensitivity", "table-real"], trials=1, jobs=1, quick=True)
    assert {file: file.read_bytes() for file in written} == before
