"""The program that serves the page: one address, tables from files and uploads, runs that end and are ended."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from app_process import RUN, Program, request

from sartre import CausalDiscovery, Dag, Knowledge
from sartre.app.session import plain_name
from sartre.data.read_file import read_table
from sartre.order import OrderSearch
from sartre.prune import SARTRE

HOSTILE = ["<script>alert(1)</script>", "a\"'];import os#", "=1+1", "変数 \\u0022", "x"]


def table_of(names, n=60, seed=0):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    rng = np.random.default_rng(seed)
    first = rng.normal(size=n)
    columns = [first, *(np.tanh(first) + rng.normal(size=(len(names) - 1, n)))]
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue().encode()


@pytest.fixture
def restored(program, water):
    """Give the shared program its table back after a test that uploads others."""
    yield program
    program.ask("table?name=water.csv", body=water.read_bytes())


def test_the_address_is_printed_alone_and_ends_with_a_token(program):
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32,}", program.address)
    status, headers, body = program.raw("GET", f"/?token={program.token}")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert body.startswith(b"<!doctype html>")
    assert 400 <= program.raw("GET", "/")[0] < 500
    assert 400 <= program.raw("GET", f"/?token={program.token}", headers={"Host": "evil.example"})[0] < 500


def test_the_columns_of_a_table_are_described(restored):
    text = "id,age,sex,when,dose\n" + "".join(
        f"p{k},{k % 50},{'fm'[k % 2]},2020-01-{k % 28 + 1:02},{k % 7 if k % 5 else ''}\n" for k in range(200)
    )
    status, found = restored.ask("table?name=people.csv", body=text.encode())
    assert status == 200
    kinds = {column["name"]: column["kind"] for column in found["table"]["columns"]}
    assert kinds == {"id": "id", "age": "number", "sex": "category", "when": "date", "dose": "number"}
    dose = found["table"]["columns"][-1]
    assert dose["missing"] == 40
    assert sum(bar["count"] for bar in dose["bars"]) == 160
    assert {(problem["kind"], problem["column"]) for problem in found["table"]["problems"]} >= {
        ("id", "id"),
        ("date", "when"),
        ("missing", "dose"),
    }


def test_a_file_that_is_no_table_is_refused_in_a_sentence_and_the_table_stays(program):
    before = program.ask("state")[1]["table"]["name"]
    for name, body in (
        ("notes.csv", b"hello world"),
        ("page.csv", b"<!doctype html><p>no"),
        ("empty.csv", b""),
        ("broken.parquet", b"PAR1 and nothing else"),
        ("noise.csv", bytes(range(256)) * 20),
    ):
        status, found = program.ask(f"table?name={name}", body=body)
        assert status == 422
        assert name in found["error"]
        assert "/" not in found["error"].replace(" / ", "")
        assert "Traceback" not in found["error"]
    assert program.ask("state")[1]["table"]["name"] == before


def test_no_name_of_an_upload_is_a_path(restored):
    for name in ("../../x/cells.csv", "%2Fetc%2Fcells.csv", "C%3A%5Ccells.csv", "..%00cells.csv"):
        status, found = restored.ask(f"table?name={name}", body=table_of(["a", "b"]))
        assert status == 200, found
        assert found["table"]["name"].endswith("cells.csv")
        assert "/" not in found["table"]["name"]
    assert not Path("/etc/cells.csv").exists()
    for name in ("..", ".", "", "/", "a/..", "\0"):
        assert plain_name(name) not in {"", ".", ".."}


def test_a_path_from_the_browser_reads_nothing(program):
    run = program.run(
        source="/etc/passwd", run="/root", table="/etc/passwd", out_folder="/root", order_file="/etc/passwd"
    )
    assert run["state"] == "done"
    assert "passwd" not in json.dumps(run)
    status, found = program.ask("runs", request(order="os:system"))  # no code from elsewhere, either
    assert (status, "methods of sartre only" in found["error"]) == (422, True)


def test_hostile_names_come_back_as_they_were_in_every_file(restored):
    status, _ = restored.ask("table?name=hostile.csv", body=table_of(HOSTILE, 120))
    assert status == 200
    knowledge = {"tiers": [HOSTILE[:1], HOSTILE[1:3]], "forbidden": [[HOSTILE[4], HOSTILE[3]]]}
    run = restored.run(columns=HOSTILE, knowledge=knowledge)
    assert run["state"] == "done", run["error"]
    place = f"runs/{run['number']}/files"
    script = restored.raw("GET", f"/api/{place}/repeat.py", headers={"X-Sartre-Token": restored.token})[2].decode()
    names = next(line for line in ast_assignments(script) if line[0] == "COLUMNS")[1]
    assert names == HOSTILE
    text = restored.raw("GET", f"/api/{place}/knowledge.toml", headers={"X-Sartre-Token": restored.token})[2]
    status, found = restored.ask("knowledge?name=knowledge.toml", body=text)
    assert (status, Knowledge(**found["knowledge"])) == (200, Knowledge(**knowledge))
    graph = json.loads(restored.raw("GET", f"/api/{place}/graph.json", headers={"X-Sartre-Token": restored.token})[2])
    assert Dag.from_dict(graph).names == HOSTILE


def ast_assignments(script):
    for node in ast.parse(script).body:
        if isinstance(node, ast.Assign):
            try:
                yield node.targets[0].id, ast.literal_eval(node.value)
            except ValueError:
                continue


def test_contradictions_are_explained_in_the_words_of_the_library(program):
    said = {"knowledge": {"required": [["rain", "river"]], "before": [["river", "rain"]]}}
    found = program.ask("draft", request(**said))[1]
    with pytest.raises(ValueError, match="No order can place") as refusal:
        Knowledge(**said["knowledge"])
    assert found == {"problem": str(refusal.value), "text": None}
    status, found = program.ask("runs", request(**said))
    assert (status, found["error"]) == (422, str(refusal.value))
    assert program.ask("draft", request(knowledge={"tiers": [["rain"], ["river"]]}))[1] == {
        "problem": None,
        "text": 'tiers = [\n    ["rain"],\n    ["river"],\n]\n',
    }


def test_the_page_knows_every_kind_of_knowledge():
    kinds = {field.name for field in fields(Knowledge)}
    script = (files("sartre.app") / "static" / "store.js").read_text("utf-8")
    offered = set(re.findall(r'"(\w+)"', re.search(r"KINDS = \[(.*?)\]", script)[1]))
    assert offered | {"tiers"} == kinds


def test_a_file_of_knowledge_that_does_not_fit_is_refused(program):
    for name, text, word in (
        ("knowledge.toml", 'roots = ["snow"]', "snow"),
        ("knowledge.toml", "roots = [", "knowledge.toml"),
        ("knowledge.txt", 'roots = ["rain"]', ".toml"),
    ):
        status, found = program.ask(f"knowledge?name={name}", body=text.encode())
        assert status == 422
        assert word in found["error"]
        assert "/" not in found["error"]


def test_a_run_that_is_cancelled_ends_its_process_and_nothing_else(program):
    number = program.ask("runs", request(stability=5000))[1]["number"]
    program.until(lambda found: found["seconds"] > 0.5, f"runs/{number}")
    status, found = program.ask(f"runs/{number}", method="DELETE")
    assert status == 200
    assert next(run for run in found["runs"] if run["number"] == number)["state"] == "cancelled"
    assert program.run()["state"] == "done"
    assert program.ask(f"runs/{number}/content")[0] == 422


def test_a_run_whose_process_is_killed_fails_in_a_sentence_and_the_page_lives(program):
    for worker in program.workers():  # those that wait
        os.kill(worker, signal.SIGKILL)
    time.sleep(0.2)
    number = program.ask("runs", request(stability=5000))[1]["number"]
    program.until(lambda found: found["seconds"] > 0.5, f"runs/{number}")
    for worker in program.workers():
        os.kill(worker, signal.SIGKILL)
    run = program.until(lambda found: found["state"] != "running", f"runs/{number}")
    assert run["state"] == "failed"
    assert "ended unexpectedly (signal 9)" in run["error"]
    assert program.raw("GET", f"/?token={program.token}")[0] == 200
    assert program.run()["state"] == "done"


def test_an_error_of_the_library_is_the_error_of_the_run(program):
    run = program.run(columns=["rain"])
    assert (run["state"], "2 columns" in run["error"]) == ("failed", True)
    assert program.ask("runs", request(columns=["rain", "snow"]))[0] == 422


def test_an_effect_is_that_of_the_structural_model(program, water):
    run = program.run()
    status, found = program.ask(f"runs/{run['number']}/effect", {"cause": "rain", "outcome": "flood", "at": [0.5]})
    assert status == 200, found
    table = read_table(water)[["rain", "river", "flood"]]
    model = CausalDiscovery(OrderSearch(effort="fast"), SARTRE(joint=False), n_jobs=1, random_state=0).fit(table)
    expected = model.scm_.effect("rain", "flood", at=[0.5], random_state=0).to_dict("records")
    assert found["values"] == expected
    assert found["edges"] == [["rain", "river"], ["river", "flood"]]
    for said in ({"cause": "rain", "outcome": "rain"}, {"cause": "snow", "outcome": "rain"}, {}):
        assert program.ask(f"runs/{run['number']}/effect", said)[0] == 422


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_when_it_ends_it_leaves_no_process_and_no_file(tmp_path, by):
    started = Program(folder=tmp_path)
    assert started.ask("state")[1]["table"] is None
    workers = started.workers()
    assert workers
    assert list(tmp_path.iterdir()) != []
    _, out, err = started.end(by)
    assert out == ""  # nothing but the address was printed
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_without_the_extra_it_says_what_to_install():
    code = "import sys; sys.modules['uvicorn'] = None; from sartre.cli import main; main()"
    found = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code, "app", "--no-browser"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.count("\n") == 1
    assert 'pip install "sartre[app]"' in found.stderr


def test_what_cannot_be_served_is_refused_before_the_page_opens(program, tmp_path):
    for arguments, word in ((["--port", str(program.port)], "in use"), (["no.csv"], "no file 'no.csv'")):
        found = subprocess.run(  # noqa: S603
            [*RUN, *arguments], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
        )
        assert (found.returncode, found.stdout) == (2, "")
        assert word in found.stderr
