"""A misspelt option is answered by the one that was probably meant."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from typer.core import TyperCommand


class SpellingCommand(TyperCommand):
    """A command that names the option most like one that it does not have."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments of a command."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            name: Any = getattr(error, "option_name", None)
            if isinstance(name, str) and hasattr(error, "possibilities"):
                options = [option for parameter in self.params for option in parameter.opts if option.startswith("-")]
                near = get_close_matches(name, options, n=1, cutoff=0.7)
                wrong: Any = error
                wrong.message = f"No such option: {name}." + (f" Did you mean '{near[0]}'?" if near else "")
                wrong.possibilities = None
            raise
