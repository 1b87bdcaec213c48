# `make demo` and `make test` install everything they need; they require only Python 3 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
WHEEL := .venv-wheel

LOWEST := .venv-lowest
FAST_TESTS := tests/additive/test_smoothing.py tests/additive/test_mechanism.py tests/cli/test_cli_choices.py \
  tests/cli/test_cli_commands.py tests/cli/test_cli_third_party.py tests/data/test_checks.py tests/data/test_read_file.py \
  tests/data/test_row_source.py tests/graph tests/knowledge tests/report/test_layout.py tests/report/test_crossings.py tests/test_discovery.py \
  tests/order/test_all_orderers.py tests/prune/test_all_pruners.py tests/prune/sartre/test_row_model.py

.PHONY: help demo test lint format docs notebooks build lowest bench bench-accuracy bench-orders clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(VENV)/.installed  ## learn a causal graph from the included protein data
	$(BIN)/sartre discover sachs --overwrite

test: $(VENV)/.installed  ## run the tests and the docstring examples
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto tests src/sartre

lint: $(VENV)/.installed  ## check formatting, lint, types and workflows
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright --level error
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --no-progress .github/workflows

format: $(VENV)/.installed  ## reformat the files so that they pass `make lint`
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

docs: $(VENV)/.docs  ## build the documentation into site/; every warning is an error
	$(BIN)/python -m mkdocs build --strict  # with --quiet, warnings would not be counted

notebooks: $(VENV)/.installed  ## write the notebooks of the worked examples from their pages
	$(BIN)/python docs/worked_examples.py

build: $(VENV)/.installed  ## build the distribution, check it, and test the wheel in an empty environment
	rm -rf dist $(WHEEL)
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python -m pip install --quiet dist/sartre-*.whl
	$(WHEEL)/bin/sartre --version
	cd dist && ../$(WHEEL)/bin/python ../.ci/installed.py

lowest: $(VENV)/.installed  ## run the fast tests with the lowest allowed version of every dependency
	$(PYTHON) -m venv --clear $(LOWEST)
	$(BIN)/uv pip compile --quiet --resolution lowest-direct --python $(LOWEST)/bin/python pyproject.toml \
	  --extra arrow --extra dask --output-file $(LOWEST)/requirements.txt
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --requirements $(LOWEST)/requirements.txt
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --requirements $(LOWEST)/requirements.txt \
	  hypothesis polars pytest pytest-xdist
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --no-deps --editable .
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/numba OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -n auto \
	  -W ignore::DeprecationWarning --durations 8 \
	  $(FAST_TESTS)

$(BENCH)/.installed: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --upgrade pip
	$(BENCH)/bin/python -m pip install --quiet --editable '.[bench]'
	@touch $@

bench: $(BENCH)/.installed  ## compare speed and solutions with the peers (in a separate environment; minutes)
	$(BENCH)/bin/python benchmarks/solver_agreement.py
	$(BENCH)/bin/python benchmarks/pruning_speed.py
	$(BENCH)/bin/python benchmarks/ordering_speed.py
	$(BENCH)/bin/python benchmarks/stability.py

bench-accuracy: $(BENCH)/.installed  ## compare all pruners on simulated data (minutes; much longer with R)
	$(BENCH)/bin/python benchmarks/pruning_accuracy.py

bench-orders: $(BENCH)/.installed  ## compare orders and whole graphs on simulated data (an hour)
	$(BENCH)/bin/python benchmarks/ordering.py
	$(BENCH)/bin/python benchmarks/end_to_end.py

clean:  ## remove the environments and caches
	rm -rf $(VENV) $(BENCH) $(WHEEL) $(LOWEST) .venv-peers .pytest_cache .ruff_cache dist site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
