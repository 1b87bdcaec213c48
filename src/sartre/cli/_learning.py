"""From the options of the command line to a learnt graph on disk."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from sartre import CausalDiscovery, Dag
    from sartre.data.row_source import Survey
    from sartre.data.table import Table
    from sartre.evidence.certificates import Certificates
    from sartre.evidence.stability import Stability

DATASETS = ("sachs",)
CHECKPOINT = "stability.checkpoint.json"  # exists while half-samples are learnt, and is deleted once all is written


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options of `discover` and `prune`; an order is the name of a method or a list of columns."""

    source: str
    columns: list[str] | None = None
    exclude: list[str] | None = None
    categorical: list[str] | None = None
    log: list[str] | None = None
    sheet: str | None = None
    order: str | list[str]
    order_file: Path | None = None
    prune: str
    effort: str | None = None
    settings: list[str] | None = None
    level: float | None = None
    penalty: float | None = None
    knowledge: Path | None = None
    environment: str | None = None
    interventions: Path | None = None
    groups: str | None = None
    missing: str = "error"
    stability: int | None = None
    certify: float | None = None
    seed: int = 0
    jobs: int = 1
    out_folder: Path = Path()
    overwrite: bool = False
    report: Path | None = None
    no_data: bool = False
    yes: bool = False
    typed: tuple[tuple[str, tuple[str, ...]], ...] = ()  # the command, part by part

    @classmethod
    def of(cls, options: Mapping[str, Any], **changes: Any) -> Asked:
        """Return the request that the options of a command make; other options, such as --json, are left out."""
        names = [field.name for field in fields(cls)]
        given = {name: options[name] for name in names if name in options} | changes
        for name in ("columns", "exclude", "categorical", "log"):
            if isinstance(given.get(name), str):
                given[name] = split_names(given[name])
        if given.get("out_folder") is None:
            given["out_folder"] = default_folder(given["source"])
        return cls(**given)

    @property
    def graph_file(self) -> Path:
        """Where the graph is written."""
        return self.out_folder / "graph.json"

    @property
    def edges_file(self) -> Path:
        """Where the edges are written."""
        return self.out_folder / "edges.csv"

    @property
    def model_file(self) -> Path:
        """Where the fitted model is written, without rows."""
        return self.out_folder / "model.sartre"

    @property
    def template_file(self) -> Path:
        """Where a file of knowledge to fill in is written, unless it is there already."""
        from sartre.knowledge.template import TEMPLATE_NAME

        return self.out_folder / TEMPLATE_NAME

    @property
    def checkpoint(self) -> Path:
        """Where finished half-samples are kept until all is written."""
        return self.out_folder / CHECKPOINT


@dataclass(frozen=True, kw_only=True)
class Learnt:
    """The result: the document of graph.json, and what is printed."""

    asked: Asked
    shape: tuple[int, int]
    model: CausalDiscovery
    edges: pd.DataFrame
    truth: Dag | None
    document: dict[str, Any]
    wrote_template: bool
    original: Table | None  # the table in its own units, where the fitted one was standardised
    stability: Stability | None


