"""``--environment``, ``--interventions`` and ``--groups``: how rows differ, and what is written about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from sartre.cli._learning import Asked
    from sartre.data.row_design import RowDesign


def targets_of(asked: Asked) -> dict[str, Any] | None:
    """Return what was acted on, or None; refuse options about rows that lack another or that batches cannot obey."""
    from sartre.cli._reading import streams

    given = [f"--{name}" for name in ("environment", "interventions", "groups") if getattr(asked, name) is not None]
    if asked.interventions is not None and asked.environment is None:
        raise ValueError("--interventions needs --environment, the column that names the experiment of each row.")
    if given and streams(asked):
        raise ValueError(
            f"{' and '.join(given)} cannot be used with '{asked.source}', which is read in batches, because all rows "
            "are needed in memory; leave the option out, or learn from a sample of the rows."
        )
    return None if asked.interventions is None else read_targets(asked.interventions)


def read_targets(file: Path) -> dict[str, Any]:
    """Read which variables are acted on in each environment, as `CausalDiscovery.fit` takes it.

    The file is a table with the columns environment and target, and optionally kind: perfect, as is assumed without it,
    or soft.
    """
    from sartre.data.read_file import read_table
    from sartre.data.row_design import PERFECT, SOFT, as_text

    table = read_table(file)
    missing = [name for name in ("environment", "target") if name not in table]
    if missing:
        raise ValueError(
            f"'{file}' must have the columns environment and target. Got no {' and no '.join(missing)}; the columns "
            f"are {', '.join(map(str, table.columns))}."
        )
    table = table.assign(kind=table["kind"].fillna(PERFECT) if "kind" in table else PERFECT)
    table = table[["environment", "target", "kind"]]
    empty = table.isna().any(axis=1)
    if empty.any():
        raise ValueError(f"Line {int(empty.to_numpy().argmax()) + 2} of '{file}' lacks an environment or a target.")
    odd = [kind for kind in table["kind"] if kind not in (PERFECT, SOFT)]
    if odd:
        raise ValueError(f"The column kind of '{file}' must hold {PERFECT} or {SOFT}. Got {odd[0]!r}.")
    targets: dict[str, Any] = {}
    for name, rows in table.astype(object).map(as_text).groupby("environment", sort=False):
        kinds = rows["kind"].unique().tolist()
        if len(kinds) > 1:
            raise ValueError(
                f"'{file}' gives both kinds for the environment '{name}'. All targets of an environment must be "
                f"{PERFECT}, or all {SOFT}."
            )
        names = list(dict.fromkeys(rows["target"]))
        targets[str(name)] = (SOFT, names) if kinds == [SOFT] else names
    return targets


def rows_record(asked: Asked, design: RowDesign | None, targets: dict[str, Any] | None) -> dict[str, Any]:
    """Return what graph.json keeps about the rows: environments and their sizes, what was acted on, and groups."""
    from sartre.data.row_design import PERFECT, SOFT

    record: dict[str, Any] = {}
    if design is None:
        return record
    if asked.environment is not None:
        labels = design.labels.tolist()
        sizes = {name: labels.count(name) for name in sorted(set(labels))}
        record["environment"] = {"column": asked.environment, "reference": design.reference, "rows": sizes}
    if targets is not None:
        record["interventions"] = [
            {"environment": environment, "target": target, "kind": SOFT if isinstance(given, tuple) else PERFECT}
            for environment, given in targets.items()
            for target in (given[1] if isinstance(given, tuple) else given)
        ]
    if asked.groups is not None and design.groups is not None:
        record["groups"] = {"column": asked.groups, "number": int(design.groups.max()) + 1}
    return record
