"""Knowledge as the text of a TOML file, which `Knowledge.read` and ``--knowledge`` take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sartre.knowledge.template import quoted

if TYPE_CHECKING:
    from sartre.knowledge.knowledge import Knowledge


def knowledge_text(knowledge: Knowledge) -> str:
    """Return the text of a TOML file that `Knowledge.read` reads back.

    Examples
    --------
    >>> from sartre import Knowledge
    >>> print(knowledge_text(Knowledge(tiers=[["age"], ["dose", "weight"]], leaves=["weight"])))
    tiers = [
        ["age"],
        ["dose", "weight"],
    ]
    leaves = ["weight"]
    <BLANKLINE>
    """
    return "".join(f"{key} = {_listed(value)}\n" for key, value in knowledge.to_dict().items())


def _listed(value: list[Any]) -> str:
    if not any(isinstance(item, list) for item in value):
        return f"[{', '.join(map(quoted, value))}]"
    lines = "".join(f"    [{', '.join(map(quoted, item))}],\n" for item in value)
    return f"[\n{lines}]"
