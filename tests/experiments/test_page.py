from __future__ import annotations

from itertools import groupby, product

import numpy as np
import pandas as pd
import pytest

from experiments import claims, page, reproduce, table_real
from experiments.figure_breaks import CHANGES, change_of
from experiments.runner import MEASURES
from experiments.study import Claim
from sartre.datasets import load_sachs
from sartre.metrics import sid

FULL, QUICK = False, True
A, B, C = (("SCORE", name) for name in "ABC")


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


def test_what_is_said_of_most_settings_holds_in_half_of_them():
    frame = frame_of(*((f"ER{k}", 0, m, x) for k, pair in enumerate([(1, 2), (9, 2)])
                       for m, x in zip((A, B), pair, strict=True)))  # fmt: skip
    claim = Claim("A mostly beats B.", claims.no_more("shd", A, B), needed=0.5)
    assert "**Holds**: in 1 of 2" in page.verdict(claim, frame)


def test_the_figures_of_a_reason_come_from_the_rows_and_without_them_there_is_no_reason():
    frame = frame_of(("ER1", 0, A, 1.0), ("ER1", 1, A, 2.0), ("SF1", 0, A, 7.0), ("ER1", 0, B, 2.0))
    claim = Claim(
        "A beats B.", claims.no_more("shd", A, B), "So.", "A has {:.1f}.", [claims.mean_of("shd", A, family="ER1")]
    )
    assert page.verdict(claim, frame).endswith("in 1 of 1 comparisons. So. A has 1.5.")
    unseen = claim._replace(figures=[claims.mean_of("shd", A, family="SF4")])
    assert page.verdict(unseen, frame).endswith("in 1 of 1 comparisons. So.")


@pytest.mark.parametrize(("value", "told"), [(0.01234, "0.0123"), (7.0, "7"), (999.6, "1000"), (1268.4, "1268")])
def test_numbers_are_short_and_large_ones_are_integers(value, told):
    assert page.short(value, 3) == told


def test_means_are_about_equal_if_neither_is_much_larger():
    frame = frame_of(*((f"ER{k}", 0, m, x) for k, pair in enumerate([(10, 11), (11, 10), (10, 12), (12, 10), (0, 0)])
                       for m, x in zip((A, B), pair, strict=True)))  # fmt: skip
    assert claims.about_equal("shd", A, B, 1.1)(frame) == [True, True, False, False, True]


def test_only_trials_that_both_have_are_compared():
    frame = frame_of(("ER1", 0, A, 1.0), ("ER1", 1, A, 100.0), ("ER1", 0, B, 2.0))
    assert claims.no_more("shd", A, B)(frame) == [True]


def test_the_best_beats_all_that_were_run_and_larger_is_better_for_some_measures():
    frame = frame_of(
        *(("ER1", 0, method, shd) for method, shd in ((A, 2.0), (B, 2.0), (C, 3.0))),  # a tie counts
        *(("ER4", 0, method, shd) for method, shd in ((A, 2.0), (B, 3.0), (C, 1.9))),
        *(("SF1", 0, method, shd) for method, shd in ((A, 2.0), (C, 4.0))),  # B was not run
        ("SF4", 0, A, 2.0),  # nothing to compare with
    )
    assert claims.best(["shd"], A, [B, C])(frame) == [True, False, True]
    assert claims.best(["shd"], A, [B, C], claims.ABOUT)(frame) == [True, True, True]
    assert claims.best(["recall"], A, [B, C])(frame.rename(columns={"shd": "recall"})) == [False, False, False]


def test_a_ratio_grows_along_an_axis():
    rows = [("ER1", 1.0, 2.0, 100), ("ER1", 3.0, 2.0, 500), ("SF1", 1.0, 1.0, 100), ("SF1", 1.0, 2.0, 500)]
    frame = pd.concat([frame_of((f, 0, A, a), (f, 0, B, b)).assign(samples=n) for f, a, b, n in rows])
    assert claims.grows("shd", A, B, "samples")(frame) == [True, False]


def test_settings_that_do_not_count_are_left_out_and_missing_runs_are_stated():
    frame = frame_of(("ER1", 0, A, 1.0), ("ER1", 0, B, 2.0), ("SF1", 0, A, 3.0), ("SF1", 0, B, 2.0))
    assert claims.no_more("shd", A, B, family=("SF1",))(frame) == [False]
    assert "Not run yet" in page.verdict(Claim("", claims.no_more("shd", A, ("", "C"))), frame)


@pytest.mark.parametrize("name", reproduce.STUDIES)
@pytest.mark.parametrize("quick", [True, False])
def test_no_cell_of_a_study_occurs_twice(name, quick):
    cells = reproduce.STUDIES[name].cells(quick)
    assert len(set(cells)) == len(cells) > 0


def test_every_change_is_found_again():
    cells = reproduce.STUDIES["figure-breaks"].cells(FULL)
    frame = pd.DataFrame([cell.settings() for cell in cells])
    assert {change_of(row) for row in frame.itertuples()} == set(CHANGES)


def test_the_papers_numbers_are_next_to_ours_and_failures_are_counted(tmp_path):
    rows = [cell.settings() | {"trial": "0", **dict.fromkeys(MEASURES, "1")} for cell in table_real.cells(FULL)]
    rows[-1] |= dict.fromkeys(MEASURES, "")
    pd.DataFrame(rows).to_csv(tmp_path / "table-real.csv", index=False)
    text = page.section(table_real.STUDY, page.read(tmp_path / "table-real.csv"), "")
    assert text.count("| 43.2, 102.4, 14.7 |") == 2  # next to both forms of Sachs, only with replacement
    assert text.count("| 12.9, 60.0, 3.18 |") == 1
    assert "Runs of peers without a result: 1." in text
    data = [line.split("|")[1] for line in text.splitlines() if line.startswith("| ")]
    assert len(list(groupby(data))) == 2 + 6  # two header lines, and every data set once


def test_no_graph_has_a_sid_above_62_on_sachs():
    truth = load_sachs().dag
    d = len(truth)
    empty = np.zeros((d, d), dtype=int)
    base = most = sid(truth, empty)
    for child in range(d):  # the distance is a sum over variables, each with its own set of parents
        worst = base
        for chosen in product((0, 1), repeat=d - 1):
            graph = empty.copy()
            graph[np.arange(d) != child, child] = chosen
            worst = max(worst, sid(truth, graph))
        most += worst - base
    assert most == 62
    order = [truth.names.index(name) for name in truth.topological_order()]
    backwards = empty.copy()
    backwards[np.ix_(order, order)] = np.tri(d, k=-1, dtype=int)
    assert sid(backwards, truth) == 110  # with the arguments swapped


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


def test_the_true_order_is_a_name_and_not_a_truth_value(tmp_path):
    cells = reproduce.STUDIES["table-baselines"].cells(FULL)
    rows = [cell.settings() | {"trial": "0", **dict.fromkeys(MEASURES, "1")} for cell in cells]
    pd.DataFrame(rows).to_csv(tmp_path / "table-baselines.csv", index=False)
    frame = page.read(tmp_path / "table-baselines.csv")
    assert set(frame["order"]) == {"true"}
    text = page.section(reproduce.STUDIES["table-baselines"], frame, "")
    assert "Not run yet" not in text
    assert "| true + SARTRE(0.1) |" in text
