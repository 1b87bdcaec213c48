"""Graphs as text: every format writes names and ``(source, target)`` pairs, and reads them back.

Arrows point from cause to effect. A new format needs a `GraphFormat` of two functions and a line in `FORMATS`.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sartre.compute.files import reading
from sartre.data.checks import check_unique
from sartre.data.spreadsheet import escaped, unescaped

Graph = TypeVar("Graph")
CONVENTION = "source -> target"
WITHOUT_DIRECTION = ("undecided", "unchecked")  # values of ``direction`` in the edges of a run
_NOT_DAGITTY = re.compile(r"[\x00-\x1f\x7f]")
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML reads \r as a new line
_DEFAULTS = {"node", "edge", "graph"}  # before brackets these are not variables but settings for all variables


class Parsed(NamedTuple):
    """The content of a text: the variables in order of appearance, the edges, and those of them without a direction.

    hidden: pairs of variables that a hidden common cause may act on.
    """

    names: list[str]
    edges: list[tuple[str, str]]
    lines: Sequence[tuple[str, str]] = ()
    hidden: Sequence[tuple[str, str]] = ()


class GraphFormat(NamedTuple):
    """How graphs are written, ``write(names, edges)``, and read, ``read(text)``.

    lists_all: whether the text names variables without an edge. write_lines: ``write_lines(names, arrows, lines)``, if
    the format knows edges without a direction. write_hidden: ``write_hidden(names, arrows, lines, hidden)``, if it also
    knows hidden common causes.
    """

    write: Callable[[Sequence[str], Sequence[tuple[str, str]]], str]
    read: Callable[[str], Parsed]
    lists_all: bool = True
    write_lines: Callable[[Sequence[str], Sequence[tuple[str, str]], Sequence[tuple[str, str]]], str] | None = None
    write_hidden: Callable[..., str] | None = None


class _Language(NamedTuple):
    """DOT or DAGitty: its name, the words that open a directed graph, its strings, and how to read one."""

    name: str
    openings: tuple[str, ...]
    string: str
    unquote: Callable[[str], str]


_DOT = _Language("DOT", ("digraph",), r'"(?:\\.|[^"\\])*"', lambda text: re.sub(r'\\([\\"])', r"\1", text))
_DAGITTY = _Language("DAGitty", ("dag", "digraph"), r'"(?:\\"|[^"])*"', lambda text: text.replace('\\"', '"'))


def write_dot(names: Sequence[str], edges: Iterable[tuple[str, str]], lines: Iterable[tuple[str, str]] = ()) -> str:
    r"""Return a graph in Graphviz's DOT language; lines are edges without arrowheads.

    Examples
    --------
    >>> print(write_dot(["rain", "wet"], [("rain", "wet")]), end="")
    digraph {
      // source -> target
      "rain";
      "wet";
      "rain" -> "wet";
    }
    """
    quoted = {name: '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in names}
    undirected = [f"  {quoted[a]} -> {quoted[b]} [dir=none];" for a, b in lines]
    return _written("digraph {\n  // " + CONVENTION, quoted, edges, undirected)


def write_dagitty(
    names: Sequence[str],
    edges: Iterable[tuple[str, str]],
    lines: Iterable[tuple[str, str]] = (),
    hidden: Iterable[tuple[str, str]] = (),
) -> str:
    """Return a graph in the language of dagitty.net and R's dagitty, which has no comments to state the convention.

    Pairs of variables that a hidden common cause may act on are written as ``<->``.

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
        if _NOT_DAGITTY.search(name) or name.endswith("\\"):
            raise ValueError(
                f"DAGitty cannot write the name {name!r}: a name must not contain control characters or end in a "
                "backslash. Rename it."
            )
    quoted = {name: '"' + name.replace('"', '\\"') + '"' for name in names}
    undirected = [f"  {quoted[a]} -- {quoted[b]};" for a, b in lines]
    marked = [f"  {quoted[a]} <-> {quoted[b]};" for a, b in hidden]
    return _written("pdag {" if undirected else "dag {", quoted, edges, [*undirected, *marked])


def write_gml(names: Sequence[str], edges: Iterable[tuple[str, str]]) -> str:
    """Return a graph as GML, for Gephi, Cytoscape, igraph and DoWhy."""
    nx, graph = directed(names, edges)
    return "\n".join([*nx.generate_gml(graph), ""])


def read_gml(text: str) -> Parsed:
    """Read GML; the labels of the nodes are the names."""
    import networkx as nx  # noqa: PLC0415 - slow to import, and most runs do not need it

    try:
        return of_networkx(nx.parse_gml(text))
    except RecursionError:
        raise ValueError("A GML graph must have few brackets within brackets. Got too many; write it again.") from None


