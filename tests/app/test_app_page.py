"""The page in a real browser: the whole loop on scikit-learn's diabetes data, hostile names, and 10,000 columns.

With SARTRE_SCREENSHOTS=docs/images, the loop also writes the pictures of docs/app.md.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from app_process import SOON, Program
from PIL import Image
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import ActionChains
from sklearn.datasets import load_diabetes

from sartre import Dag, Knowledge

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="no browser here: install chromium and chromium-driver to test the page in one"
)
PICTURES = os.environ.get("SARTRE_SCREENSHOTS")
DOWNLOADS = {"report.html", "report-without-rows.html", "graph.json", "edges.csv", "knowledge.toml"}
DOWNLOADS |= {"graph.svg", "graph.png", "repeat.py"}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.add_argument("--window-size=1360,1000")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    os.environ.setdefault("SE_AVOID_STATS", "true")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.downloads = tmp_path_factory.mktemp("downloads")
    told = {"behavior": "allow", "downloadPath": str(driver.downloads)}
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", told)
    yield driver
    driver.quit()


class Page:
    """The page of a program, as a person uses it."""

    def __init__(self, driver, program):
        self.driver, self.program = driver, program
        driver.get_log("browser")
        driver.get_log("performance")
        driver.get(program.address)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def script(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def until(self, what, why):
        limit = time.monotonic() + SOON
        while time.monotonic() < limit:
            with suppress(StaleElementReferenceException):  # it was drawn again in between
                found = what()
                if found:
                    return found
            time.sleep(0.05)
        raise AssertionError(f"{why}; {self.complaints()}; the page says: {self.one('body').text[:2000]}")

    def step(self, name):
        self.one(f"#tab-{name}").click()
        assert self.one(f"#tab-{name}").get_attribute("aria-selected") == "true"

    def upload(self, path, n_columns=None):
        self.until(lambda: self.all("#file"), "there is no place for a file")
        time.sleep(0.3)  # the table of the last test may be drawn in its place
        self.one("#file").send_keys(str(path))
        self.until(lambda: self.one("#table-name").get_attribute("textContent") == path.name, "the file is not read")
        shown = self.until(lambda: self.all(".column"), "the columns are not shown")
        assert n_columns in (None, len(shown))

    def drop(self, path):
        """Drop a file onto the page, as from a folder."""
        self.until(lambda: self.all("#file"), "the page is not there")
        self.script(
            """const files = new DataTransfer();
            files.items.add(new File([arguments[0]], arguments[1]));
            const event = new DragEvent("drop", {dataTransfer: files, bubbles: true, cancelable: true});
            document.body.dispatchEvent(event)""",
            path.read_text(encoding="utf-8"),
            path.name,
        )
        self.until(lambda: self.one("#table-name").get_attribute("textContent") == path.name, "the file is not read")

    def press(self, name, key):
        self.script("arguments[0].focus()", self.chip(name))
        self.driver.switch_to.active_element.send_keys(key)

    def chip(self, name):
        return self.one(f".chip[data-name='{name}']")

    def drag(self, name, tier):
        ActionChains(self.driver).click_and_hold(self.chip(name)).move_by_offset(9, 9).move_to_element(
            self.one(f".tier[data-tier='{tier}'] .tier-head")
        ).release().perform()

    def tiers(self):
        return self.script(
            "return [...document.querySelectorAll('.tier:not(.loose, .new)')]"
            ".map(tier => [...tier.querySelectorAll('.chip')].map(chip => chip.dataset.name))"
        )

    def choose(self, selector, value):
        self.script(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change', {bubbles: true}))",
            self.one(selector),
            value,
        )

    def run(self):
        """Press the button that is always there, and wait until the new graph is shown."""
        before = len(self.all("#runs tr[data-run]"))
        self.until(lambda: self.one("#run-now").is_enabled(), "running is not possible")
        self.one("#run-now").click()
        title = f"Run {before + 1}"
        self.until(lambda: self.one("#graph-title").get_attribute("textContent") == title, f"{title} did not end")
        self.until(lambda: self.all("#graph .node"), "no graph is drawn")

    def picture(self, name):
        """Keep a picture of the page for the documentation, if asked to."""
        if PICTURES:
            time.sleep(0.5)
            picture = Image.open(io.BytesIO(self.driver.get_screenshot_as_png())).convert("RGB")
            picture.save(Path(PICTURES) / f"app-{name}.png", optimize=True)

    def complaints(self):
        return self.driver.get_log("browser")

    def requests(self):
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]

    def overflow(self):
        """Return by how many pixels the page is wider than the window."""
        return self.script("return document.documentElement.scrollWidth - window.innerWidth")


@pytest.fixture(scope="module")
def diabetes(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "diabetes.csv"
    table = load_diabetes(as_frame=True, scaled=False).frame.rename(columns={"target": "progression"})
    table.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """Start the program without a table; the tests of this file share it and upload their own."""
    started = Program(folder=tmp_path_factory.mktemp("app"))
    yield started
    started.end()


def test_the_whole_loop(browser, empty, diabetes):
    page = Page(browser, empty)
    look_at_the_table(page, diabetes)
    say_what_is_known(page)
    run_and_cancel(page)
    edge = forbid_an_edge_in_the_graph(page)
    see_what_changed(page, edge)
    take_everything_away(page, diabetes)
    ask(page)
    assert page.complaints() == []
    own = (f"http://127.0.0.1:{empty.port}/", "blob:", "data:")
    assert [url for url in page.requests() if not url.startswith(own)] == []
    survive_a_reload(page)


def look_at_the_table(page, path):
    page.upload(path, 11)
    assert "442 rows, 11 columns" in page.one("#table-summary").text
    assert all(len(page.all(f".column[data-name='{name}'] rect")) > 1 for name in ("age", "sex", "progression"))
    box = page.one(".column[data-name='s1'] input")
    box.click()
    assert "10 of them in use" in page.one("#table-summary").text
    box.click()
    page.choose(".column[data-name='sex'] select", "category")
    page.choose(".column[data-name='sex'] select", "number")
    page.picture("table")


def say_what_is_known(page):
    page.one("#tab-table").send_keys("\ue014")  # the right arrow key
    assert page.driver.switch_to.active_element.get_attribute("id") == "tab-knowledge"
    assert page.one("#step-knowledge").is_displayed()
    page.press("age", "1")
    page.press("sex", "1")
    assert page.tiers() == [["age", "sex"]]
    assert page.driver.switch_to.active_element.get_attribute("data-name") == "sex"
    page.drag("bmi", 1)  # onto the new tier
    assert page.tiers() == [["age", "sex"], ["bmi"]]
    for name in ("bp", "s1", "s2", "s3", "s4", "s5", "s6"):
        page.press(name, "2")
    page.drag("progression", 2)
    assert [len(tier) for tier in page.tiers()] == [2, 8, 1]
    page.press("s6", "\ue014")  # the right arrow key
    assert page.tiers()[2] == ["progression", "s6"]
    page.drag("s6", 1)
    contradict(page)
    page.picture("knowledge")


def contradict(page):
    for selector, text in (("#rule-first", "progression"), ("#rule-second", "age")):
        page.one(selector).send_keys(text)
    page.choose("#rule-kind", "required")
    page.one(".rule-form button").click()
    page.until(lambda: page.one("#contradiction").is_displayed(), "the contradiction is not explained")
    with pytest.raises(ValueError, match="No order can place") as refusal:
        Knowledge(required=[("progression", "age")], tiers=page.tiers())
    assert str(refusal.value) in page.one("#contradiction").text
    assert not page.one("#run-now").is_enabled()
    page.one("#rules button").click()
    page.until(lambda: not page.one("#contradiction").is_displayed(), "the contradiction stays")


def run_and_cancel(page):
    page.step("run")
    page.choose("#set-effort", "fast")
    page.choose("#set-stability", "200")
    page.until(lambda: "on this machine" in page.one("#estimate").text, "there is no estimate")
    page.one("#learn").click()
    page.until(lambda: re.search(r"\b[1-9]\d* of 400 ", page.one("#status-text").text), "no progress is shown")
    page.picture("run")
    page.one("#cancel").click()
    page.until(lambda: "cancelled" in page.one("#runs").text, "the run goes on")
    assert not page.one("#status").is_displayed()
    page.choose("#set-stability", "0")
    page.run()
    assert page.one("#tab-look").get_attribute("aria-selected") == "true"
    assert len(page.all("#graph .node")) == 11
    page.until(lambda: page.all("#edge .curve"), "an edge has no curve")
    assert page.one("#diagnostics summary").text.startswith("What to know")


def forbid_an_edge_in_the_graph(page):
    """Click the strongest edge where it is drawn, and say that it must not be."""
    page.script(
        """const line = document.querySelector('#graph .edge[data-edge="0"] .line');
        const at = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());
        const edge = document.querySelector('#graph .edge[data-edge="0"]');
        const hit = document.elementFromPoint(at.x, at.y);
        (edge.contains(hit) ? hit : edge).dispatchEvent(new MouseEvent('click', {bubbles: true}))"""
    )
    source, target = page.one("#edge h3").text.replace("—", "→").split(" → ")
    button = next(each for each in page.all("#edge .say button") if each.text == f"Forbid {source} → {target}")
    button.click()
    pressed = page.until(lambda: page.all("#edge .say [aria-pressed='true']"), "the edge is not forbidden")
    assert pressed[0].text == f"Forbid {source} → {target}"
    page.picture("look")
    return source, target


def see_what_changed(page, edge):
    page.run()
    source, target = edge
    names = {f"{source} → {target}", f"{source} — {target}"}
    marked = {
        name: page.script(
            "return [...document.querySelectorAll('#graph .edge.' + arguments[0] + ' title')].map(t => t.textContent)",
            name,
        )
        for name in ("came", "went", "turned")
    }
    gone = set(marked["went"]) | {f"{b} {sign} {a}" for text in marked["turned"] for a, sign, b in [text.split(" ")]}
    assert gone & names, marked
    told = page.one("#changes").text
    assert all(f"{len(edges)} {name}" in told for name, edges in marked.items() if edges)
    colours = {
        name: page.script(
            "return getComputedStyle(document.querySelector('#graph .edge' + arguments[0] + ' .line')).stroke", selector
        )
        for name, selector in (
            ("same", ":not(.came, .went, .turned)"),
            *((name, f".{name}") for name in marked if marked[name]),
        )
    }
    assert len(set(colours.values())) == len(colours)
    page.one("#beside").click()
    page.until(lambda: len(page.all("#other-graph .node")) == 11, "the other run is not beside it")
    page.picture("differences")
    page.one("#beside").click()


def ask(page):
    page.step("ask")
    page.until(lambda: page.all("#ask-cause option"), "there is nothing to ask")
    page.choose("#ask-cause", "bmi")
    page.choose("#ask-outcome", "progression")
    page.one("#ask-at").send_keys("30")
    page.one(".ask button").click()
    verdict = page.until(lambda: page.all(".verdict"), "there is no answer")[0].text
    assert verdict.startswith("If bmi were set to 30, progression would be ")
    assert "90 % interval" in verdict
    page.one("#ask-at").clear()
    page.one(".ask button").click()
    page.until(lambda: page.all(".curve-plot .dot"), "there is no curve")
    assert len(page.all(".curve-plot .dot")) == 10
    matter = [each.get_attribute("textContent") for each in page.all(".answer:first-child .matter li")]
    assert any(text.startswith("bmi → ") for text in matter)
    assert any(text.endswith(" → progression") for text in matter)
    page.picture("ask")
    page.step("take")
    page.until(
        lambda: "model.scm_.effect('bmi', 'progression', at=[30]" in page.one("#script").text, "the script forgets"
    )


def take_everything_away(page, path):
    page.step("take")
    page.until(lambda: page.one("#script").text.startswith('"""Repeats'), "there is no script")
    assert {each.get_attribute("data-file") for each in page.all("[data-file]")} == DOWNLOADS
    for name in DOWNLOADS:
        page.one(f"[data-file='{name}']").click()
    folder = page.driver.downloads
    page.until(lambda: {file.name for file in folder.iterdir()} == DOWNLOADS, "downloads are missing")
    page.picture("take")
    graph = Dag.read(folder / "graph.json")
    frame = pd.read_csv(folder / "edges.csv")
    assert set(zip(frame["source"], frame["target"], strict=True)) == set(graph.edges)
    assert Knowledge.read(folder / "knowledge.toml").tiers[0] == ("age", "sex")
    assert (folder / "graph.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    picture = (folder / "graph.svg").read_text()
    assert picture.startswith("<svg")
    assert all(f">{name}<" in picture for name in graph.names)
    assert "progression" in (folder / "report.html").read_text()
    rows = [len((folder / name).read_bytes()) for name in ("report.html", "report-without-rows.html")]
    assert rows[1] < rows[0]
    repeated = path.parent / "repeated"
    repeated.mkdir()
    found = subprocess.run(  # noqa: S603
        [sys.executable, str(folder / "repeat.py"), str(path)],
        cwd=repeated,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert found.returncode == 0, found.stderr
    assert Dag.read(repeated / "graph.json") == graph


def survive_a_reload(page):
    page.driver.refresh()
    page.until(lambda: page.one("#tab-look").is_enabled(), "the runs are gone")
    assert len(page.all("#runs tbody tr[data-run]")) == 3
    page.step("knowledge")
    assert page.tiers()[0] == ["age", "sex"]


HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "';alert(3)//", '変数 "x"']


def test_hostile_names_are_shown_and_never_run(browser, empty, tmp_path):
    rng = np.random.default_rng(0)
    first = rng.normal(size=150)
    columns = [first, *(np.tanh(2 * first) + rng.normal(size=(3, 150)) / 2)]
    pd.DataFrame(dict(zip(HOSTILE, columns, strict=True))).to_csv(tmp_path / "hostile.csv", index=False)
    page = Page(browser, empty)
    page.drop(tmp_path / "hostile.csv")
    page.until(lambda: len(page.all(".column")) == 4, "the columns are not shown")
    page.step("knowledge")
    assert {each.get_attribute("data-name") for each in page.all(".chip")} == set(HOSTILE)
    page.step("run")
    page.choose("#set-effort", "fast")
    page.run()
    page.step("ask")
    page.step("take")
    page.until(lambda: page.one("#script").text.startswith('"""Repeats'), "there is no script")
    assert page.all("main img, main script") == []
    try:
        for width in (1360, 390):
            browser.set_window_size(width, 1000)
            for step in ("table", "knowledge", "run", "look", "ask", "take"):
                page.step(step)
                assert page.overflow() <= 0, (step, width)
    finally:
        browser.set_window_size(1360, 1000)
    assert page.complaints() == []


def test_problems_of_a_table_are_solved_by_their_buttons(browser, empty, tmp_path):
    rows = range(60)
    table = pd.DataFrame(
        {"id": [f"p{k}" for k in rows], "visit": "2020-01-01", "unit": 1, "dose": [k % 7 for k in rows]}
    )
    table["answer"] = [None if k % 9 == 0 else (k * k) % 11 for k in rows]
    table.to_csv(tmp_path / "trial.csv", index=False)
    page = Page(browser, empty)
    page.upload(tmp_path / "trial.csv", 5)

    def press(text):
        next(button for button in page.all("#problems button") if button.text == text).click()

    assert {"Leave out id", "Leave out visit", "Leave out unit"} <= {each.text for each in page.all("#problems button")}
    press("Leave out id")
    assert "4 of them in use" in page.one("#table-summary").text
    press("Leave out all 2")
    assert "2 of them in use" in page.one("#table-summary").text
    assert "7 values are missing in answer" in page.one("#problems").text
    press("Fill them in")
    assert not page.one("#problems").is_displayed()


def test_ten_thousand_columns_do_not_freeze_the_page(browser, empty, tmp_path):
    names = [f"gene {j}" for j in range(10_000)]
    values = np.random.default_rng(0).normal(size=(12, len(names))).round(2)
    pd.DataFrame(values, columns=names).to_csv(tmp_path / "genes.csv", index=False)
    page = Page(browser, empty)
    page.upload(tmp_path / "genes.csv")
    assert len(page.all(".column")) < 60
    page.script("document.querySelector('#columns').scrollTop = 1e9")
    page.until(lambda: page.all(".column[data-name='gene 9999']"), "the last column is not reached")
    page.one("#find-column").send_keys("gene 4321")
    page.until(lambda: len(page.all(".column")) == 1, "the search does not work")
    page.step("knowledge")
    assert len(page.all(".chip")) <= 200
    assert len(page.all("*")) < 3000
