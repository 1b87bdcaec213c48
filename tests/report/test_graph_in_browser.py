"""The drawn graph in a real browser: at any size it is seen as a whole, and can be zoomed, searched and taken along."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from PIL import Image
from selenium.webdriver import ActionChains, Keys
from sklearn.datasets import load_breast_cancer

from sartre import Dag
from sartre.simulate import random_dag

CUT_OFF = """const stage = document.querySelector('.stage').getBoundingClientRect();
return [...document.querySelectorAll('.node')].filter((node) => {
  const box = node.getBoundingClientRect();
  return box.width < 1 || box.left < stage.left || box.right > stage.right
    || box.top < stage.top || box.bottom > stage.bottom;
}).length"""
PLACE = """const box = document.querySelector(arguments[0]).getBoundingClientRect();
return [box.x + box.width / 2, box.y + box.height / 2]"""
SHOWN = "return [...document.querySelectorAll('.edge')].filter(e => getComputedStyle(e).display !== 'none').length"
CHAIN = Dag.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("x", "c"), ("b", "y")], [*"abcdxy", "lone"])


def dense():
    """Return a graph of the columns of scikit-learn's breast cancer data with 159 edges."""
    columns = [*load_breast_cancer().feature_names, "target"]
    return Dag(random_dag(31, 159, random_state=0).adjacency, columns)


def scale(page):
    return page.run("return document.querySelector('.layer').transform.baseVal.consolidate().matrix.a")


def named(page, selector):
    return set(
        page.run("return [...document.querySelectorAll(arguments[0] + ' > title')].map(t => t.textContent)", selector)
    )


def click_node(page, dag, name):
    page.one(f".node[data-node='{dag.names.index(name)}']").click()


@pytest.mark.parametrize(("width", "height", "phone"), [(1440, 900, False), (390, 844, True)])
@pytest.mark.parametrize(("d", "n_edges"), [(31, 159), (500, 1000)])
def test_no_node_is_cut_off_on_a_desktop_or_a_phone(drawn, screen, d, n_edges, width, height, phone):
    screen(width, height, phone=phone)
    page = drawn(dense() if d == 31 else random_dag(d, n_edges, random_state=0))
    assert page.run(CUT_OFF) == 0
    assert len(page.all(".node")) == (31 if d == 31 else len(page.all(".edge")) + 1)
    assert page.one(".stage").size["width"] > 0.8 * min(width, 900)
    assert page.one(".stage").size["height"] >= 240
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.complaints() == []
    assert [url for url in page.requests() if not url.startswith("file:")] == []


def test_a_dense_graph_is_legible_on_a_desktop(drawn, screen):
    screen(1440, 900)
    page = drawn(dense())
    heights = page.run(
        "return [...document.querySelectorAll('.node tspan')].map(t => t.getBoundingClientRect().height)"
    )
    assert min(heights) > 8  # pixels of a line of text
    assert page.run("return [...document.querySelectorAll('.node tspan')].every(t => !t.textContent.endsWith('…'))")


def test_a_variable_with_many_neighbours_is_seen_as_a_whole_too(drawn, screen):
    hub = Dag.from_edges([(f"cause {k}", "hub") for k in range(40)] + [("hub", f"effect {k}") for k in range(30)])
    for width, phone in ((1440, False), (390, True)):
        screen(width, 844, phone=phone)
        page = drawn(hub)
        assert len(page.all(".node")) == 71
        assert page.run(CUT_OFF) == 0


def test_wheel_buttons_and_keys_zoom_and_fit(drawn):
    page = drawn(CHAIN)
    stage, home = page.one(".stage"), scale(page)
    before = page.run(PLACE, ".node")
    ActionChains(page.driver).scroll_from_origin(_origin(page.one(".node")), 0, -300).perform()
    assert scale(page) > 1.2 * home
    assert page.run(PLACE, ".node") == pytest.approx(before, abs=2)  # what is under the pointer stays there
    page.one("button.fit").click()
    assert scale(page) == home
    page.one("button.in").click()
    assert scale(page) == pytest.approx(1.25 * home)
    page.one("button.out").click()
    assert scale(page) == pytest.approx(home, rel=0.01)
    page.run("arguments[0].focus()", stage)
    stage.send_keys("+")
    assert scale(page) == pytest.approx(1.25 * home, rel=0.01)
    place = page.run(PLACE, ".node")
    stage.send_keys(Keys.ARROW_RIGHT)
    assert page.run(PLACE, ".node")[0] == pytest.approx(place[0] - 60, abs=1)
    stage.send_keys("0")
    assert scale(page) == home
    assert page.run(CUT_OFF) == 0
    assert page.complaints() == []


