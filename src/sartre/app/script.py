"""A Python script that repeats a run, and all that was asked of it, with the same seed."""

from __future__ import annotations

import inspect
from pprint import pformat
from typing import Any

from sartre import __version__
from sartre.cli._learning import DATASETS
from sartre.knowledge.knowledge import Knowledge

_WIDTH = 100


def code_of(step: Any) -> str:
    """Return the code that makes a step with the same settings; those at their defaults are left out.

    Examples
    --------
    >>> from sartre.prune import SARTRE
    >>> code_of(SARTRE(level=0.001))
    'SARTRE(level=0.001)'
    """
    defaults = {name: setting.default for name, setting in inspect.signature(type(step)).parameters.items()}
    given = {name: value for name, value in step.get_params(deep=False).items() if value is not defaults.get(name)}
    changed = {name: value for name, value in given.items() if value != defaults.get(name)}
    settings = (
        f"{name}={code_of(value) if hasattr(value, 'get_params') else repr(value)}" for name, value in changed.items()
    )
    return f"{type(step).__name__}({', '.join(settings)})"


def script(request: dict[str, Any], learnt: dict[str, Any], questions: list[dict[str, Any]]) -> str:
    """Return the text of the script.

    Parameters
    ----------
    request : dict
        What was run: ``table`` (the file), ``columns``, ``missing``, ``knowledge``, ``seed``, ``stability``.
    learnt : dict
        The result of the run: the code of both steps, and whether columns were standardised.
    questions : list of dict
        The effects that were asked for: ``cause``, ``outcome`` and ``at``.
    """
    lines = [
        f'"""Repeats a run of `sartre app` (sartre {__version__}). Give the table\'s file if it is elsewhere."""',
        "",
        *_imports(request, learnt),
        "",
        *_table(request, learnt),
        *_model(request, learnt),
        *[line for asked in questions for line in _answer(asked)],
    ]
    return "\n".join(lines) + "\n"


def _imports(request: dict[str, Any], learnt: dict[str, Any]) -> list[str]:
    included = request["table"] in DATASETS
    names = ["CausalDiscovery"]
    names += ["Knowledge"] if request["knowledge"] else []
    names += ["stability"] if request["stability"] else []
    return [
        *([] if included else ["import sys", ""]),
        f"from sartre import {', '.join(names)}",
        *(["from sartre.data.checks import as_table"] if learnt["standardized"] else []),
        f"from sartre.data{'sets import load_sachs' if included else '.read_file import read_table'}",
        f"from sartre.order import {learnt['order'].partition('(')[0]}",
        f"from sartre.prune import {learnt['prune'].partition('(')[0]}",
    ]


def _table(request: dict[str, Any], learnt: dict[str, Any]) -> list[str]:
    included = request["table"] in DATASETS
    source = "load_sachs().X" if included else "read_table(sys.argv[1] if len(sys.argv) > 1 else TABLE)"
    return [
        *([] if included else [f"TABLE = {request['table']!r}"]),
        f"COLUMNS = {_formatted(request['columns'])}",
        "",
        f"table = {source}[COLUMNS]",
        *_categories(request["categorical"]),
        *(["table = as_table(table, categories=True, missing=True).standardized()"] if learnt["standardized"] else []),
    ]


def _model(request: dict[str, Any], learnt: dict[str, Any]) -> list[str]:
    seed, said, n_pairs = request["seed"], request["knowledge"], request["stability"]
    return [
        *([f"knowledge = {_knowledge(Knowledge(**said))}"] if said else []),
        "model = CausalDiscovery(",
        f"    {learnt['order']},",
        f"    {learnt['prune']},",
        *(["    knowledge=knowledge,"] if said else []),
        f"    missing={request['missing']!r},",
        "    n_jobs=1,",
        f"    random_state={seed!r},",
        ")",
        "model.fit(table)",
        "print(model.edges_.to_string(index=False))",
        'model.graph_.write("graph.json")',
        'model.report("report.html")',
        *(
            [f"print(stability(model, table, n_pairs={n_pairs!r}, random_state={seed!r}).frequencies)"]
            if n_pairs
            else []
        ),
    ]


def _answer(asked: dict[str, Any]) -> list[str]:
    """Return the lines that answer a question again."""
    ends, seed = f"{asked['cause']!r}, {asked['outcome']!r}", f"random_state={asked['seed']!r}"
    if asked["at"] is not None:
        return [f"print(model.scm_.effect({ends}, at={asked['at']!r}, {seed}))"]
    return [
        f"print(model.scm_.effect({ends}, {seed}))",
        f"print(model.scm_.average_effect({ends}, {seed}))",
        f"print(model.scm_.average_effect({ends}, direct=True, {seed}))",
    ]


def _categories(names: list[str] | None) -> list[str]:
    """Return the lines that turn numbers into the names of levels, if some columns are codes."""
    if not names:
        return []
    return [
        f"for name in {_formatted(names)}:  # codes of categories",
        "    whole = lambda value: int(value) if isinstance(value, float) and value.is_integer() else value",
        '    levels = table[name].map(lambda value: str(whole(value)), na_action="ignore")',
        '    table[name] = levels.astype("category")',
    ]


def _knowledge(knowledge: Knowledge) -> str:
    given = ",\n".join(f"    {key}={_formatted(value)}" for key, value in knowledge.to_dict().items())
    return f"Knowledge(\n{given},\n)"


def _formatted(value: Any) -> str:
    return pformat(value, width=_WIDTH, compact=True)
