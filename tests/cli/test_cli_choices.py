from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import names_in, run

from sartre import CausalDiscovery, Dag
from sartre.cli._certificates import certified_marks
from sartre.evidence import stability as evidence_stability
from sartre.order import R2Sort
from sartre.prune import CAMPruning

# Choices


def test_methods_and_their_settings_are_chosen_by_name_in_any_case(table, folder):
    arguments = ("--order", "r2sort", "--prune", "campruning", "--set", "prune.alpha=0.2", "--set", "prune.adjust=holm")
    assert run("discover", table, *arguments).exit_code == 0
    document = json.loads((folder / "graph.json").read_text())
    model = CausalDiscovery(R2Sort(), CAMPruning(alpha=0.2, adjust="holm"), random_state=0).fit(pd.read_csv(table))
    assert Dag.from_dict(document) == model.graph_
    assert document["order"] == [model.graph_.names[j] for j in model.order_]
    assert (document["run"]["order"]["method"], document["run"]["prune"]["method"]) == ("R2Sort", "CAMPruning")
    assert (document["run"]["prune"]["alpha"], document["run"]["prune"]["adjust"]) == (0.2, "holm")


@pytest.mark.parametrize(
    ("arguments", "standardized"),
    [([], False), (["--order", "SCORE"], True), (["--order", "VarianceSort"], False), (["--penalty", "0.05"], True)],
)
def test_columns_are_standardised_where_a_method_needs_units_and_only_there(table, folder, arguments, standardized):
    assert run("discover", table, *arguments).exit_code == 0
    document = json.loads((folder / "graph.json").read_text())
    assert document["run"]["standardized"] is standardized
    if arguments == ["--order", "VarianceSort"]:
        assert document["order"] == pd.read_csv(table).var().sort_values().index.tolist()


def test_a_selection_of_columns_leaves_the_others_out_before_they_are_judged(table, folder):
    pd.read_csv(table).assign(id=[f"row {j}" for j in range(200)]).to_csv("ids.csv", index=False)
    assert "levels in 200 rows" in run("discover", "ids.csv").stderr
    assert run("discover", "ids.csv", "--columns", "river, rain").exit_code == 0
    assert json.loads((folder / "graph.json").read_text())["nodes"] == ["river", "rain"]


def test_categories_and_missing_values_are_learnt_from(table, folder):
    frame = pd.read_csv(table)
    frame["season"] = np.where(frame["rain"] > 0, "wet", "dry")
    frame.loc[::40, "river"] = np.nan
    frame.to_csv("gaps.csv", index=False)
    (folder / "known.toml").write_text('roots = ["season"]\n')
    refused = run("discover", "gaps.csv", "--knowledge", "known.toml")
    assert refused.exit_code == 2
    assert "There are missing values. Counts per column: 'river' 5. Leave out their rows" in refused.stderr
    result = run("discover", "gaps.csv", "--missing", "bin", "--knowledge", "known.toml")
    assert result.exit_code == 0, result.stderr
    document = json.loads((folder / "graph.json").read_text())
    assert document["order"][0] == "season"
    assert document["run"]["missing"] == "bin"
    assert document["run"]["knowledge"] == {"roots": ["season"]}
    result = run("discover", "gaps.csv", "--missing", "bin", "--report", "report.html")
    assert result.exit_code == 0, result.stderr
    assert "were imputed" in (folder / "report.html").read_text()
    assert names_in(folder) == sorted(
        [
            "edges.csv",
            "gaps.csv",
            "graph.json",
            "knowledge-template.toml",
            "known.toml",
            "model.sartre",
            "report.html",
            table,
        ]
    )


def test_the_edges_are_a_table_of_their_own(table, folder):
    assert run("discover", table).exit_code == 0
    document = json.loads((folder / "graph.json").read_text())
    edges = pd.read_csv(folder / "edges.csv")
    assert edges[["source", "target"]].to_dict("records") == [
        {key: edge[key] for key in ("source", "target")} for edge in document["edges"]
    ]