def _origin(element):
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin  # noqa: PLC0415

    return ScrollOrigin.from_element(element)


def test_two_fingers_zoom_and_one_moves(drawn, screen):
    screen(390, 844, phone=True)
    page = drawn(CHAIN)
    page.run("document.querySelector('.stage').scrollIntoView({block: 'center'})")
    home, (x, y) = scale(page), page.run(PLACE, ".stage")

    def touch(kind, *points):
        touched = [{"x": x + dx, "y": y + dy, "id": k} for k, (dx, dy) in enumerate(points)]
        page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched})

    touch("touchStart", (-20, 0), (20, 0))
    for spread in (30, 45, 60):
        touch("touchMove", (-spread, 0), (spread, 0))
    touch("touchEnd")
    assert scale(page) > 2 * home
    before = page.run(PLACE, ".node")
    touch("touchStart", (0, 100))
    for down in (110, 130, 150):
        touch("touchMove", (0, down))
    touch("touchEnd")
    assert page.run(PLACE, ".node")[1] > before[1] + 20


def test_a_node_can_be_dragged_with_its_edges_and_the_background_moves_all(drawn):
    page = drawn(CHAIN)
    line = "return document.querySelector('[data-edge=\"0\"] .line').getAttribute('d')"
    path, node, other = page.run(line), page.run(PLACE, "[data-node='0']"), page.run(PLACE, "[data-node='3']")
    held = page.one(".node[data-node='0']")
    ActionChains(page.driver).click_and_hold(held).move_by_offset(40, 10).move_by_offset(20, 5).release().perform()
    assert page.run(PLACE, "[data-node='0']") == pytest.approx([node[0] + 60, node[1] + 15], abs=2)
    assert page.run(PLACE, "[data-node='3']") == pytest.approx(other, abs=1)
    assert page.run(line) != path
    assert page.all(".node.chosen") == []  # the end of a drag is no click
    page.run("document.querySelector('.sartre-graph').scrollIntoView()")
    other = page.run(PLACE, "[data-node='3']")
    x, y = page.run("const box = document.querySelector('.stage').getBoundingClientRect(); return [box.x, box.y]")
    move = ActionChains(page.driver)
    move.w3c_actions.pointer_action.move_to_location(x + 12, y + 12)
    move.click_and_hold().move_by_offset(30, 20).move_by_offset(10, 10).release().perform()
    assert page.run(PLACE, "[data-node='3']") == pytest.approx([other[0] + 40, other[1] + 30], abs=2)


def test_the_slider_hides_the_weakest_edges(drawn):
    page = drawn(dense())
    slide = """const slider = document.querySelector('.weak');
    slider.value = arguments[0]; slider.dispatchEvent(new Event('input', {bubbles: true}))"""
    assert page.run(SHOWN) == 159
    for hidden in (100, 158, 0, 40):
        page.run(slide, hidden)
        assert page.run(SHOWN) == 159 - hidden
        assert page.one(".shown").text.startswith("all 159" if hidden == 0 else f"{159 - hidden} of 159")
    assert page.run(
        """const width = (e) => Number(e.querySelector('.line').getAttribute('stroke-width'));
        const edges = [...document.querySelectorAll('.edge')];
        return Math.max(...edges.filter(e => e.matches('.weak')).map(width))
          <= Math.min(...edges.filter(e => !e.matches('.weak')).map(width))"""
    )
    assert len(page.all(".node")) == 31


