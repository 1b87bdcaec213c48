"""The report in a real browser: it opens from disk without other files, and its controls work."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sartre import CausalDiscovery
from sartre.order import FixedOrder


def test_it_opens_from_disk_without_an_error_or_a_request(opened, model, table, found):
    page = opened(model, table, stability=found)
    assert len(page.all("#drawing .edge")) == model.graph_.n_edges
    assert len(page.all("#drawing .node")) == len(table.columns)
    assert page.complaints() == []
    assert [url for url in page.requests() if not url.startswith("file:")] == []


def test_an_edge_that_is_clicked_or_focused_shows_its_function(opened, model, table):
    page = opened(model, table)
    titles = set()
    for k, edge in enumerate(page.all("#drawing .edge")):
        name = page.run("return arguments[0].querySelector('title').textContent", edge)
        page.run("arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", edge)
        assert page.one("#panel h3").text == name
        assert page.run("return document.querySelector('#panel .curve').getAttribute('d').length") > 100
        assert len(page.all("#panel .shape .point")) > 500
        assert page.run("return arguments[0].classList.contains('chosen')", edge)
        titles.add(name)
        assert len(titles) == k + 1
    second = page.all("#drawing .edge")[1]
    enter = "arguments[0].dispatchEvent(new MouseEvent('mouseenter'))"
    kept = page.one("#panel h3").text
    page.run(enter, second)
    assert page.one("#panel h3").text == kept  # it is pinned
    page.driver.find_element("css selector", "body").send_keys("\ue00c")  # escape releases it
    page.run(enter, second)
    assert page.one("#panel h3").text == page.run("return arguments[0].querySelector('title').textContent", second)
    first = page.all("#drawing .edge")[0]
    page.run("arguments[0].focus()", first)
    assert page.one("#panel h3").text == page.run("return arguments[0].querySelector('title').textContent", first)


def test_a_pointer_finds_an_edge(opened, model, table):
    page = opened(model, table)
    last = page.all("#drawing .edge")[-1]
    place = page.run(
        """const line = arguments[0].querySelector('.line');
        const at = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());
        document.elementFromPoint(at.x, at.y).dispatchEvent(new MouseEvent('click', {bubbles: true}));
        return [at.x, at.y]""",
        last,
    )
    assert all(value > 0 for value in place)
    assert page.one("#panel h3").text == page.run("return arguments[0].querySelector('title').textContent", last)


def test_two_causes_that_act_together_have_a_heat_map(opened, model, table):
    page = opened(model, table)
    pair = model.prune_step_.interactions_.iloc[0]
    page.run(
        """[...document.querySelectorAll('#drawing .edge')].find(
        edge => edge.querySelector('title').textContent === arguments[0]
        ).dispatchEvent(new MouseEvent('click', {bubbles: true}))""",
        f"{pair['first']} → {pair['target']}",
    )
    assert len(page.all("#panel .heat rect")) == 24 * 24
    assert f"{pair['first']} and {pair['second']} act together" in page.one("#panel").text


def test_the_table_sorts_by_every_column_both_ways_and_searches(opened, model, table, found):
    page = opened(model, table, stability=found)
    heads = page.run("return [...document.querySelectorAll('#edges th')].map(th => th.dataset.key)")
    assert {"source", "target", "strength", "direction", "confidence", "frequency"} <= set(heads)
    for number, key in enumerate(heads):
        for _ in range(2):
            page.one(f"[data-key='{key}'] button").click()
            told = page.one(f"[data-key='{key}']").get_attribute("aria-sort")
            cells = [text for text in page.column(number) if text not in {"", "–"}]
            values = [_value(text) for text in cells]
            assert values == sorted(values, reverse=told == "descending"), (key, told)
    page.one("#search").send_keys("a →")
    assert set(page.column(0)) == {"a"}
    assert page.one("#count").text.startswith(f"{len(page.column(0))} of ")
    assert page.complaints() == []


def _value(text):
    try:
        return float(text.replace("−", "-").removesuffix(" %"))
    except ValueError:
        return text


def test_undecided_arrows_are_dashed_lines_without_a_head(opened):
    a, *noise = np.random.default_rng(0).normal(size=(3, 1000))
    b = a + noise[0]
    chain = pd.DataFrame({"a": a, "b": b, "c": b + noise[1]})
    page = opened(CausalDiscovery(random_state=0).fit(chain), chain)
    assert len(page.all(".edge .open")) == 2
    assert page.all(".edge .arrow") == []
    assert "the data do not decide the direction" in page.one(".legend").text
    assert " — " in page.one("#panel h3").text
    assert set(page.column(3)) == {"undecided"}
    known = CausalDiscovery(FixedOrder(["a", "b", "c"])).fit(chain)
    page = opened(known, chain)
    assert page.all(".edge .open") == []
    assert len(page.all(".edge .arrow")) == 2
    assert "do not decide" not in page.one(".legend").text


def test_search_finds_a_variable_among_500(opened, large):
    X, fitted = large
    page = opened(fitted, X)
    source, target = fitted.graph_.edges[-1]
    page.one(".find").send_keys(target)
    assert page.one("#drawing .node.centre title").get_attribute("textContent") == target
    assert len(page.all("#drawing .edge")) == len(fitted.graph_.parents(target)) + len(fitted.graph_.children(target))
    page.run(
        """[...document.querySelectorAll('#drawing .node')].find(
        node => node.querySelector('title').textContent === arguments[0]
        ).dispatchEvent(new MouseEvent('click', {bubbles: true}))""",
        source,
    )
    assert page.one("#drawing .node.centre title").get_attribute("textContent") == source
    assert page.run("return document.querySelector('#panel .curve') !== null")
    page.run(
        "const find = document.querySelector('.find'); find.value = 'nowhere'; find.dispatchEvent(new Event('input'))"
    )
    assert "No variable" in page.one(".matches").text
    page.one("#search").send_keys(source)
    assert 0 < len(page.column(0)) < fitted.graph_.n_edges
    assert page.complaints() == []
    assert [url for url in page.requests() if not url.startswith("file:")] == []


def test_hostile_names_stay_text(opened, hostile):
    X, fitted = hostile
    page = opened(fitted, X)
    shown = page.run("return [...document.querySelectorAll('#order li')].map(li => li.lastChild.textContent)")
    assert sorted(shown) == sorted(X.columns)
    nodes = page.run("return [...document.querySelectorAll('.node title')].map(title => title.textContent)")
    assert sorted(nodes) == sorted(X.columns)
    for edge in page.all("#drawing .edge"):
        page.run("arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", edge)
    assert page.run("return document.scripts.length") == 2
    assert page.all("img") == []
    assert page.complaints() == []  # a script that had run, or the content policy, would have logged a message


def test_light_and_dark_and_a_phone(opened, browser, model, table):
    page = opened(model, table)
    colour = "return getComputedStyle(document.body).backgroundColor"
    before = page.run(colour)
    page.one("#theme").click()
    assert page.run(colour) != before
    page.one("#theme").click()
    assert page.run(colour) == before
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        assert page.run("return document.documentElement.scrollWidth") <= 390
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
