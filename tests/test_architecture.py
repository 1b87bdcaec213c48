"""Rules of the code: imports point one way, one name has one meaning, and only the command line prints."""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from pathlib import Path

import pytest

import sartre

ROOT = Path(sartre.__file__).parent
ROOMS = [  # each may import from itself and from those before it
    "settings",
    "compute",
    "data",
    "graph",
    "knowledge",
    "additive",
    "process",
    "stein",
    "steps",
    "order",
    "prune",
    "evidence",
    "scm",
    "learning",
    "discovery",
    "report",
    "plan",
    "saving",
    "metrics",
    "simulate",
    "datasets",
    "cli",
    "app",
]
BESIDE = {  # packages outside the method: they import only a few others, and the method does not import them
    "metrics": {"settings", "data", "graph", "knowledge", "additive", "metrics"},
    "simulate": {"settings", "compute", "data", "graph", "simulate"},
    "datasets": {"settings", "data", "graph", "simulate", "datasets"},
}
LATE = {  # imports inside functions that do not point back: they are slow and seldom needed
    ("discovery", "plan"),
    ("discovery", "report"),
    ("discovery", "saving"),
    ("graph", "report"),
    ("app", "app"),  # the address is printed before the library is loaded
}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def room_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def rooms_imported(nodes):
    """Yield the top-level packages and modules of `sartre` that some statements import."""
    for node in nodes:
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "sartre" else [f"sartre.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "sartre" and len(parts) > 1 and parts[1] in ROOMS:
                yield parts[1]


def test_every_room_is_in_the_list_and_the_root_has_few_modules():
    assert {room_of(path) for path in MODULES} == set(ROOMS)
    assert len(list(ROOT.glob("*.py"))) <= 9


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    here = room_of(path)
    for other in rooms_imported(parsed(path).body):
        assert ROOMS.index(other) <= ROOMS.index(here), f"{here} must not import {other}"
        if other in BESIDE and here not in BESIDE:
            assert here == "cli", f"{here} must not import {other}"
        assert other in BESIDE.get(here, ROOMS), f"{here} must not import {other}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_import_inside_a_function_hides_a_cycle(path):
    here = room_of(path)
    if here == "cli":
        return  # commands import what they need when they run, so that `sartre --help` is fast
    tree = parsed(path)
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    late = [node for node in ast.walk(tree) if id(node) not in guarded and node not in tree.body]
    for other in rooms_imported(late):
        assert (here, other) in LATE, f"{here} imports {other} inside a function"


def test_regression_knows_no_graph():
    for path in MODULES:
        if room_of(path) in {"additive", "process", "stein"}:
            assert not {"graph", "knowledge"} & set(rooms_imported(parsed(path).body)), path


def test_only_kernels_are_compiled_and_they_import_nothing_but_kernels():
    for path in MODULES:
        text, inside = path.read_text(encoding="utf-8"), path.parent.name == "kernels"
        assert ("from numba import" in text) == (path.name == "compilation.py"), path
        assert inside or "@compiled(" not in text, path
        if inside:
            assert text.count("from sartre") == text.count("from sartre.additive.kernels."), path


def test_no_class_is_defined_twice():
    homes = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(ROOT)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def constants(path):
    """Yield the names in capitals with the source text of their values."""
    for node in parsed(path).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = list(zip(target.elts, value.elts, strict=True))
            for name, given in pairs:
                if isinstance(name, ast.Name) and name.id.isupper():
                    yield name.id, ast.unparse(given)


def test_no_constant_has_two_values():
    values = defaultdict(dict)
    for path in MODULES:
        for name, value in constants(path):
            values[name][str(path.relative_to(ROOT))] = value
    twice = {name: homes for name, homes in values.items() if len(set(homes.values())) > 1}
    assert twice == {}


def test_no_code_depends_on_the_name_of_a_class():
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Compare):
                sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
                assert not any(side.endswith(("__name__", "__qualname__")) for side in sides), (path, node.lineno)


def test_names_say_what_things_are():
    """Reject variable names that tell the reader nothing."""
    vague = {"mine", "there", "room", "part", "singles"}
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            name = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None
            name = node.arg if isinstance(node, ast.arg) else name
            assert name not in vague, f"{path.relative_to(ROOT)}:{node.lineno} has a variable '{name}'"


def test_only_the_command_line_prints():
    for path in MODULES:
        calls = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)]
        prints = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == builtins.print.__name__]
        assert not prints or room_of(path) == "cli", path