@pytest.mark.parametrize("name", ["a", "c", "y", "lone"])
def test_a_node_that_is_clicked_lights_up_its_ancestors_and_descendants(drawn, name):
    page = drawn(CHAIN)
    click_node(page, CHAIN, name)
    up = {"a": set(), "c": {"a", "b", "x"}, "y": {"a", "b"}, "lone": set()}[name]
    down = {"a": {"b", "c", "d", "y"}, "c": {"d"}, "y": set(), "lone": set()}[name]
    assert named(page, ".node.ancestor") == up
    assert named(page, ".node.descendant") == down
    assert named(page, ".node.chosen") == {name}
    paths = {f"{s} → {t}" for s, t in CHAIN.edges if {s, t} <= up | {name}}
    assert named(page, ".edge.toward") == paths
    assert named(page, ".edge.away") == {f"{s} → {t}" for s, t in CHAIN.edges if {s, t} <= down | {name}}
    assert page.one("#panel h3").text == name
    assert f"Causes ({len(CHAIN.parents(name))})" in page.one("#panel").text
    assert f"Effects ({len(CHAIN.children(name))})" in page.one("#panel").text
    page.one(".stage").send_keys(Keys.ESCAPE)
    assert page.all(".node.ancestor, .node.descendant, .node.chosen, .edge.toward, .edge.away") == []
    assert page.complaints() == []


def test_the_graph_works_without_a_mouse(drawn):
    page = drawn(CHAIN)
    page.run("document.querySelector('[data-node=\"2\"]').focus()")
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert named(page, ".node.chosen") == {"c"}
    page.run("document.querySelector('.edge').focus()")
    page.driver.switch_to.active_element.send_keys(Keys.SPACE)
    assert named(page, ".edge.chosen") == {"a → b"}
    unnamed = (
        "return [...document.querySelectorAll('.sartre-graph button, .node, .edge')].filter(e => !e.ariaLabel).length"
    )
    assert page.run(unnamed) == 0
    assert page.run("return [...document.querySelectorAll('input')].every(e => e.labels.length === 1)")


def test_search_finds_marks_and_chooses(drawn):
    page = drawn(dense())
    page.one(".find").send_keys("area")
    assert named(page, ".node.found") == {"mean area", "area error", "worst area"}
    assert [each.text for each in page.all(".matches button")] == ["mean area", "area error", "worst area"]
    page.all(".matches button")[1].click()
    assert named(page, ".node.chosen") == {"area error"}
    page.one(".find").send_keys(" of nothing")
    assert "No variable" in page.one(".matches").text


def test_labels_that_are_cut_have_their_whole_name_as_a_tooltip(drawn):
    long = ["a name of a great many words that nobody would want to read in a box of a graph, but somebody wrote",
            "x" * 200, "first\nsecond <b>line</b>", "短い名前", "short"]  # fmt: skip
    page = drawn(Dag.from_edges([*pairwise(long)], long))
    assert named(page, ".node") == set(long)
    fits = """return [...document.querySelectorAll('.node')].every((node) => {
      const [box, text] = ['rect', 'text'].map((tag) => node.querySelector(tag).getBoundingClientRect());
      return text.left >= box.left && text.right <= box.right && text.top >= box.top && text.bottom <= box.bottom;
    })"""
    assert page.run(fits)
    assert page.run(CUT_OFF) == 0
    assert (
        len(
            [
                text
                for text in page.run("return [...document.querySelectorAll('.node text')].map(t => t.textContent)")
                if text.endswith("…")
            ]
        )
        >= 2
    )