def write_graphml(names: Sequence[str], edges: Iterable[tuple[str, str]]) -> str:
    """Return a graph as GraphML; the names are the ids of the nodes, and their attribute ``name``, as igraph has it."""
    for name in names:
        if _NOT_XML.search(name):
            raise ValueError(f"GraphML cannot write the name {name!r}: it contains a control character. Rename it.")
    nx, graph = directed(names, edges)
    for name in names:
        graph.nodes[name]["name"] = name
    return "\n".join([*nx.generate_graphml(graph), ""])


def read_graphml(text: str) -> Parsed:
    """Read GraphML; names are in the node attribute ``name``, or are the ids if no node has one."""
    import networkx as nx  # noqa: PLC0415 - slow to import, and most runs do not need it

    graph = nx.parse_graphml(text)
    names = dict(graph.nodes(data="name", default=""))  # a tag without text is the empty name
    if _convention(graph.graph) == CONVENTION or any(names.values()):
        check_unique(list(names.values()))
        graph = nx.relabel_nodes(graph, names)
    return of_networkx(graph)


def directed(names: Iterable[str], edges: Iterable[tuple[str, str]]) -> tuple[Any, Any]:
    """Return networkx and a graph with these names and edges."""
    import networkx as nx  # noqa: PLC0415 - slow to import, and most runs do not need it

    graph = nx.DiGraph(convention=CONVENTION)
    graph.add_nodes_from(names)
    graph.add_edges_from(edges)
    return nx, graph


def of_networkx(graph: Any) -> Parsed:
    """Return the names and edges of a networkx graph, which must be directed."""
    if not graph.is_directed():
        raise TypeError("A Dag needs a directed networkx graph (DiGraph). Got an undirected one.")
    return Parsed([str(node) for node in graph.nodes()], [(str(a), str(b)) for a, b in graph.edges()])


def to_plain(
    names: Sequence[str], edges: Iterable[tuple[str, str]], lines: Iterable[tuple[str, str]] = ()
) -> dict[str, Any]:
    """Return plain lists, ready for JSON; the convention is spelled out in the result."""
    listed = [{"source": source, "target": target} for source, target in edges]
    listed += [{"source": source, "target": target, "direction": WITHOUT_DIRECTION[0]} for source, target in lines]
    return {"convention": CONVENTION, "nodes": list(names), "edges": listed}


def from_plain(data: Any) -> Parsed:
    """Read the result of `to_plain`; other keys are ignored."""
    if _convention(data) != CONVENTION:
        raise ValueError(f"A stored graph must state the convention '{CONVENTION}'. Got {_convention(data)!r}.")
    for key in ("nodes", "edges"):
        if key not in data:
            raise ValueError(f"A stored graph must have the key '{key}'. Got only {', '.join(data)}.")
    nodes, edges = data["nodes"], data["edges"]
    for key, value in (("nodes", nodes), ("edges", edges)):
        if not isinstance(value, list) or None in value:
            got = "null in the list" if isinstance(value, list) else f"{value!r:.40}"
            raise ValueError(f"A stored graph must have a list of '{key}'. Got {got}. Write the graph again.")
    for edge in edges:
        if not (isinstance(edge, dict) and {"source", "target"} <= {*edge}):
            raise ValueError(f"A stored graph must have 'edges' with a source and a target each. Got {edge!r:.40}.")
    lines = [(edge["source"], edge["target"]) for edge in edges if edge.get("direction") in WITHOUT_DIRECTION]
    marks = [mark for mark in data.get("hidden_causes") or [] if isinstance(mark, dict) and mark.get("mark")]
    hidden = [(mark["first"], mark["second"]) for mark in marks]
    return Parsed(nodes, [(edge["source"], edge["target"]) for edge in edges], lines, hidden)


def read_json(text: str) -> Parsed:
    """Read JSON with the keys of `to_plain`."""
    try:
        return from_plain(json.loads(text))
    except RecursionError:
        raise ValueError(
            "A stored graph must have few brackets within brackets. Got too many; write it again."
        ) from None


def write_json(names: Sequence[str], edges: Iterable[tuple[str, str]], lines: Iterable[tuple[str, str]] = ()) -> str:
    """Return a graph as JSON with the keys of `to_plain`."""
    return json.dumps(to_plain(names, edges, lines), indent=2, ensure_ascii=False) + "\n"


def _convention(data: Any) -> Any:
    """Return the direction convention of a stored graph; older files call the key `direction`."""
    return data.get("convention", data.get("direction"))


