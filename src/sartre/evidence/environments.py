"""What the environments of a table do to its variables, beyond what is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from sartre.data.row_design import RowDesign
    from sartre.data.table import Table

PLAIN = 0.01  # share of a variable's variance, above which an effect of an environment is not a misfit


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


def with_side_effects(effects: pd.DataFrame | None, table: Table) -> set[str]:
    """Return the environments with one known target that plainly act on another variable, too.

    Weak effects do not count: with many rows the least misfit of a mechanism looks like one.

    Examples
    --------
    >>> import pandas as pd
    >>> from sartre.data.read_design import with_design
    >>> frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
    >>> words = np.repeat(["usual", "drug", "diet"], 20), {"drug": ["b"], "diet": ["a"]}
    >>> rows = [("drug", "c", 0.2, 1e-9, ""), ("diet", "c", 0.001, 1e-5, "")]
    >>> effects = pd.DataFrame(rows, columns=["environment", "variable", "strength", "p_value", "changes"])
    >>> with_side_effects(effects, with_design(frame, *words))
    {'drug'}
    """
    if effects is None or table.design is None:
        return set()
    targets = {name: table.names[j] for name, j in table.design.single_targets.items()}
    plain = effects[(effects["strength"] >= PLAIN) & effects["environment"].isin(targets)]
    pairs = plain[["environment", "variable"]].itertuples(index=False, name=None)
    return {environment for environment, variable in pairs if variable != targets[environment]}


def environments_table(
    design: RowDesign | None, names: Sequence[str], effects: pd.DataFrame | None
) -> pd.DataFrame | None:
    """Return one row per environment, the reference first: its name, its number of rows, and what is known of it.

    The columns ``set`` and ``shifted`` have the variables that were acted on, as tuples of names. In the design of a
    fitted model, environments are also taken to set what they were found to act on (`effects`), which does not count.
    The result is None without environments.

    Examples
    --------
    >>> import numpy as np
    >>> from sartre.data.row_design import read_design
    >>> where = np.repeat(["usual", "drug", "diet"], [30, 20, 10])
    >>> design = read_design(np.empty((60, 2)), ["b", "c"], where, {"drug": ["b"], "diet": ("soft", ["c"])})
    >>> environments_table(design, ["b", "c"], None)
      environment  rows   set shifted
    0       usual    30    ()      ()
    1        diet    10    ()    (c,)
    2        drug    20  (b,)      ()
    """
    if design is None or not design.environments:
        return None
    found = set() if effects is None else set(effects[["environment", "variable"]].itertuples(index=False, name=None))
    labels, rows = design.labels, []
    for label in (design.reference, *design.environments):
        own = labels == label
        held = [names[j] for j in np.flatnonzero(design.acted[own].all(axis=0)).tolist()]
        moved = design.shifted[[name == label for name in design.environments]].any(axis=0)
        shifted = tuple(names[j] for j in np.flatnonzero(moved).tolist())
        rows.append((label, int(own.sum()), tuple(name for name in held if (label, name) not in found), shifted))
    return pd.DataFrame(rows, columns=["environment", "rows", "set", "shifted"])
