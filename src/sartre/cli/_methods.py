"""The methods by name: ``sartre methods`` lists them, `build_model` puts two of them together."""

from __future__ import annotations

import inspect
import json
import re
from typing import TYPE_CHECKING, Any

import typer

from sartre.cli import _options as option  # noqa: TC001 - typer reads the types
from sartre.cli._console import guarded, out, progress

if TYPE_CHECKING:
    from types import ModuleType

    from sartre import CausalDiscovery
    from sartre.cli._learning import Asked

_DEFAULTS = ("OrderSearch", "SARTRE")
_REFERENCES = re.compile(r"\nReferences\n-+\n(.+?)(?=\n\n|\Z)", re.DOTALL)


def methods(*, as_json: option.Json = False, debug: option.Debug = False) -> None:
    """List the methods, each with what it does and where it comes from.

    The names are those of --order and --prune, in any case.

    Example: sartre methods
    """
    with guarded(debug=debug):
        with progress("Loading the methods"):
            listed = _listed()
        if as_json:
            typer.echo(json.dumps(listed, indent=2))
            return
        for step, title in (("order", "Orders: --order NAME"), ("prune", "Pruning: --prune NAME")):
            out.print(title)
            for method in listed:
                if method["step"] == step:
                    name = f"{method['name']} (the default)" if method["default"] else method["name"]
                    out.print(f"\n  {name}", soft_wrap=True)
                    for text in filter(None, (method["summary"], method["reference"])):
                        out.print(f"    {text}", soft_wrap=True)
            out.print()


def build_model(asked: Asked) -> CausalDiscovery:
    """Return the unfitted model of the methods, settings and knowledge that were asked for."""
    import sartre.order  # noqa: PLC0415
    import sartre.prune  # noqa: PLC0415
    from sartre import CausalDiscovery, Knowledge  # noqa: PLC0415

    if asked.jobs == 0:
        raise ValueError("--jobs takes a number of threads, or -1 for one a core. Got 0.")
    if isinstance(asked.order, str):
        order = _found(sartre.order, asked.order, "order")()
    else:
        order = sartre.order.FixedOrder(asked.order)
    prune = _found(sartre.prune, asked.prune, "prune")()
    if isinstance(prune, sartre.prune.SARTRE):
        prune.set_params(penalty="auto" if asked.penalty is None else asked.penalty, level=asked.level)
    elif asked.penalty is not None or asked.level is not None:
        raise ValueError(
            f"--level and --penalty are settings of SARTRE; for {type(prune).__name__}, use --set prune.NAME=VALUE."
        )
    for setting in asked.settings:
        _change({"order": order, "prune": prune}, setting)
    knowledge = None if asked.knowledge is None else Knowledge.read(asked.knowledge)
    return CausalDiscovery(
        order, prune, knowledge=knowledge, missing=asked.missing, n_jobs=asked.jobs, random_state=asked.seed
    )


def _listed() -> list[dict[str, Any]]:
    import sartre.order  # noqa: PLC0415
    import sartre.prune  # noqa: PLC0415

    return [
        {"step": step, "name": name, "default": name in _DEFAULTS, **_said_of(method)}
        for step, module in (("order", sartre.order), ("prune", sartre.prune))
        for name, method in _methods_of(module).items()
    ]


def _said_of(method: type) -> dict[str, str]:
    """Return the first line of a docstring, and its references."""
    text = inspect.getdoc(method) or ""
    references = _REFERENCES.search(text)
    return {
        "summary": text.partition("\n\n")[0].replace("\n", " "),
        "reference": " ".join(references[1].split()) if references else "",
    }


def _methods_of(module: ModuleType) -> dict[str, type]:
    """Return the steps that a module offers and that need no argument, by name."""
    public = {name: getattr(module, name) for name in module.__all__}
    steps = {name: item for name, item in public.items() if inspect.isclass(item) and hasattr(item, "fit")}
    return {name: steps[name] for name in sorted(steps, key=str.lower) if name != "FixedOrder"}


def _found(module: ModuleType, name: str, step: str) -> type:
    methods = _methods_of(module)
    for candidate, method in methods.items():
        if candidate.lower() == name.lower():
            return method
    raise ValueError(f"There is no method '{name}' for --{step}; there are {', '.join(methods)}.")


def _change(steps: dict[str, Any], setting: str) -> None:
    """Change a setting of a step, such as ``prune.alpha=0.01``; what is no number, true, false or null is text."""
    place, equals, value = setting.partition("=")
    step, _, name = place.strip().partition(".")
    if not equals or step not in steps or not name:
        raise ValueError(f"--set takes order.NAME=VALUE or prune.NAME=VALUE. Got '{setting}'.")
    known = steps[step].get_params(deep=False)
    if name not in known:
        offered = ", ".join(known) or "none"
        raise ValueError(f"{type(steps[step]).__name__} has no setting '{name}'; its settings are {offered}.")
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = value
    steps[step].set_params(**{name: parsed})