def edge_list(separator: str) -> GraphFormat:
    r"""Return the format of a table of edges; no name is converted, so a variable may be called NA, 01 or, escaped, =1.

    Examples
    --------
    >>> edge_list(",").read("source,target,strength\nrain,wet,0.5\n").edges
    [('rain', 'wet')]
    """

    def write(_: Sequence[str], edges: Iterable[tuple[str, str]]) -> str:
        text = io.StringIO()
        rows = [("source", "target"), *((escaped(source), escaped(target)) for source, target in edges)]
        quoting = csv.QUOTE_ALL if any("\r" in name for edge in rows for name in edge) else csv.QUOTE_MINIMAL
        csv.writer(text, delimiter=separator, lineterminator="\n", quoting=quoting).writerows(rows)
        return text.getvalue()

    def read(text: str) -> Parsed:
        if not text.strip():
            raise ValueError("it is empty; a table of edges is needed.")
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
        missing = [column for column in ("source", "target") if column not in (reader.fieldnames or [])]
        if missing:
            raise ValueError(f"A table of edges must have the columns source and target. Missing: {missing}.")
        rows = list(reader)
        if any(None in row for row in rows):
            raise ValueError("A table of edges must have as many values in every line as names in the first line.")
        edges = [(unescaped(row["source"] or ""), unescaped(row["target"] or "")) for row in rows]
        lines = [edge for edge, row in zip(edges, rows, strict=True) if row.get("direction") in WITHOUT_DIRECTION]
        if any("" in edge for edge in edges):
            raise ValueError("it has an edge without a source or a target; name both.")
        return Parsed(list(dict.fromkeys(name for edge in edges for name in edge)), edges, lines)

    return GraphFormat(write, read, lists_all=False)


def read_dot(text: str) -> Parsed:
    """Read a directed graph in Graphviz's DOT language; attributes are ignored.

    Examples
    --------
    >>> read_dot("digraph { rain -> wet -> slippery [color=red]; lone }").names
    ['rain', 'wet', 'slippery', 'lone']
    """
    return _parsed(text, _DOT)


def read_dagitty(text: str) -> Parsed:
    """Read a DAG in DAGitty's language; attributes (positions, exposure, outcome) are ignored.

    Examples
    --------
    >>> read_dagitty('dag { rain [pos="0,1"] wet <- rain }').edges
    [('rain', 'wet')]
    """
    return _parsed(text, _DAGITTY)


def _written(
    opening: str, quoted: dict[str, str], edges: Iterable[tuple[str, str]], undirected: Sequence[str] = ()
) -> str:
    lines = [f"  {name};" for name in quoted.values()]
    lines += [f"  {quoted[source]} -> {quoted[target]};" for source, target in edges]
    return "\n".join([opening, *lines, *undirected, "}", ""])


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
    hidden: list[tuple[str, str]] = []
    place, last = len(head) + 1, len(tokens) - 1
    while place < last:
        chain, place = _statement(tokens, place, language)
        names.update(dict.fromkeys(chain[::2]))
        for near, arrow, far in zip(chain[::2], chain[1::2], chain[2::2], strict=False):
            if arrow == "<->":
                hidden.append((near, far))
            else:
                edges.append((near, far) if arrow == "->" else (far, near))
    return Parsed(list(names), edges, hidden=hidden)


def _statement(tokens: list[str], place: int, language: _Language) -> tuple[list[str], int]:
    """Return one statement as name, arrow, name, ..., and the start of the next; a setting has no names."""
    if tokens[place + 1] == "=":
        return [], place + 3
    chain = [_name(tokens[place], language)]
    place += 1
    arrows = ("->", "<-", "<->") if language is _DAGITTY else ("->", "<-")  # the last one: a hidden common cause
    while tokens[place] in arrows:
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


FORMATS = {
    ".json": GraphFormat(write_json, read_json, write_lines=write_json),
    ".csv": edge_list(","),
    ".tsv": edge_list("\t"),
    ".dot": GraphFormat(write_dot, read_dot, write_lines=write_dot),
    ".gv": GraphFormat(write_dot, read_dot, write_lines=write_dot),
    ".gml": GraphFormat(write_gml, read_gml),
    ".graphml": GraphFormat(write_graphml, read_graphml),
    ".dagitty": GraphFormat(write_dagitty, read_dagitty, write_lines=write_dagitty, write_hidden=write_dagitty),
}


def format_of(path: Path) -> GraphFormat:
    """Return the format of a file, by its extension."""
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"The name of a graph file must end in one of {', '.join(FORMATS)}. Got '{path}' instead.")
    return FORMATS[path.suffix.lower()]


def read_file(path: str | Path, fmt: GraphFormat | None, build: Callable[[Parsed], Graph]) -> Graph:
    """Return what `build` makes of a file in a format, by default that of its extension; every error names the file."""
    path = Path(path)
    fmt = format_of(path) if fmt is None else fmt
    try:
        with reading(path), path.open(encoding="utf-8-sig", newline="") as file:  # a name may contain \r
            return build(fmt.read(file.read()))
    except OSError:
        raise
    except (ValueError, TypeError) as error:  # invalid JSON or UTF-8 is a ValueError
        raise ValueError(f"'{path}': {error}") from None
    except Exception:  # noqa: BLE001 - a parser may raise anything on a malformed file
        raise ValueError(f"'{path}' does not hold a graph in the {path.suffix} format; write it again.") from None
