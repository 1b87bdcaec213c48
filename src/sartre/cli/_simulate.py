"""``sartre simulate``: a table whose graph is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from sartre.cli import _options as option  # noqa: TC001 - typer reads the types
from sartre.cli._console import guarded, out, progress
from sartre.cli._rows import read_targets


def simulate(  # noqa: PLR0913 - one argument per option
    *,
    nodes: Annotated[int, typer.Option(help="Number of variables.")] = 10,
    edges: Annotated[int, typer.Option(help="Number of edges.")] = 15,
    samples: Annotated[int, typer.Option(help="Number of rows in which nothing is acted on.")] = 1000,
    mechanism: Annotated[str, typer.Option(help="One of gp, gp-additive, neural, linear, sigmoid and sdcd.")] = "gp",
    noise: Annotated[str, typer.Option(help="One of gaussian, laplace, uniform, t3 and heteroscedastic.")] = "gaussian",
    interventions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What is acted on: a table with the columns environment and target, one line per target, and "
            "optionally kind (perfect or soft). Rows of the environments follow the others, and the column environment "
            "says where each row belongs.",
        ),
    ] = None,
    intervened: Annotated[
        int | None, typer.Option(help="Number of rows per environment of --interventions; by default as --samples.")
    ] = None,
    hidden: Annotated[
        int, typer.Option(help="Number of common causes of two or three variables each that are not in the table.")
    ] = 0,
    hidden_effect: Annotated[str, typer.Option(help="How they act: additive, linear or joint.")] = "additive",
    seed: option.Seed = 0,
    out_folder: option.Out = Path(),
    debug: option.Debug = False,
) -> None:
    """Draw a random graph and a table of samples from it.

    The table goes to data.csv and the graph to truth.json.

    Example: sartre simulate --nodes 20 --edges 40 --out try && sartre discover try/data.csv --out try
    """
    with guarded(debug=debug):
        with progress(f"Simulating {samples} samples of {nodes} variables"):
            from sartre.compute.files import check_destination, made_folder, write_texts_atomically
            from sartre.data.spreadsheet import csv_text
            from sartre.simulate import Experiment, random_dag
            from sartre.simulate import simulate as draw

            data_file, truth_file = out_folder / "data.csv", out_folder / "truth.json"
            kinds: dict[str, Any] = {"mechanism": mechanism, "noise": noise}
            if interventions is not None:
                kinds["interventions"] = read_targets(interventions)
            if intervened is not None:
                kinds["n_intervened"] = intervened
            if hidden:
                kinds |= {"hidden": hidden, "hidden_effect": hidden_effect}
            with made_folder(out_folder):
                for path in (data_file, truth_file):
                    check_destination(path)
                data = draw(random_dag(nodes, edges, random_state=seed), samples, **kinds, random_state=seed)
                table, dag = data
                if isinstance(data, Experiment):
                    table = table.assign(environment=data.environment)
                run = {"samples": samples, **kinds, "seed": seed}
                document = {**dag.to_dict(), "order": dag.topological_order(), "run": run}
                if data.confounded:
                    document["confounded"] = sorted(data.confounded)
                write_texts_atomically(
                    {
                        data_file: csv_text(table),
                        truth_file: json.dumps(document, indent=2, ensure_ascii=False) + "\n",
                    }
                )
        out.print(f"Wrote {data_file} and {truth_file}: {dag.n_edges} edges", soft_wrap=True)
