"""Imports point one way, and only the outermost layers print."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sartre

ROOT = Path(sartre.__file__).parent
LAYERS = [  # each may import from itself and from those before it
    {"table", "columns", "missing", "scores", "validation", "files", "steps", "precedence", "knowledge", "checkpoint"}
    | {"linear", "graph_text", "devices", "rows", "batches", "partitions", "parallel", "plan", "plan_text"},
    {"additive", "graph"},
    {"stein", "stein_torch", "hsic"},
    {"order", "prune"},
    {"discovery"},
    {"confidence", "scm", "diagnostics", "report"},
    {"metrics", "simulate", "datasets"},  # beside the method: they stand on graph, linear and validation only
    {"cli"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
MODULES = sorted(ROOT.rglob("*.py"))


def top_level_imports(path):
    """Modules of this package imported when the file is imported (not inside functions, not for types only)."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "sartre" and len(parts) > 1 and parts[1] in RANK:
                yield parts[1]


def layer_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", [p for p in MODULES if p.parent != ROOT or p.stem != "__init__"], ids=str)
def test_imports_point_one_way(path):
    here = layer_of(path)
    assert here in RANK, f"{here} has no layer yet: add it to LAYERS"
    for other in top_level_imports(path):
        assert RANK[other] <= RANK[here], f"{here} must not import {other}"


def test_additive_knows_no_graph_and_the_method_knows_no_benchmark_data():
    for path in MODULES:
        imported = set(top_level_imports(path))
        if layer_of(path) in {"additive", "stein", "stein_torch"}:
            assert "graph" not in imported, path
        if layer_of(path) in {"additive", "stein", "stein_torch", "order", "prune", "discovery"}:
            assert not imported & {"metrics", "simulate", "datasets"}, path
        if layer_of(path) in {"metrics", "simulate", "datasets"}:
            assert imported <= {"graph", "validation", "linear", "metrics", "simulate", "datasets"}, path


def test_kernels_import_nothing_of_ours_but_kernels_and_only_they_compile():
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        assert ("from numba import" in text) == (path.name == "_kernels.py"), path
        assert ("@compiled(" in text) == path.name.endswith("_kernels.py"), path
        if path.name.endswith("_kernels.py"):
            assert text.count("from sartre") == text.count("from sartre.additive._kernels import compiled"), path


def test_only_the_command_line_prints():
    for path in MODULES:
        calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        prints = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]
        assert not prints or layer_of(path) in {"cli", "report"}, path
