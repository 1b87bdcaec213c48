"""What the environments of a table do to its variables, beyond what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from sartre.data.row_design import RowDesign


SMALL_SHARE = 0.1  # share of the rows: an environment that has no more of them may be left out whatever it does


def replacing(effects: pd.DataFrame | None, design: RowDesign | None) -> list[tuple[str, str]]:
    """Return which environments replace the mechanism of which variable, so that it is learnt from the other rows.

    Those that change the effect of another variable on it do and, where few rows are lost, those that shift it. A shift
    by a large environment is not worth the loss: its indicator describes it.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from sartre.data.row_design import read_design
    >>> design = read_design(np.empty((60, 2)), ["b", "c"], np.repeat(["drug", "site", "usual"], 20))
    >>> rows = [("drug", "b", 0.1, 1e-9, ""), ("drug", "b", float("nan"), 1e-9, "a"), ("site", "c", 0.2, 1e-9, "")]
    >>> replacing(pd.DataFrame(rows, columns=["environment", "variable", "strength", "p_value", "changes"]), design)
    [('drug', 'b')]
    """
    if effects is None or design is None or effects.empty:
        return []
    small = {
        name
        for name, share in zip(design.environments, design.indicators.mean(axis=0), strict=True)
        if share <= SMALL_SHARE
    }
    replaced = effects[(effects["changes"] != "") | effects["environment"].isin(small)]
    return list(dict.fromkeys(replaced[["environment", "variable"]].itertuples(index=False, name=None)))