def test_marks_are_drawn_and_only_what_occurs_is_explained(drawn):
    plain = drawn(CHAIN)
    assert [each.text for each in plain.all(".legend li")] == ["cause → effect", "thicker: stronger"]
    changes = {
        0: {"direction": "undecided"},
        1: {"hidden": True, "hidden_p_value": 0.2},
        2: {"joint": True},
        3: {"frequency": 0.5},
        4: {"frequency": 1.0},
    }
    page = drawn(CHAIN, changes, frequencies=True)
    legend = page.one(".legend").text
    for word in ("do not decide the direction", "hidden common cause", "jointly", "fewer half-samples"):
        assert word in legend
    count = {mark: len(page.all(f".stage {mark}")) for mark in (".open", ".hidden-cause", ".joint", ".arrow")}
    assert count == {".open": 1, ".hidden-cause": 1, ".joint": 1, ".arrow": 4}
    opacity = "return Number(document.querySelector(arguments[0] + ' .ink').getAttribute('opacity'))"
    half, whole = (page.run(opacity, f"[data-edge='{k}']") for k in (3, 4))
    assert half < whole == 1
    page.run("document.querySelector('[data-edge=\"1\"]').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    assert "A hidden common cause would explain this as well or better (p = 0.2)" in page.one("#panel").text


def test_the_drawing_can_be_taken_along_as_svg_and_png(drawn, browser, tmp_path):
    page = drawn(dense())
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.one("button.svg\\:").click()
    page.one("button.png\\:").click()
    text = _arrived(tmp_path / "a-table.svg").read_text(encoding="utf-8")
    root = ET.fromstring(text)  # noqa: S314 - our own file
    tag = "{http://www.w3.org/2000/svg}"
    assert {title.text for title in root.iter(f"{tag}title")} >= set(dense().names)
    drawn_lines = [path for path in root.iter(f"{tag}path") if path.get("fill") == "none"]
    assert len(drawn_lines) == 159
    assert all(path.get("stroke").startswith("rgb") for path in drawn_lines)
    assert "class=" not in text
    assert "var(" not in text
    picture = Image.open(_arrived(tmp_path / "a-table.png"))
    assert picture.format == "PNG"
    assert picture.width >= 2 * int(root.get("width")) - 1
    assert len(picture.convert("RGB").getcolors(1 << 24)) > 50
    assert page.complaints() == []


def _arrived(path, seconds=20):
    until = time.monotonic() + seconds
    while not path.exists() or not path.stat().st_size:
        assert time.monotonic() < until, f"{path.name} was not downloaded"
        time.sleep(0.05)
    return path


def test_on_paper_the_whole_graph_is_seen_and_no_control(drawn, browser, screen):
    screen(700, 900)
    page = drawn(dense())
    page.one("button.in").click()
    assert page.run(CUT_OFF) > 0
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": dark})
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run(CUT_OFF) == 0
    assert not any(each.is_displayed() for each in page.all("button, input") if each.tag_name == "input")
    assert not page.one(".sartre-graph .bar").is_displayed()
    assert not page.one("#theme").is_displayed()
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_the_component_tells_what_a_user_does_and_can_be_told_the_same(drawn):
    page = drawn(CHAIN)
    told = page.run(
        """const told = [];
        const data = JSON.parse(document.getElementById('data').textContent);
        const element = document.createElement('div');
        document.getElementById('drawing').replaceWith(element);
        const view = SartreGraph(element, data, {
          onNode: (i) => told.push(['node', i]), onEdge: (k) => told.push(['edge', k]),
          onBackground: () => told.push(['background']),
        });
        const press = (what) => element.querySelector(what).dispatchEvent(new MouseEvent('click', {bubbles: true}));
        view.select({node: 1}); view.select({edge: 0}); view.hideBelow(0.5); view.fit();  // by a program: not told
        press('[data-node="2"]'); press('[data-edge="1"]'); press('.stage');
        view.update({...data, edges: [{source: 0, target: 1, change: 'came'}, {source: 1, target: 2, change: 'went'},
          {source: 3, target: 2, change: 'turned', strength: 0.5}]});
        const changed = ['came', 'went', 'turned'].map((c) => element.querySelectorAll(`.edge.${c}`).length);
        return [told, changed, view.svg().slice(0, 4)]"""
    )
    assert told == [[["node", 2], ["edge", 1], ["background"]], [1, 1, 1], "<svg"]
    assert {"new", "gone", "turned around"} <= {each.text for each in page.all(".legend li")}
    assert page.complaints() == []


def test_what_to_know_stands_before_the_graph(drawn):
    page = drawn(CHAIN, diagnostics=1, notes=["Column a looks linear.", "A caveat."])
    assert page.one("#diagnostics").text == "Column a looks linear."
    assert page.one("h1").text == "a table.csv"
    assert page.one("#command").text == "sartre discover 'a table.csv'"
    order = page.run("return [...document.querySelectorAll('main > section')].map(section => section.id)")
    assert order[:3] == ["know", "graph", "panel"]
    assert json.loads(page.run("return document.getElementById('data').textContent"))["names"] == CHAIN.names
