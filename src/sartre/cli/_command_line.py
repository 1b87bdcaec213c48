"""The command as it was typed, which a report repeats."""

from __future__ import annotations

import shlex
from contextvars import ContextVar
from typing import Any

from typer.core import TyperGroup

_TYPED: ContextVar[str | None] = ContextVar("typed", default=None)


class RememberingGroup(TyperGroup):
    """The group of all commands, which remembers the arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, and remember them as they are."""
        _TYPED.set(shlex.join(["sartre", *args]))
        return super().parse_args(ctx, args)


def command_typed() -> str | None:
    """Return the command that is running, quoted for a shell; None outside the command line."""
    return _TYPED.get()