def test_json_is_the_document_of_the_file_and_nothing_else(table, folder):
    pd.read_csv(table).rename(columns={"rain": "größe"}).to_csv("odd.csv", index=False)
    result = run("discover", "odd.csv", "--json")
    assert json.loads(result.stdout) == json.loads((folder / "graph.json").read_text(encoding="utf-8"))
    assert result.stdout.isascii()


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_every_kind_of_file_gives_the_same_graph(table, folder, suffix):
    frame = pd.read_csv(table)
    getattr(frame, f"to_{suffix}")(f"water.{suffix}")
    documents = []
    for source in (table, f"water.{suffix}"):
        assert run("discover", source).exit_code == 0
        documents.append(json.loads((folder / "graph.json").read_text())["edges"])
    for edge, other in zip(*documents, strict=True):  # old versions of pandas read text with an error in the last digit
        assert (edge["source"], edge["target"]) == (other["source"], other["target"])
        assert edge["strength"] == pytest.approx(other["strength"], rel=1e-9)


def test_standard_input_is_a_file_too(table, folder):
    result = run("discover", "-", "--json", stdin=(folder / table).read_bytes())
    assert result.stderr == "Reading standard input\n"
    assert len(json.loads(result.stdout)["edges"]) == 2
    assert run("discover", "-", stdin=b"").exit_code == 2


# Stability


def test_stability_adds_frequencies_and_continues_after_an_interruption(table, folder, monkeypatch):
    arguments = ("discover", table, "--stability", "2")
    assert run(*arguments, "--out", "whole").exit_code == 0
    original, numbers = evidence_stability._run, []

    def stopped_in_the_second_pair(shared, seed, number):
        numbers.append(number)
        if numbers == [0, 1, 2]:
            raise KeyboardInterrupt
        return original(shared, seed, number)

    monkeypatch.setattr(evidence_stability, "_run", stopped_in_the_second_pair)
    assert run(*arguments, "--out", "parts").exit_code == 130
    assert names_in(folder / "parts") == ["stability.checkpoint.json"]
    result = run(*arguments, "--out", "parts")
    assert result.exit_code == 0, result.stderr
    assert numbers == [0, 1, 2, 2, 3]
    assert names_in(folder / "parts") == ["edges.csv", "graph.json", "knowledge-template.toml", "model.sartre"]
    texts = [(folder / name / "graph.json").read_text() for name in ("whole", "parts")]
    assert texts[0] == texts[1]
    document = json.loads(texts[0])
    assert document["stability"]["n_pairs"] == 2
    frequency = {(edge["source"], edge["target"]): edge["frequency"] for edge in document["stability"]["frequencies"]}
    for edge in document["edges"]:
        assert edge["frequency"] == frequency.get((edge["source"], edge["target"]), 0.0)
    assert "│ frequency │ before │".replace("│", "┃") in result.stdout
    assert "edges with a frequency of 0.6 or more are expected by chance" in result.stdout


# Certificates


def test_certify_adds_a_column_and_says_what_it_promises(table, folder):
    result = run("prune", table, "--order-of", "rain,river,flood", "--certify", "0.1")
    assert result.exit_code == 0, result.stderr
    assert "at most 10 % are false in expectation" in result.stdout
    assert "┃ certified ┃" in result.stdout
    document = json.loads((folder / "graph.json").read_text())
    assert document["certificates"]["order"] == ["rain", "river", "flood"]
    certified = {
        (each["source"], each["target"]) for each in document["certificates"]["statements"] if each["certified"]
    }
    assert certified == {("rain", "river"), ("river", "flood")}
    assert all(edge["certified"] is True for edge in document["edges"])
    assert pd.read_csv(folder / "edges.csv")["certified"].tolist() == [True, True]


def test_certify_says_when_the_promise_is_void(table, folder):
    (folder / "order.txt").write_text("rain\nriver\nflood\n")
    result = run("prune", table, "--order-file", "order.txt", "--certify", "0.1")
    assert "This is void if the order in order.txt was learnt from these rows" in result.stdout
    strict = run("prune", table, "--order-file", "order.txt", "--certify", "1e-300")
    assert "No statement is certified" in strict.stdout
    assert "void" not in strict.stdout
    assert "turned" not in strict.stdout


