# Set-up, tests, demo and benchmark. `make help` lists the targets.

PYTHON ?= python3
SECONDS ?= 60
CHECKED ?= tests/kernels tests/evaluators tests/test_engine.py
VERSION ?= 4.2
PANDAS ?= 2
TESTS ?=
WORDS ?=
MODULES ?= rewrite/push.py
EVALUATORS ?= auto
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
KERNELS := $(VENV)/.kernels
SPARK_VENV := .venv-spark-$(VERSION)$(if $(filter-out 2,$(PANDAS)),-pandas-$(PANDAS))
SPARK_READY := $(SPARK_VENV)/.ready
SPARK_KERNELS := $(SPARK_VENV)/.kernels

.DEFAULT_GOAL := help
.PHONY: help demo test test-spark test-install wheel bounds breaks mutants fuzz suites soak bench bench-quick format clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

demo: $(KERNELS) ## find fires and rain in a stream of farm sensors, on Spark
	@$(BIN)/cepheid demo

test: $(KERNELS) ## format check, lint, types, all tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(call both_halves,$(BIN),out)

test-spark: $(SPARK_KERNELS) ## all tests, or TESTS="…", on Spark VERSION=4.2 (4.1, 4.3) and PANDAS=2 (3), in an environment of its own
	$(if $(TESTS),$(SPARK_VENV)/bin/python -m pytest $(TESTS),$(call both_halves,$(SPARK_VENV)/bin,out/$(SPARK_VENV:.venv-%=%)))

test-install: $(READY) ## build sdist and wheel, install them into fresh environments, use them there
	$(BIN)/python tests/programs/install.py out/install

wheel: $(READY) ## a wheel in out/dist that brings its kernels compiled, for this Python and machines of this kind
	rm -rf out/packs out/dist
	$(BIN)/python -m cepheid.precompile --pack out/packs/$$(uname -m).pack
	CEPHEID_PACKS=$(CURDIR)/out/packs $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir out/dist .
	$(BIN)/python tests/programs/wheel.py out/dist

bounds: $(READY) ## the kernels once more with every index checked; a quarter of an hour
	rm -rf out/bounds
	NUMBA_BOUNDSCHECK=1 CEPHEID_CACHE_DIR=$(CURDIR)/out/bounds $(BIN)/python -m pytest $(CHECKED)

breaks: $(READY) ## break the kernels in some eighty places, or those that WORDS="…" name; every break must be noticed
	$(BIN)/python tests/programs/breaks.py $(WORDS)

mutants: $(READY) ## every mutant of MODULES="rewrite/push.py …", by mutmut, which is fetched; every one must be noticed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'mutmut>=3.8,<4'
	$(BIN)/python tests/programs/mutants.py $(MODULES) $(TESTS)

fuzz: $(READY) ## random queries, columns of all types and saved states for SECONDS=60
	$(BIN)/python tests/programs/fuzz.py $(SECONDS)

suites: $(READY) ## all cases of other engines' suites, on EVALUATORS=auto or all
	$(BIN)/python tests/programs/suites.py $(EVALUATORS)

soak: $(READY) ## a stream on Spark for SECONDS=60, better 180; nothing that it holds may grow
	$(BIN)/python tests/programs/soak.py $(SECONDS)

bench: $(READY) ## every experiment: tables, out/bench.json, out/bench/*.svg; some ten minutes
	$(BIN)/python -m bench

bench-quick: $(READY) ## the same on shorter streams and fewer points; under a minute
	$(BIN)/python -m bench --quick

format: $(READY) ## format, and fix what lint can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove the environment and everything made
	rm -rf $(VENV) .venv-spark-* out .mypy_cache .pytest_cache .ruff_cache .hypothesis spark-warehouse metastore_db derby.log

# The tests on Spark run beside the others: $(1) has the programs, $(2) gets the log.
define both_halves
mkdir -p $(2)
$(1)/python -m pytest -m spark > $(2)/spark.log 2>&1 & spark=$$!; \
$(1)/python -m pytest -m "not spark"; rest=$$?; \
wait $$spark; spark=$$?; cat $(2)/spark.log; exit $$((rest | spark))
endef

# An environment is made once and again whenever the dependencies change.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Cepheid needs Python 3.11 or later; $(PYTHON) is not. Name another: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "setting up $(VENV) (once; a minute or two)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' 'pandas==$(PANDAS).*'
	@$(BIN)/python -m cepheid.spark.java
	@touch $@

# Kernels are compiled once, and again when one has changed; those that have not are found in the cache.
$(KERNELS) $(SPARK_KERNELS): %/.kernels: %/.ready $(shell find src/cepheid/kernels -name '*.py')
	@$*/bin/python -m cepheid.precompile
	@touch $@

$(SPARK_READY): pyproject.toml
	@echo "setting up $(SPARK_VENV) (once; a minute or two)"
	@test -x $(SPARK_VENV)/bin/python || $(PYTHON) -m venv $(SPARK_VENV)
	@$(SPARK_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' \
	  'pyspark==$(VERSION).*' 'pandas==$(PANDAS).*'
	@$(SPARK_VENV)/bin/python -m cepheid.spark.java
	@touch $@
