"""The methods by name: ``sartre methods`` lists them, `build_model` combines two of them."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sartre.cli import _options as option  # noqa: TC001 - typer reads the types
from sartre.cli._console import guarded, out, progress

if TYPE_CHECKING:
    from types import ModuleType

    from sartre import CausalDiscovery
    from sartre.cli._learning import Asked

_REFERENCES = re.compile(r"\nReferences\n-+\n(.+?)(?=\n\n|\Z)", re.DOTALL)


def methods(*, as_json: option.Json = False, debug: option.Debug = False) -> None:
    """List the methods, with what each does and where it comes from.

    The names are the values of --order and --prune; upper and lower case do not matter.

    Example: sartre methods
    """
    with guarded(debug=debug):
        with progress("Loading the methods"):
            listed = listed_methods()
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
    """Return the unfitted model with the requested methods, settings and knowledge."""
    import sartre.order
    import sartre.prune
    from sartre import CausalDiscovery, Knowledge

    if asked.jobs == 0:
        raise ValueError("--jobs must be a number of threads, or -1 for one per core. Got 0.")
    if isinstance(asked.order, str):
        order = _step(sartre.order, asked.order, "order")
    else:
        order = sartre.order.FixedOrder(asked.order)
    prune = _step(sartre.prune, asked.prune, "prune")
    for name, value in (("penalty", asked.penalty), ("level", asked.level)):
        if value is not None and name not in prune.get_params(deep=False):
            raise ValueError(
                f"--{name} is a setting of SARTRE, which {type(prune).__name__} does not have. Use --set "
                "prune.NAME=VALUE for its own settings."
            )
        if value is not None:
            prune.set_params(**{name: value})
    if asked.effort is not None and "effort" in order.get_params(deep=False):
        order.set_params(effort=asked.effort)  # --set has the last word
    for setting in asked.settings or []:
        _change({"order": order, "prune": prune}, setting)
    if asked.effort is not None:
        _look_for_joint_effects(order, prune, asked.effort)
    knowledge = None if asked.knowledge is None else Knowledge.read(asked.knowledge)
    return CausalDiscovery(
        order, prune, knowledge=knowledge, missing=asked.missing, n_jobs=asked.jobs, random_state=asked.seed
    )


def _look_for_joint_effects(order: Any, prune: Any, effort: str) -> None:
    """Set how long the pruner looks for joint effects, unless --set said so; refuse an effort that nothing heeds."""
    settings = prune.get_params(deep=False)
    if "joint" in settings and settings.get("penalty") == "auto":
        if settings["joint"] is None:
            prune.set_params(joint={"fast": False, "thorough": True}.get(effort, "auto"))
    elif "effort" not in order.get_params(deep=False):
        raise ValueError(
            f"--effort is a setting of OrderSearch and SARTRE, which {type(order).__name__} and {type(prune).__name__} "
            "do not have. Use --set order.NAME=VALUE and --set prune.NAME=VALUE for their own settings."
        )


def listed_methods() -> list[dict[str, Any]]:
    import sartre.order
    import sartre.prune
    from sartre import CausalDiscovery

    defaults = {type(CausalDiscovery().orderer()), type(CausalDiscovery().pruner())}
    return [
        {"step": step, "name": name, "default": method in defaults, **_said_of(method)}
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
    """Return the steps of a module that need no arguments, by name."""
    public = {name: getattr(module, name) for name in module.__all__}
    steps = {name: item for name, item in public.items() if inspect.isclass(item) and hasattr(item, "fit")}
    return {name: steps[name] for name in sorted(steps, key=str.lower) if not _needs_arguments(steps[name])}


def _needs_arguments(step: type) -> bool:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    settings = inspect.signature(step).parameters.values()
    return any(setting.default is setting.empty and setting.kind not in kinds for setting in settings)


def _step(module: ModuleType, name: str, step: str) -> Any:
    """Return an estimator of this package by its name, in any case, or any other as ``package.module:Class``."""
    from sartre.settings import suggestion

    if ":" in name:
        return _foreign(name, step)()
    methods = _methods_of(module)
    for candidate, method in methods.items():
        if candidate.lower() == name.lower():
            return method()
    raise ValueError(
        f"There is no method '{name}' for --{step}; choose one of {', '.join(methods)}, or your own as "
        f"package.module:Class.{suggestion(name, methods)}"
    )


def _foreign(place: str, step: str) -> type:
    """Return a class of another package, if it is an estimator whose settings all have defaults."""
    found = imported(place, step)
    if not (inspect.isclass(found) and hasattr(found, "fit") and hasattr(found, "get_params")):
        raise ValueError(f"--{step} must be a scikit-learn estimator with a 'fit' method. {place} is not one.")
    if _needs_arguments(found):
        raise ValueError(f"--{step} must be a class whose settings all have defaults. {place} has some without.")
    return found


def imported(place: str, option_name: str) -> Any:
    """Return the object ``package.module:name`` of a module that is installed or in the current folder."""
    module, _, name = place.partition(":")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        return getattr(importlib.import_module(module), name)
    except Exception as error:  # noqa: BLE001 - another module may raise anything
        raise ValueError(
            f"--{option_name} {place} cannot be imported: {error}. Write package.module:name, where the module is "
            "installed or in the current folder."
        ) from None


def _change(steps: dict[str, Any], setting: str) -> None:
    """Change a setting of a step, such as ``prune.alpha=0.01``; anything but a number, true, false or null is text."""
    from sartre.settings import suggestion

    place, equals, value = setting.partition("=")
    step, _, name = place.strip().partition(".")
    if not equals or step not in steps or not name:
        raise ValueError(f"--set must be order.NAME=VALUE or prune.NAME=VALUE. Got '{setting}' instead.")
    known = steps[step].get_params(deep=False)
    if name not in known:
        offered = ", ".join(known) or "none"
        raise ValueError(
            f"{type(steps[step]).__name__} has no setting '{name}'; its settings are {offered}."
            f"{suggestion(name, known)}"
        )
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = value
    steps[step].set_params(**{name: parsed})
