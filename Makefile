# Every target works from a bare clone: the virtual environment is made when it is missing.
# Override the interpreter with `make PYTHON=python3.12 ...`.

PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11 python3.15,\
	$(shell command -v $(name) >/dev/null 2>&1 && \
		$(name) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 16))' 2>/dev/null && echo $(name))))

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_READY := $(VENV)/.ready-bench
# the problems whose picture in docs is `driftmdp figures NAME`
PICTURED := queue maintenance wireless healthcare epidemic choice transport combination-lock random-mdp frozen-lake bridge
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup fmt lint types imports reproduce statements test test-slow bench docs check lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## make the virtual environment, with pinned dependencies

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "driftmdp needs Python 3.11 to 3.15; none was found. Install one, or run make PYTHON=/path/to/python." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) pip
	$(PIP) --build-constraint constraints.txt --editable '.[dev]'
	@touch $@

$(BENCH_READY): $(READY) benchmarks/without-dependencies.txt
	$(PIP) --build-constraint constraints.txt --editable '.[bench]'
	$(PIP) --no-deps --requirement benchmarks/without-dependencies.txt
	@touch $@

fmt: $(READY) ## format the code and the documents, and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/python -m tests.wrapping

lint: $(READY) ## check style and formatting
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY) ## check types, strictly
	$(BIN)/mypy

imports: $(READY) ## check that imports go down the layers only
	$(BIN)/lint-imports

reproduce: $(READY) ## run the paper's numerical section and write its page to out/reproduce/report
	$(BIN)/driftmdp reproduce --out out/reproduce

statements: $(READY) ## check the paper's statements thoroughly and write their page and figures into docs
	$(BIN)/driftmdp check --thorough --page docs/statements.md
	$(BIN)/driftmdp figures --out docs/_static/paper
	$(BIN)/driftmdp figures remarketing bidding $(PICTURED) --out docs/_static/problems
	$(BIN)/python -m tests.wrapping

# The tests start many processes. Where Python keeps no bytecode, each would compile the package again (0.3 s).
test: $(READY) ## run the tests
	$(BIN)/python -m compileall -q src
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

test-slow: $(READY) ## run the slow tests
	$(BIN)/python -m pytest -m slow

bench: $(BENCH_READY) ## measure speed against yardsticks and peers, and write docs/benchmarks-table.md
	$(BIN)/python -m benchmarks --markdown docs/benchmarks-table.md
	$(BIN)/python -m benchmarks.ratio_figure
	$(BIN)/python -m tests.wrapping

docs: $(READY) ## build the site into docs/_build/html
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "The site is docs/_build/html/index.html"

check: lint types imports test docs $(BENCH_READY) ## run all of them; benchmarks with small sizes
	$(BIN)/python -m benchmarks --quick

lock: ## write constraints.txt from the newest versions
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --upgrade pip
	build/lock/bin/python -m pip install --quiet hatchling '.[dev,bench]'
	{ sed '/^[^#]/,$$d' constraints.txt; build/lock/bin/python -m pip freeze --all --exclude driftmdp --exclude setuptools; } > build/constraints.txt
	mv build/constraints.txt constraints.txt

clean: ## remove everything that was made, the virtual environment too
	rm -rf $(VENV) build dist docs/_build out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