def learn(asked: Asked, begin: Callable[[str], None]) -> Learnt:
    """Read, learn and write; whatever cannot work is refused before any long computation."""
    from sartre.cli._certificates import certificates, with_certificates
    from sartre.cli._command_line import command_typed
    from sartre.cli._methods import build_model
    from sartre.cli._rows import rows_record, targets_of
    from sartre.compute.compiling import compilation_logged
    from sartre.compute.files import made_folder, write_texts_atomically
    from sartre.data.row_source import Survey
    from sartre.saving.model import saved
    from sartre.steps import tags_of

    model = build_model(asked)
    targets = targets_of(asked)
    _check_report(asked)
    with compilation_logged(), made_folder(asked.out_folder):
        _check_files(asked)
        _check_not_there(asked)
        data, truth = _read(asked, targets)
        _check_memory(asked, model, data.sample.shape)
        standardize = any(tags_of(step).needs_units for step in (model.order, model.prune))
        table = _standardized(asked, data) if standardize else data
        proof = None if asked.certify is None else certificates(asked, model, _in_memory(asked, table, "--certify"))
        found = None if asked.stability is None else _stability(asked, model, _in_memory(asked, table, "--stability"))
        begin("Learning the order")
        model.fit_batches(table) if isinstance(table, Survey) else model.fit(table)
        edges = model.edges_ if found is None else _with_frequencies(model, found)
        edges = edges if proof is None else with_certificates(edges, proof)
        begin("Checking the assumptions")
        shape = (data.n, data.sample.shape[1]) if isinstance(data, Survey) else data.shape
        document = _document(asked, model, edges, (found, proof), rows=shape[0], standardized=standardize)
        document |= rows_record(asked, data.sample.design, targets)
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        new = not os.path.lexists(asked.template_file)
        template = {asked.template_file: _template(model)} if new else {}
        stored = {asked.model_file: saved(model, remarks=_remarks(standardized=standardize))}
        write_texts_atomically({asked.graph_file: text, asked.edges_file: _edge_list(edges), **stored, **template})
        original = data.sample if standardize and not data.sample.missing.any() else None
        if asked.report is not None:
            begin("Writing the report")
            model.report(
                asked.report,
                original,
                stability=found,
                include_data=not asked.no_data,
                title=_title(asked.source),
                command=command_typed(),
            )
        if found is not None:
            asked.checkpoint.unlink(missing_ok=True)
    known = truth if truth is not None and set(truth.names) == set(model.graph_.names) else None
    return Learnt(
        asked=asked,
        shape=shape,
        model=model,
        edges=edges,
        truth=known,
        document=document,
        wrote_template=new,
        original=original,
        stability=found,
    )


def split_names(text: str) -> list[str]:
    """Split names at commas; a name that contains a comma must be in double quotes.

    Examples
    --------
    >>> split_names('height, "weight, kg"')
    ['height', 'weight, kg']
    """
    try:
        return [name.strip() for name in next(csv.reader([text], skipinitialspace=True, strict=True), [])]
    except csv.Error:
        raise ValueError(
            f"Names must be separated by commas, and a name with a comma must be in double quotes. Got {text!r}."
        ) from None


def default_folder(source: str) -> Path:
    """Return the folder for the results of a table, in the current one.

    Examples
    --------
    >>> str(default_folder("data/cells.csv.gz")), str(default_folder("-"))
    ('cells-sartre', 'table-sartre')
    """
    from sartre.data.file_names import stem

    return Path(f"{'table' if source == '-' else stem(source)}-sartre")


def load(source: str, sheet: str | None = None) -> tuple[pd.DataFrame, Dag | None]:
    """Return a table and, if it is known, its true graph; a file has priority over a data set of the same name."""
    from sartre.data.read_file import read_table

    if sheet is not None and (source == "-" or not Path(source).exists()):
        raise ValueError(f"--sheet applies to spreadsheets only; leave it out for '{source}'.")
    if source == "-":
        if sys.stdin is None:  # the shell closed it
            raise ValueError("Standard input is closed, so '-' cannot be read; pipe a table into it, or name a file.")
        return read_table(sys.stdin.buffer), None
    if source in DATASETS and not Path(source).is_file():
        from sartre.datasets import load_sachs

        data = load_sachs()
        return data.X, data.dag
    if not Path(source).exists():
        raise FileNotFoundError(
            f"There is no file '{source}', and no data set of that name (the only one is {', '.join(DATASETS)}); "
            f"check its name and folder.{_similar_file(source)}"
        )
    return read_table(source, sheet=sheet), None


def _similar_file(source: str) -> str:
    """Return a question that names the file in the same folder that is most like one that does not exist."""
    from sartre.settings import suggestion

    folder = Path(source).parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    return suggestion(Path(source).name, [*names, *DATASETS])


