"""Graphs as text: DOT and DAGitty, from names and ``(source, target)`` pairs and back.

Both write a cause's arrow to its effect, ``"cause" -> "effect"``, with every name in quotes: a name is any text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # a carriage return is read as a new line
_DEFAULTS = {"node", "edge", "graph"}  # in front of brackets they are no variables but settings for all


class Parsed(NamedTuple):
    """What a text says: the variables in order of appearance, and the edges."""

    names: list[str]
    edges: list[tuple[str, str]]


class _Language(NamedTuple):
    """DOT or DAGitty: its name, the words that open a directed graph, its strings, and how to read one."""

    name: str
    openings: tuple[str, ...]
    string: str
    unquote: Callable[[str], str]


_DOT = _Language("DOT", ("digraph",), r'"(?:\\.|[^"\\])*"', lambda text: re.sub(r'\\([\\"])', r"\1", text))
_DAGITTY = _Language("DAGitty", ("dag", "digraph"), r'"(?:\\"|[^"])*"', lambda text: text.replace('\\"', '"'))


def write_dot(names: Sequence[str], edges: Iterable[tuple[str, str]], direction: str) -> str:
    r"""Return a graph in Graphviz's language.

    Examples
    --------
    >>> print(write_dot(["rain", "wet"], [("rain", "wet")], "source -> target"), end="")
    digraph {
      // source -> target
      "rain";
      "wet";
      "rain" -> "wet";
    }
    """
    quoted = {name: '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in names}
    return _written("digraph {\n  // " + direction, quoted, edges)


def write_dagitty(names: Sequence[str], edges: Iterable[tuple[str, str]]) -> str:
    """Return a graph in the language of dagitty.net and of R's dagitty; it has no comments: the arrows speak.

    Examples
    --------
    >>> print(write_dagitty(["rain", "wet"], [("rain", "wet")]), end="")
    dag {
      "rain";
      "wet";
      "rain" -> "wet";
    }
    """
    for name in names:
        if _CONTROL.search(name) or name.endswith("\\"):
            raise ValueError(
                f"DAGitty has no way to write the name {name!r}: a name must have no control character and not end "
                "in a backslash. Rename it."
            )
    quoted = {name: '"' + name.replace('"', '\\"') + '"' for name in names}
    return _written("dag {", quoted, edges)


def check_xml(names: Iterable[str]) -> None:
    """Refuse names that XML has no way to write."""
    for name in names:
        if _NOT_XML.search(name):
            raise ValueError(f"GraphML has no way to write the name {name!r}: it holds a control character. Rename it.")


def read_dot(text: str) -> Parsed:
    """Read a directed graph in Graphviz's language; attributes are passed over.

    Examples
    --------
    >>> read_dot("digraph { rain -> wet -> slippery [color=red]; lone }").names
    ['rain', 'wet', 'slippery', 'lone']
    """
    return _parsed(text, _DOT)


def read_dagitty(text: str) -> Parsed:
    """Read a DAG in DAGitty's language; attributes (positions, exposure, outcome) are passed over.

    Examples
    --------
    >>> read_dagitty('dag { rain [pos="0,1"] wet <- rain }').edges
    [('rain', 'wet')]
    """
    return _parsed(text, _DAGITTY)


def _written(opening: str, quoted: dict[str, str], edges: Iterable[tuple[str, str]]) -> str:
    lines = [f"  {name};" for name in quoted.values()]
    lines += [f"  {quoted[source]} -> {quoted[target]};" for source, target in edges]
    return "\n".join([opening, *lines, "}", ""])


def _tokens(text: str, language: _Language) -> list[str]:
    pattern = re.compile(
        rf"(?P<skip>[\s;,]+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)|{language.string}|<->|->|<-|--|[\[\]{{}}=]|-?[\w.]+",
        re.DOTALL | re.MULTILINE,
    )
    found, place = [], 0
    while place < len(text):
        match = pattern.match(text, place)
        if match is None:
            raise ValueError(f"This is not {language.name}: '{text[place : place + 20]}' cannot be read.")
        if match["skip"] is None:
            found.append(match[0])
        place = match.end()
    return found


def _parsed(text: str, language: _Language) -> Parsed:
    tokens = _tokens(text, language)
    head = tokens[: tokens.index("{")] if "{" in tokens else tokens
    words = [word.lower() for word in head if word.lower() != "strict"]
    if not words or words[0] not in language.openings or "{" not in tokens or tokens[-1] != "}":
        raise ValueError(
            f"A {language.name} graph must be written as '{language.openings[0]} {{ ... }}'. Got '{text[:20]}'."
        )
    names: dict[str, None] = {}
    edges: list[tuple[str, str]] = []
    place, last = len(head) + 1, len(tokens) - 1
    while place < last:
        chain, place = _statement(tokens, place, language)
        names.update(dict.fromkeys(chain[::2]))
        for left, arrow, right in zip(chain[::2], chain[1::2], chain[2::2], strict=False):
            edges.append((left, right) if arrow == "->" else (right, left))
    return Parsed(list(names), edges)


def _statement(tokens: list[str], place: int, language: _Language) -> tuple[list[str], int]:
    """Return one statement as name, arrow, name, ..., and where the next begins; a setting has no names."""
    if tokens[place + 1] == "=":
        return [], place + 3
    chain = [_name(tokens[place], language)]
    place += 1
    while tokens[place] in ("->", "<-"):
        chain += [tokens[place], _name(tokens[place + 1], language)]
        place += 2
    if tokens[place] in ("--", "<->"):
        raise ValueError(f"Every edge of a Dag must be '->' or '<-'. Got '{chain[-1]} {tokens[place]}'.")
    while tokens[place] == "[":
        if chain[0] in _DEFAULTS and tokens[place - 1] == chain[0]:
            chain = []
        if "]" not in tokens[place:]:
            raise ValueError(f"A {language.name} graph must close its brackets. There is a '[' without ']'.")
        place = tokens.index("]", place) + 1
    return chain, place


def _name(token: str, language: _Language) -> str:
    if token[0] == '"':
        return language.unquote(token[1:-1])
    if not re.fullmatch(r"-?[\w.]+", token) or token.lower() == "subgraph":
        raise ValueError(f"A {language.name} graph must be made of names and arrows. Got '{token}' for a name.")
    return token
