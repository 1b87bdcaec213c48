"""What the environments of a table do to its variables, beyond what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def replacing(effects: pd.DataFrame | None) -> list[tuple[str, str]]:
    """Return the environments that change the effect of another variable, with the variable whose mechanism it is.

    A mechanism that is another one in some environment is learnt from the other rows. A mere shift is not worth the
    loss of rows.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("drug", "b", 0.1, 1e-9, ""), ("drug", "b", float("nan"), 1e-9, "a"), ("site", "c", 0.2, 1e-9, "")]
    >>> replacing(pd.DataFrame(rows, columns=["environment", "variable", "strength", "p_value", "changes"]))
    [('drug', 'b')]
    """
    if effects is None or effects.empty:
        return []
    changed = effects[effects["changes"] != ""]
    return list(dict.fromkeys(changed[["environment", "variable"]].itertuples(index=False, name=None)))