def _read(asked: Asked, targets: dict[str, Any] | None) -> tuple[Table | Survey, Dag | None]:
    """Return the data, a table or the survey of a large one, and the true graph if it is known."""
    from sartre.cli._reading import column_names, prepared, problems_in, refused, streams, warn_of_row_numbers
    from sartre.data.batches import Batches
    from sartre.data.checks import MIN_ROWS, as_table
    from sartre.data.read_design import with_design
    from sartre.data.refusals import BadTableError
    from sartre.data.row_source import survey

    if streams(asked):
        return survey(Batches(asked.source, asked.missing, column_names(asked)), asked.seed), None
    frame, truth = load(asked.source, asked.sheet)
    frame = prepared(frame, asked)
    try:
        said = with_design(frame, asked.environment, targets, asked.groups)
        data = as_table(said, min_rows=MIN_ROWS, min_columns=2, categories=True, missing=True)
        if asked.missing == "error" and data.missing.any():
            raise refused(frame, asked, problems_in(frame, asked))
    except BadTableError as error:
        problems = problems_in(frame, asked) or error.problems
        raise refused(frame, asked, problems) from None
    warn_of_row_numbers(data)
    return data, truth


def _standardized(asked: Asked, data: Table | Survey) -> Table | Survey:
    """Return the data at mean zero and variance one; with many rows, in the sample, even if they are in memory."""
    import numpy as np

    from sartre.data.row_source import Survey, survey_of_table
    from sartre.data.table import Table

    if isinstance(data, Survey) or not data.is_long:
        return data.standardized()
    batches: Any = survey_of_table(data, asked.seed).standardized().batches  # they are in memory, so iterable
    return Table(np.asfortranarray(np.vstack(list(batches))), data.names, data.levels)


def _in_memory(asked: Asked, table: Table | Survey, option: str) -> Table:
    """Return a table from which half-samples can be drawn."""
    from sartre.data.row_source import Survey

    if isinstance(table, Survey):
        raise ValueError(  # noqa: TRY004 - the option is wrong
            f"{option} needs all rows in memory, but '{asked.source}' is read in batches; leave the option out."
        )
    return table


def _title(source: str) -> str:
    """Return what a report calls the table: the name of its file."""
    return "standard input" if source == "-" else Path(source).name


def _check_report(asked: Asked) -> None:
    """Refuse, before a long run, a report that would fail after it."""
    if asked.report is None:
        if asked.no_data:
            raise ValueError("--no-data applies to a report only; add --report FILE.")
        return
    taken = asked.graph_file, asked.edges_file, asked.model_file, asked.template_file, asked.checkpoint
    if asked.report.resolve() in [path.resolve() for path in taken]:
        raise ValueError(f"'{asked.report}' is another file of this run; choose a different name for the report.")


def _check_files(asked: Asked) -> None:
    """Refuse results that cannot be written, or that would replace a file that the run reads."""
    from sartre.compute.files import check_destination
    from sartre.data.read_arrow import parquet_files

    source = Path("/dev/stdin" if asked.source == "-" else asked.source)
    tables = parquet_files(source) if source.is_dir() else [source]
    inputs = [*tables, asked.knowledge, asked.order_file, asked.interventions]
    checkpoint = None if asked.stability is None else asked.checkpoint
    for path in filter(None, (asked.graph_file, asked.edges_file, asked.model_file, checkpoint, asked.report)):
        for file in inputs:
            check_destination(path, file)


def _check_not_there(asked: Asked) -> None:
    """Refuse to replace an earlier result, unless --overwrite is given."""
    if asked.overwrite:
        return
    found = [path for path in (asked.graph_file, asked.edges_file, asked.model_file) if os.path.lexists(path)]
    if found:
        raise FileExistsError(
            f"'{asked.out_folder}' has an earlier result ({', '.join(path.name for path in found)}). Add "
            "--overwrite to replace it, or name another folder with --out."
        )
    if asked.report is not None and os.path.lexists(asked.report):
        raise FileExistsError(
            f"'{asked.report}' exists. Add --overwrite to replace it, or choose another name for the report."
        )


def _check_memory(asked: Asked, model: CausalDiscovery, shape: tuple[int, int]) -> None:
    """Refuse a run for which this machine has far too little memory by the plan, unless --yes is given."""
    from sartre.plan.estimate import MEMORY_MARGIN
    from sartre.plan.text import duration

    plan = model.plan(shape)
    shortage = plan.shortage(MEMORY_MARGIN)
    if shortage is not None and not asked.yes:
        raise ValueError(
            f"{shortage} The run would take about {duration(plan.total.seconds)}. Use fewer columns or another method "
            "(`sartre plan` compares them), or add --yes to start it all the same."
        )