def test_certify_drops_rows_with_missing_values_and_refuses_to_impute_them(table, folder):
    holes = pd.read_csv(table)
    holes.loc[::40, "flood"] = None
    holes.to_csv(folder / "holes.csv", index=False)
    dropped = run("prune", "holes.csv", "--order-of", "rain,river,flood", "--certify", "0.1", "--missing", "drop")
    assert dropped.exit_code == 0
    imputed = run("prune", "holes.csv", "--order-of", "rain,river,flood", "--certify", "0.1", "--missing", "impute")
    assert imputed.exit_code == 2
    assert "Got missing values in flood. Tests that treat imputed values" in imputed.stderr


def test_an_edge_that_is_certified_the_other_way_round_is_marked():
    edges = pd.DataFrame({"source": ["a", "c", "a"], "target": ["b", "a", "d"]})
    stated = [{"source": "a", "target": "b", "certified": True}, {"source": "a", "target": "c", "certified": True}]
    assert certified_marks(edges, {"statements": stated}) == ["yes", "turned", ""]


@pytest.mark.parametrize(("rate", "message"), [("0", "'fdr' parameter of certify"), ("much", "--certify")])
def test_a_rate_that_makes_no_sense_is_refused(table, folder, rate, message):
    result = run("discover", table, "--certify", rate)
    assert result.exit_code == 2
    assert message in result.stderr
    assert names_in(folder) == ["water.csv"]


# Disks


def test_a_disk_that_fills_up_is_one_sentence_and_leaves_nothing(table, folder, monkeypatch):
    original = Path.write_text

    def fill_up(self, text, **options):
        original(self, text[:50], **options)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fill_up)
    result = run("discover", table, "--out", "new")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == (
        "Error: No space left on device: 'new/graph.json'; free some space, or choose another disk."
    )
    assert names_in(folder) == [table]


def test_a_folder_that_cannot_be_written_is_reported_before_the_work(table, folder, monkeypatch):
    monkeypatch.setattr("os.access", lambda _, mode: mode != os.W_OK)
    monkeypatch.setattr(CausalDiscovery, "fit", None)
    result = run("discover", table)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == "Error: The folder '.' is not writable; choose another."
    assert names_in(folder) == [table]


def test_a_run_without_stability_leaves_the_checkpoint_of_another(table, folder):
    (folder / "stability.checkpoint.json").write_text("{}")
    assert run("discover", table).exit_code == 0
    assert (folder / "stability.checkpoint.json").read_text() == "{}"


def test_a_report_overwrites_nothing_that_the_run_reads_or_writes(table, folder):
    (folder / "known.toml").write_text('roots = ["rain"]\n')
    read, written = "the input file", "another file of this run"
    for name, kind in (("known.toml", read), ("stability.checkpoint.json", written), ("edges.csv", written)):
        result = run("discover", table, "--knowledge", "known.toml", "--report", name)
        assert result.exit_code == 2
        assert f"'{name}' is {kind}" in result.stderr
    assert (folder / "known.toml").read_text() == 'roots = ["rain"]\n'


@pytest.mark.parametrize("names", ["rain\nriver", 'rain,"river'])
def test_names_that_cannot_be_split_are_reported(table, names):
    result = run("discover", table, "--columns", names)
    assert result.exit_code == 2
    assert "Names must be separated by commas" in result.stderr


def test_a_penalty_means_the_same_whichever_way_it_is_set(table, folder):
    documents = []
    for option in (["--penalty", "0.1"], ["--set", "prune.penalty=0.1"]):
        assert run("discover", table, *option).exit_code == 0
        documents.append(json.loads((folder / "graph.json").read_text()))
    assert documents[0]["edges"] == documents[1]["edges"]
    assert documents[1]["run"]["standardized"]


def test_a_first_column_that_looks_like_a_tag_is_a_column(table, folder):
    frame = pd.read_csv(table).rename(columns={"rain": "<script>alert(1)</script>"})
    frame[["<script>alert(1)</script>", "river", "flood"]].to_csv("tags.csv", index=False)
    assert run("discover", "tags.csv").exit_code == 0
    assert "<script>alert(1)</script>" in json.loads((folder / "graph.json").read_text())["nodes"]
