"""Print every text of the library that a user may see, by file and kind, so that all can be read in one go.

    python benchmarks/messages.py [FOLDER ...]

Errors are the texts of exceptions, warnings those of `warnings.warn`, and help texts the `help` of the options and the
docstrings of the commands. They are read from the source, and nothing is run: values are shown as {placeholders}. Name
folders of the package, such as `cli` or `prune`, to print only those.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1] / "src" / "sartre"
WARNING_FUNCTIONS = ("warn", "_warn")
COMMAND_OPTION = "option.Debug"  # every command has this option


def main() -> None:
    """Print the texts of all files, or of the files in the folders given as arguments."""
    folders = [ROOT / name for name in sys.argv[1:]] or [ROOT]
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        found = list(messages(ast.parse(path.read_text(encoding="utf-8"))))
        if found:
            print(f"\n## {path.relative_to(ROOT).as_posix()}")
        for kind in ("error", "warning", "help"):
            for line, text in sorted((line, text) for of_kind, line, text in found if of_kind == kind):
                print(f"{kind:8} {line:4}  {text}")


def messages(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    """Yield the kind, line and text of every message of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if _is_command(node):
                yield "help", node.lineno, " ".join((ast.get_docstring(node) or "").split())
            yield from _calls(node, _assigned_texts(node))
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield from _calls(node, {})


def _calls(scope: ast.AST, assigned: dict[str, ast.expr]) -> Iterator[tuple[str, int, str]]:
    """Yield the messages of the calls in a scope, without those of the functions inside it."""
    for node in _within(scope):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        if node.args and (name.endswith("Error") or name in WARNING_FUNCTIONS):
            text = _text(node.args[0], assigned)
            if " " in text:
                yield "warning" if name in WARNING_FUNCTIONS else "error", node.lineno, text
        for keyword in node.keywords:
            if keyword.arg == "help":
                yield "help", node.lineno, _text(keyword.value, assigned)


def _within(scope: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef):
            yield child
            yield from _within(child)


def _assigned_texts(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return the texts that a function assigns to names, since some of them become messages."""
    return {
        node.targets[0].id: node.value
        for node in _within(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_text(node.value)
    }


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_command(function: ast.FunctionDef) -> bool:
    arguments = function.args.args + function.args.kwonlyargs
    options = [ast.unparse(argument.annotation) for argument in arguments if argument.annotation is not None]
    return COMMAND_OPTION in options or any("callback" in ast.unparse(each) for each in function.decorator_list)


def _text(node: ast.expr, assigned: dict[str, ast.expr]) -> str:
    """Return a text, with values as {placeholders}."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(value, assigned) for value in node.values)
    if isinstance(node, ast.FormattedValue):
        return f"{{{ast.unparse(node.value)}}}"
    if isinstance(node, ast.Name) and node.id in assigned:
        return _text(assigned[node.id], assigned)
    return f"{{{ast.unparse(node)}}}"


if __name__ == "__main__":
    main()