def _stability(asked: Asked, model: CausalDiscovery, table: Table) -> Stability:
    from sklearn.base import clone

    from sartre import stability

    alone: Any = clone(model)
    return stability(
        alone.set_params(n_jobs=None),
        table,
        n_pairs=asked.stability or 0,
        n_jobs=asked.jobs,
        random_state=asked.seed,
        checkpoint=asked.checkpoint,
    )


def _with_frequencies(model: CausalDiscovery, found: Stability) -> pd.DataFrame:
    """Return the edges with the share of half-samples that have the edge, and that order source before target."""
    place = {name: j for j, name in enumerate(found.names)}
    pairs = [place[name] for name in model.edges_["source"]], [place[name] for name in model.edges_["target"]]
    return model.edges_.assign(frequency=found.edge_frequency[pairs], before=found.order_frequency[pairs])


def _document(
    asked: Asked,
    model: CausalDiscovery,
    edges: pd.DataFrame,
    evidence: tuple[Stability | None, Certificates | None],
    *,
    rows: int,
    standardized: bool,
) -> dict[str, Any]:
    """Return the graph with a record of how it was learnt; `Dag.from_dict` reads the graph back."""
    from sartre import __version__
    from sartre.cli._certificates import certificates_record
    from sartre.steps import findings_of

    found, proof = evidence
    document: dict[str, Any] = {**model.graph_.to_dict(), "edges": _records(edges)}
    findings = findings_of(model.prune_step_)
    if findings.interactions is not None:
        document["interactions"] = _records(findings.interactions)
    if model.environment_effects_ is not None and asked.environment is not None:
        document["environment_effects"] = _records(model.environment_effects_)
    document["hidden_causes"] = _records(model.hidden_causes_)
    document["diagnostics"] = list(model.diagnostics_.messages)
    document["order"] = [model.graph_.names[j] for j in model.order_]
    if found is not None:
        document["stability"] = {
            "n_pairs": found.n_pairs,
            "frequencies": _records(found.frequencies),
            "consensus": found.consensus().to_dict()["edges"],
            "false_edges_bound": found.false_edges_bound(),
        }
    if proof is not None:
        document["certificates"] = certificates_record(proof)
    document["run"] = {
        "version": __version__,
        "source": asked.source,
        "standardized": standardized,
        **{name: getattr(asked, name) for name in ("exclude", "categorical", "log") if getattr(asked, name)},
        "missing": asked.missing,
        "seed": asked.seed,
        "order": _settings(model.order_step_),
        "prune": _settings(model.prune_step_),
        **({} if model.knowledge is None else {"knowledge": model.knowledge.to_dict()}),
        **({"rows_seen": model.rows_seen_} if _is_sampled(model, rows) else {}),
        **({"notes": list(findings.notes)} if findings.notes else {}),
    }
    return document


def _remarks(*, standardized: bool) -> list[str]:
    """Return what a reader of the saved model should know."""
    return ["The columns were standardised: effects are in standard deviations."] if standardized else []


def _is_sampled(model: CausalDiscovery, rows: int) -> bool:
    """Return whether some part did not see all rows; that processes see a few of them goes without saying."""
    return any(count < rows for name, count in model.rows_seen_.items() if name != "joint")


def _edge_list(edges: pd.DataFrame) -> str:
    """Return the edges and their evidence as the text of a CSV file, with the names as `Dag.read` expects them."""
    from sartre.data.spreadsheet import csv_text

    return csv_text(edges)


def _template(model: CausalDiscovery) -> str:
    """Return a file of knowledge to fill in."""
    from sartre.knowledge.template import template

    names, n_causes = model.graph_.names, model.graph_.adjacency.sum(axis=0).tolist()
    return template(names, [name for name, count in zip(names, n_causes, strict=True) if count == 0])


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table for JSON, with null in place of NaN."""
    records: Any = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return records


def _settings(step: Any) -> dict[str, Any]:
    """Return the settings of a step; values that JSON cannot represent become text."""
    settings: dict[str, Any] = {"method": type(step).__name__, **step.get_params()}
    for name, value in settings.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            settings[name] = str(value)
    return settings
