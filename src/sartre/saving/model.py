"""Save a fitted model to a file, and load it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sartre.compute.files import check_destination, write_texts_atomically
from sartre.discovery import CausalDiscovery
from sartre.evidence.diagnostics import Diagnostics
from sartre.graph import Dag, Pdag
from sartre.knowledge.knowledge import Knowledge, constraints
from sartre.prune.mechanisms import fit_mechanisms, parent_columns
from sartre.saving.archive import ArrayStore, packed, unpacked
from sartre.saving.frames import frame_of_plain, frame_to_plain
from sartre.saving.mechanisms import can_be_saved, mechanism_of_plain, mechanism_to_plain
from sartre.saving.rows import rows_of_plain, rows_to_plain
from sartre.saving.steps import step_of_plain, step_to_plain
from sartre.scm import StructuralModel
from sartre.scm.learnt import learnt_model, open_directions
from sartre.scm.summary import KEPT_QUANTILES, ColumnSummary, Summary, summary_of
from sartre.settings import check_bool, listed
from sartre.steps import findings_of

if TYPE_CHECKING:
    from sartre.saving.archive import StoredArrays
    from sartre.steps import Mechanism

_FRAMES = ("interactions", "environment_effects")
MOST_ROWS = 10_000_000  # that a file may claim: effects are computed from as many draws


def save(model: CausalDiscovery, path: str | Path, *, include_rows: bool = False, remarks: Iterable[str] = ()) -> None:
    """Write a fitted model to a file; `CausalDiscovery.save` says what it holds.

    Parameters
    ----------
    model : CausalDiscovery
    path : str or Path
    include_rows : bool
    remarks : iterable of str
        Sentences that a reader should know, such as the units of the columns; ``remarks_`` after `load`.
    """
    check_destination(path)
    write_texts_atomically({path: saved(model, include_rows=include_rows, remarks=remarks)})


def saved(model: CausalDiscovery, *, include_rows: bool = False, remarks: Iterable[str] = ()) -> bytes:
    """Return the content of the file of a fitted model."""
    from sartre import __version__  # noqa: PLC0415 - it exists once the package is imported

    check_is_fitted(model, "graph_")
    check_bool("save", "include_rows", include_rows)
    if include_rows:
        model._table  # noqa: B018, SLF001 - without rows, it says so
    store = ArrayStore()
    mechanisms, replaced = _mechanisms_to_save(model, with_rows=include_rows)
    document = {
        "sartre": __version__,
        "settings": _settings(model),
        "graph": model.graph_.to_dict(),
        "pdag": model.pdag_.to_dict(),
        "order": [int(j) for j in model.order_],
        "edges": frame_to_plain(model.edges_, store),
        "environment_effects": frame_to_plain(model.environment_effects_, store),
        "order_step": step_to_plain(model.order_step_),
        "prune_step": step_to_plain(model.prune_step_),
        "findings": _findings(model.prune_step_, store),
        "rows_seen": {str(name): int(count) for name, count in model.rows_seen_.items()},
        "fit_seconds": float(model.fit_seconds_),
        "diagnostics": _diagnostics(model.diagnostics_, store),
        "environments": frame_to_plain(model.environments_, store),
        "hidden_causes": frame_to_plain(getattr(model, "hidden_causes_", None), store),
        "mechanisms": {name: mechanism_to_plain(each, store) for name, each in mechanisms.items()},
        "replaced": replaced,
        "columns_of_rows": sorted(getattr(model, "_named", ())),
        "remarks": [*getattr(model, "remarks_", ()), *map(str, remarks)],
        "rows": rows_to_plain(model._table, store) if include_rows else None,  # noqa: SLF001 - the model's own file
        **_summary(model, mechanisms, store),
    }
    return packed(document, store.arrays)


def load(path: str | Path) -> CausalDiscovery:
    """Read a model that `CausalDiscovery.save` wrote.

    The file may come from anybody: nothing in it is executed, and what is not such a file is refused.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    CausalDiscovery
        Fitted: graph, edges, order, diagnostics and mechanisms are those of the saved model. Without rows in the file,
        ``scm_`` works from what the file keeps of them, and whatever needs rows says so.

    Examples
    --------
    >>> import os, tempfile
    >>> x0, noise = np.random.default_rng(0).normal(size=(2, 300))
    >>> model = CausalDiscovery(random_state=0).fit(np.column_stack([x0, np.sin(2 * x0) + noise / 2]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.sartre"))
    ...     load(os.path.join(folder, "model.sartre")).graph_
    Dag: 2 variables, 1 edges
      x0 -> x1
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file '{path}'; check its name and folder.")
    try:
        model, replaced = _of_document(*unpacked(path))
    except OSError:
        raise
    except (ValueError, TypeError) as error:
        raise ValueError(f"'{path}' is not a model that sartre saved: {_in_one_line(error)}.") from None
    except Exception as error:  # noqa: BLE001 - a broken file may fail anywhere
        reason = f"it is incomplete or damaged ({type(error).__name__})"
        raise ValueError(f"'{path}' is not a model that sartre saved: {reason}.") from None
    if replaced:
        warnings.warn(
            f"The functions of {listed(replaced)} are not those of the saved model, but additive ones in their place: "
            "Gaussian processes consist of rows, which this file does not hold. Save with include_rows=True to keep "
            "them.",
            UserWarning,
            stacklevel=2,
        )
    return model


def _mechanisms_to_save(model: CausalDiscovery, *, with_rows: bool) -> tuple[dict[str, Mechanism], list[str]]:
    """Return the mechanisms, with additive ones where the file cannot hold them, and the names of these variables."""
    found = model.mechanisms()
    kept = {name: each for name, each in found.items() if can_be_saved(each, with_rows=with_rows)}
    replaced = [name for name in found if name not in kept]
    if not replaced:
        return kept, getattr(model, "_replaced", [])
    pairs = set(findings_of(model.prune_step_).pairs())
    for name in replaced:
        parents = sorted(model.graph_.parents(name))
        pairs |= {(parents[first], parents[second], name) for first, second in found[name].pairs}
    return fit_mechanisms(model._table, model.graph_, sorted(pairs), kept), replaced  # noqa: SLF001 - as above


def _settings(model: CausalDiscovery) -> dict[str, Any]:
    seed = model.random_state
    return {
        "order": step_to_plain(model.order),
        "prune": step_to_plain(model.prune),
        "knowledge": None if model.knowledge is None else model.knowledge.to_dict(),
        "missing": model.missing,
        "directions": bool(model.directions),
        "verbose": int(model.verbose),
        "n_jobs": None if model.n_jobs is None else int(model.n_jobs),
        "random_state": int(seed) if isinstance(seed, (int, np.integer)) else None,  # a generator is not kept
    }


def _findings(pruner: Any, store: ArrayStore) -> dict[str, Any]:
    findings = findings_of(pruner)
    bound = findings.false_edges_bound
    return {
        **{name: frame_to_plain(getattr(findings, name), store) for name in _FRAMES},
        "joint_terms": frame_to_plain(getattr(pruner, "joint_terms_", None), store),
        "robust_targets": [str(name) for name in findings.robust_targets],
        "false_edges_bound": None if bound is None else store.put([bound]),
        "notes": [str(note) for note in findings.notes],
    }


def _diagnostics(found: Diagnostics, store: ArrayStore) -> dict[str, Any]:
    return {
        "messages": list(found.messages),
        "nodes": frame_to_plain(found.nodes, store),
        "copies": [list(pair) for pair in found.copies],
        "numbers": store.put([found.var_sortability, found.r2_sortability, found.samples_per_variable]),
    }


def _summary(model: CausalDiscovery, mechanisms: Mapping[str, Mechanism], store: ArrayStore) -> dict[str, Any]:
    """Return what a file keeps of the rows, or the reason why there is no structural model."""
    try:
        scm = model.scm_
    except ValueError as error:
        return {"summary": None, "scm_refusal": str(error)}
    if scm.columns_kept:
        summary = Summary(scm.table.values, scm.table.values - scm.predicted, scm.columns_kept)
    else:
        if scm.directions is not None and any(mechanisms[name] is not scm.mechanisms[name] for name in scm.names):
            scm = learnt_model(scm.table, scm.graph, mechanisms, scm.pairs, scm.directions)
        summary = summary_of(scm)
    columns = [summary.columns[name] for name in model.graph_.names]
    kept = {
        "values": store.put(summary.values),
        "noise": store.put(summary.noise),
        "rows": store.put(np.array([column.n for column in columns], dtype=np.int64)),
        "quantiles": store.put(np.array([column.quantiles for column in columns])),
        "binary": store.put(np.array([column.binary for column in columns], dtype=bool)),
    }
    return {"summary": kept, "scm_refusal": None}


def _of_document(document: dict[str, Any], arrays: StoredArrays) -> tuple[CausalDiscovery, list[str]]:
    """Return the model of a document, and the variables whose mechanisms are not its own."""
    model = _unfitted(document["settings"])
    model.graph_, model.pdag_ = Dag.from_dict(document["graph"]), Pdag.from_dict(document["pdag"])
    names = model.graph_.names
    model.order_ = np.array(document["order"], dtype=np.intp)
    if sorted(model.order_.tolist()) != list(range(len(names))) or set(model.pdag_.names) != set(names):
        raise ValueError("its order, its graphs and its variables do not fit together")
    model.adjacency_matrix_ = model.graph_.adjacency.copy()
    edges = frame_of_plain(document["edges"], arrays)
    if edges is None:
        raise ValueError("it has no table of edges")
    if sorted(zip(edges["source"], edges["target"], strict=True)) != sorted(model.graph_.edges):
        raise ValueError("its table of edges and its graph do not fit together")
    model.edges_ = edges
    model.environment_effects_ = frame_of_plain(document["environment_effects"], arrays)
    model.rows_seen_ = {str(name): int(count) for name, count in document["rows_seen"].items()}
    model.fit_seconds_ = float(document["fit_seconds"])
    model.remarks_ = tuple(map(str, document["remarks"]))
    mechanisms = {
        name: mechanism_of_plain(document["mechanisms"][name], arrays, len(parent_columns(model.graph_, name)))
        for name in names
    }
    _set_steps(model, document, arrays, mechanisms)
    kept = vars(model)
    kept |= {"_mechanisms": mechanisms, "diagnostics_": _diagnostics_of_plain(document["diagnostics"], arrays)}
    kept |= {"_environments": frame_of_plain(document["environments"], arrays), "_edges": edges}
    hidden = frame_of_plain(document["hidden_causes"], arrays)
    kept |= {} if hidden is None else {"_hidden": SimpleNamespace(frame=hidden)}
    kept |= {"_named": frozenset(map(str, document["columns_of_rows"]))}
    replaced = [str(name) for name in document["replaced"]]
    if document["rows"] is not None:
        kept["_table"] = rows_of_plain(document["rows"], arrays, tuple(names))
    elif document["summary"] is None:
        kept["_scm_refusal"] = str(document["scm_refusal"])
    else:
        kept["scm_"] = _scm(model, _summary_of_plain(document["summary"], arrays, names), mechanisms)
    if replaced:
        kept["_replaced"] = replaced
    return model, replaced


def _unfitted(settings: dict[str, Any]) -> CausalDiscovery:
    knowledge = settings["knowledge"]
    return CausalDiscovery(
        step_of_plain(settings["order"]),
        step_of_plain(settings["prune"]),
        knowledge=None if knowledge is None else Knowledge(**knowledge),
        missing=str(settings["missing"]),
        directions=bool(settings["directions"]),
        verbose=int(settings["verbose"]),
        n_jobs=settings["n_jobs"],
        random_state=settings["random_state"],
    )


def _set_steps(
    model: CausalDiscovery, document: dict[str, Any], arrays: StoredArrays, mechanisms: Mapping[str, Mechanism]
) -> None:
    """Give the model its steps, with what the pruner found."""
    order, prune = step_of_plain(document["order_step"]), step_of_plain(document["prune_step"])
    order.order_ = model.order_
    found = document["findings"]
    prune.adjacency_matrix_, prune.edges_, prune.rows_seen_ = model.adjacency_matrix_, model.edges_, model.rows_seen_
    for name in (*_FRAMES, "joint_terms"):
        frame = frame_of_plain(found[name], arrays)
        if frame is not None:
            setattr(prune, f"{name}_", frame)
    prune.robust_targets_, prune.notes_ = list(map(str, found["robust_targets"])), list(map(str, found["notes"]))
    if found["false_edges_bound"] is not None:
        prune.false_edges_bound_ = float(arrays.any(found["false_edges_bound"], (1,))[0])
    names = [name for name, each in mechanisms.items() if not can_be_saved(each, with_rows=False)]
    prune.mechanisms_ = {name: mechanisms[name] for name in names}
    model.order_step_, model.prune_step_ = order, prune


def _diagnostics_of_plain(data: Any, arrays: StoredArrays) -> Diagnostics:
    by_variance, by_r2, per_variable = arrays.any(data["numbers"], (3,)).tolist()
    nodes: Any = frame_of_plain(data["nodes"], arrays)
    copies = tuple((str(a), str(b)) for a, b in data["copies"])
    return Diagnostics(tuple(map(str, data["messages"])), nodes, by_variance, by_r2, copies, per_variable)


def _summary_of_plain(data: Any, arrays: StoredArrays, names: list[str]) -> Summary:
    d = len(names)
    values = arrays.get(data["values"], (None, d))
    quantiles = arrays.get(data["quantiles"], (d, len(KEPT_QUANTILES)))
    rows, binary = arrays.get(data["rows"], (d,), "i"), arrays.get(data["binary"], (d,), "b")
    if len(values) == 0 or (rows < 1).any() or (rows > MOST_ROWS).any():
        raise ValueError("it says nothing of the columns")
    columns = {
        name: ColumnSummary(int(rows[j]), tuple(quantiles[j].tolist()), bool(binary[j])) for j, name in enumerate(names)
    }
    return Summary(values, arrays.get(data["noise"], values.shape), columns)


def _scm(model: CausalDiscovery, summary: Summary, mechanisms: Mapping[str, Mechanism]) -> StructuralModel:
    directions = open_directions(model.graph_, model.edges_, constraints(model, model.graph_.names))
    pairs = findings_of(model.prune_step_).pairs()
    return StructuralModel.of_summary(summary, model.graph_, mechanisms, pairs, directions)


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split()).removesuffix(".") or type(error).__name__
