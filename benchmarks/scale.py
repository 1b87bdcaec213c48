"""Measure how time and memory grow with the size of the problem, one part at a time.

    .venv/bin/python benchmarks/scale.py variables [--sizes 1000 2000 4000] [--modes paper additive pairs] [--jobs 2]
    .venv/bin/python benchmarks/scale.py rows [--sizes 1000000 10000000] [--columns 50] [--jobs 2]
    .venv/bin/python benchmarks/scale.py order [--device cuda] [--sizes 2000x512 2000x2000 10000x50]
    .venv/bin/python benchmarks/scale.py all

For variables and rows, every size runs in a separate process, so that its peak of resident memory is measured alone.
"""

from __future__ import annotations

import argparse

import _scale_order
import _scale_rows
import _scale_variables
from _report import versions

PARTS = {
    "variables": _scale_variables,
    "rows": _scale_rows,
    "order": _scale_order,
}  # each has add_arguments(parser) and run(arguments)


def main() -> None:
    """Run the requested parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choices = parser.add_subparsers(dest="part", required=True)
    for name, part in PARTS.items():
        part.add_arguments(choices.add_parser(name, help=part.__doc__))
    choices.add_parser("all", help="run every part at its default sizes")
    arguments = parser.parse_args()
    print(versions("sartre", "numpy", "scipy", "numba", "scikit-learn"), "\n")
    asked = [parser.parse_args([name]) for name in PARTS] if arguments.part == "all" else [arguments]
    for one in asked:
        PARTS[one.part].run(one)


if __name__ == "__main__":
    main()
