"""Small fitted models for the plots, the report and the browser, and the browser itself."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, stability
from sartre.data.checks import as_table
from sartre.order import FixedOrder
from sartre.prune import SARTRE
from sartre.report import write_report
from sartre.report.content import MAX_DRAWN, report_content
from sartre.report.html import page_of
from sartre.report.layout import layered
from sartre.simulate import random_dag

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{js}}</script>", "$x^2$ & \n\\u003c 変数"]


def together(n: int = 600, seed: int = 0, names=("a", "b", "c", "d", "lone")) -> pd.DataFrame:
    """Return a model of a -> b in which c and b act jointly on d."""
    rng = np.random.default_rng(seed)
    a, c, lone = rng.normal(size=(3, n))
    b = np.sin(2 * a) + rng.normal(size=n) / 2
    d = c * b + rng.normal(size=n) / 3
    return pd.DataFrame(dict(zip(names, (a, b, c, d, lone), strict=True)))


@pytest.fixture(scope="session")
def table():
    return together()


@pytest.fixture(scope="session")
def model(table):
    return CausalDiscovery(order=FixedOrder(["a", "c", "b", "d", "lone"]), random_state=0).fit(table)


@pytest.fixture(scope="session")
def found(model, table):
    return stability(model, table, n_pairs=3, random_state=0)


@pytest.fixture(scope="session")
def hostile():
    """Return a table with hostile names, and a model of it."""
    X = together(names=(*HOSTILE, "lone"))
    order = [HOSTILE[0], HOSTILE[2], HOSTILE[1], HOSTILE[3], "lone"]
    return X, CausalDiscovery(order=FixedOrder(order), random_state=0).fit(X)


@pytest.fixture(scope="session")
def large():
    """Return a table of 500 columns, and a model of it with about 500 edges."""
    dag = random_dag(500, 600, random_state=0)
    rng = np.random.default_rng(0)
    order = dag.topological_order()
    X = pd.DataFrame(rng.normal(size=(400, 500)), columns=[f"gene {j}" for j in range(500)])
    rename = dict(zip(dag.names, X.columns, strict=True))
    for name in order:
        for parent in dag.parents(name):
            X[rename[name]] += 2 * np.tanh(X[rename[parent]])
    prune = SARTRE(penalty=0.3)
    X = (X - X.mean()) / X.std()
    return X, CausalDiscovery(FixedOrder([rename[name] for name in order]), prune, random_state=0).fit(X)


@pytest.fixture(scope="session")
def experiments():
    """Return a table of three experiments, and a model of it: b was set, c was shifted, and a differs unannounced."""
    rng = np.random.default_rng(0)
    environment = np.repeat(["<i>usual</i>", "b set", "c shifted"], [500, 200, 200])
    a, b, c = rng.normal(size=(3, 900))
    a += 2 * (environment == "c shifted")
    b = np.where(environment == "b set", 3 + b / 2, 1.5 * a + b)
    c += 3 * (environment == "c shifted") - b
    order = rng.permutation(900)
    X = pd.DataFrame({"a": a, "b": b, "c": c}).iloc[order].reset_index(drop=True) * 123.456789
    actions = {"b set": ["b"], "c shifted": ("soft", ["c"])}
    model = CausalDiscovery(FixedOrder(["a", "b", "c"]), random_state=0)
    return X, model.fit(X, environment=environment[order], interventions=actions)


@pytest.fixture(scope="session")
def browser():
    """Start a browser, once; without one, the tests that need it are skipped."""
    if not (BROWSER and DRIVER):
        pytest.skip("no browser here: install chromium and chromium-driver to test the report in one")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1200,1000")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    os.environ.setdefault("SE_AVOID_STATS", "true")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


class Opened:
    """A report that is open in the browser."""

    def __init__(self, driver, path):
        self.driver = driver
        driver.get_log("performance")  # ignore messages from before the page was opened
        driver.get_log("browser")
        driver.get(path.as_uri())

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def column(self, number):
        return self.run(
            "return [...document.querySelectorAll('#edges tbody tr')].map(row => row.cells[arguments[0]].textContent)",
            number,
        )

    def requests(self):
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]

    def complaints(self):
        return self.driver.get_log("browser")


@pytest.fixture
def opened(browser, tmp_path):
    def open_report(model, X, **settings):
        path = tmp_path / "report.html"
        write_report(model, X, path, **settings)
        return Opened(browser, path)

    return open_report


@pytest.fixture
def drawn(browser, tmp_path, model, table):
    """Return a function that opens the report of a graph which is written into the page directly, however large."""
    told = report_content(model, as_table(table), None, include_data=False)

    def open_graph(dag, changes=None, **page):
        """Open it; `changes` has more about single edges, by their number."""
        layout = layered(dag) if len(dag) <= MAX_DRAWN else None
        edges = []
        for k, (source, target) in enumerate(dag.edges):
            edge = {"source": dag.names.index(source), "target": dag.names.index(target), "direction": "decided"}
            edge |= {"strength": 0.9 * (1 - k / dag.n_edges), "confidence": 0.99, "margin": 1.5, "joint": False}
            edge |= {"hidden": False} if layout is None else {"hidden": False, "route": layout.routes[k].tolist()}
            edges.append(edge | (changes or {}).get(k, {}))
        content = {**told, "title": "a table.csv", "command": "sartre discover 'a table.csv'", "names": dag.names}
        content |= {"edges": edges, "interactions": [], "order": list(range(len(dag)))}
        content |= {"positions": None if layout is None else layout.positions.tolist(), **page}
        path = tmp_path / "graph.html"
        path.write_text(page_of(content), encoding="utf-8")
        return Opened(browser, path)

    return open_graph


@pytest.fixture
def screen(browser):
    """Return a function that sets the size of the screen, for this test only."""

    def resize(width, height, *, phone=False):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": phone})

    yield resize
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
