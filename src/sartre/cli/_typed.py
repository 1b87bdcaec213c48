"""The command as it was typed, option by option."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def typed(context: typer.Context) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the words of the running command, each part with the name of its parameter."""
    words: list[tuple[str, tuple[str, ...]]] = [("command", ("sartre", str(context.info_name)))]
    for parameter in context.command.params:
        name, value = str(parameter.name), context.params.get(str(parameter.name))
        source = context.get_parameter_source(name)
        if value is None or value is False or source is None or source.name.startswith("DEFAULT"):
            continue
        if parameter.param_type_name == "argument":
            text = str(value)
            words.append((name, (f"./{text}" if text.startswith("-") and text != "-" else text,)))
        elif value is True:
            words.append((name, (parameter.opts[0],)))
        else:
            values = value if isinstance(value, (list, tuple)) else [value]
            words.append((name, tuple(word for each in values for word in (parameter.opts[0], str(each)))))
    return tuple(words)
