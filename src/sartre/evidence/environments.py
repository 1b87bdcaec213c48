"""What the environments of a table do to its variables, beyond what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def replacing(effects: pd.DataFrame | None) -> list[tuple[str, str]]:
    """Return which environments replace the mechanism of which variable, so that it is learnt from the other rows.

    Those that change the effect of another variable on it do. A shift is not worth the loss of rows: the environment's
    indicator describes it.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("drug", "b", 0.1, 1e-9, ""), ("drug", "b", float("nan"), 1e-9, "a"), ("site", "c", 0.2, 1e-9, "")]
    >>> replacing(pd.DataFrame(rows, columns=["environment", "variable", "strength", "p_value", "changes"]))
    [('drug', 'b')]
    """
    if effects is None:
        return []
    replaced = effects[effects["changes"] != ""]
    return list(dict.fromkeys(replaced[["environment", "variable"]].itertuples(index=False, name=None)))
