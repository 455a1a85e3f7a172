# make demo        learn to complete handwritten digits, write a page with the results
# make test        lint, types and every test
# make docs        build the site in docs/_build/html, warnings as errors
# make dist        wheel and sdist in dist/, checked by twine
# make reproduce   list the experiments; NAME=weston-table3 runs one (SMALL=1: seconds; JOBS=2: two processes)
# make rivals      compare AutoEstimator with other estimators (SMALL=1: a minute; JOBS=2; OPTIONS='--tasks jura')
# make bench       NAME=alpha, auto, core, objects, operators, scale, strings, words or trace (QUICK=1: seconds)
# All set up .venv by themselves; the only needs are make and Python 3.11 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check

ifndef MERCER_DATA
ifneq ($(wildcard ../shared/data),)
export MERCER_DATA := $(abspath ../shared/data)
endif
endif

.PHONY: demo test lint docs dist reproduce rivals bench clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.installed
	@$(BIN)/mercer demo

# Two test processes, one BLAS thread each.
test: export OMP_NUM_THREADS = 1
test: export PYTHONHASHSEED = 0
test: export OPENBLAS_NUM_THREADS = 1
test: export MKL_NUM_THREADS = 1
test: lint
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.installed-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# The gallery takes data that scikit-learn brings along, or makes its own.
docs: export OMP_NUM_THREADS = 1
docs: export OPENBLAS_NUM_THREADS = 1
docs: export MKL_NUM_THREADS = 1
docs: export MPLBACKEND = Agg
docs: $(VENV)/.installed-tests
	MERCER_DATA= $(BIN)/sphinx-build -b html -W --keep-going --nitpicky --jobs 2 --quiet docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html
	$(BIN)/python docs/check_pages.py docs/_build/html
	@echo "open docs/_build/html/index.html"

dist: $(VENV)/.installed-tests
	@rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python -m twine check --strict dist/*

reproduce: $(VENV)/.installed-tests
	@$(BIN)/python -m experiments reproduce $(or $(NAME),--list) $(if $(SMALL),--small) $(if $(JOBS),--jobs $(JOBS))

rivals: $(VENV)/.installed-tests
	@$(BIN)/python -m experiments rivals $(if $(SMALL),--small) $(if $(JOBS),--jobs $(JOBS)) $(OPTIONS)

bench: $(VENV)/.installed-tests
	@$(BIN)/python -m experiments bench $(or $(NAME),--help) $(if $(QUICK),--quick)

# The stamps: a second run installs nothing, a change of pyproject.toml installs again.
$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "mercer needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) \
		|| { echo "could not create $(VENV); on Debian and Ubuntu, install the package python3-venv"; rm -rf $(VENV); exit 1; }
	@echo "installing mercer into $(VENV) (once)"
	@$(PIP) --editable .
	@touch $@

# This exact torch, before the rest: a looser requirement would pull gigabytes of CUDA libraries.
$(VENV)/.installed-tests: $(VENV)/.installed
	@echo "installing the test tools into $(VENV) (once)"
	@$(PIP) torch==2.13.0 || echo "torch 2.13.0 could not be installed: the tests that need it will be skipped"
	@$(PIP) --editable '.[test]'
	@touch $@

clean:
	rm -rf $(VENV) out dist build docs/_build docs/auto_examples docs/api/generated docs/api/backreferences docs/api/mercer*.rst .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src experiments tests -name __pycache__ -type d -prune -exec rm -rf {} +
