# The daily tasks. `make` prints the list; `make -f labs.mk help` lists tasks that need Maven, a broker, a server, a
# mount or sources of other projects.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # one pip at a time; the compilers use all cores anyway

VENV   := .venv
PYTHON := $(VENV)/bin/python

# PYTHON3 is the interpreter for .venv (default: the one .venv already has). Another interpreter replaces .venv.
ifndef PYTHON3
PYTHON3 := $(shell ls $(VENV)/.cpython-*/made >/dev/null 2>&1 && $(PYTHON) -c '' 2>/dev/null && echo $(PYTHON) || echo python3)
endif
export PYTHON3
TAG := $(shell $(PYTHON3) -c 'import sys; print(sys.implementation.cache_tag + sys.abiflags)' 2>/dev/null || echo none)

# Stamps record finished steps. Those in .venv carry the name of its Python.
STAMPS    := $(VENV)/.$(TAG)
MADE      := $(STAMPS)/made
BUILT     := build/.built-$(TAG)
INSTALLED := $(STAMPS)/installed
CURRENT   := $(CURDIR)/build/current
TESTING   := $(STAMPS)/with-test $(INSTALLED)

BENCH ?= bench
FUZZ_SECONDS ?= 60
FULL_FUZZ_SECONDS ?= 600
WORKERS ?= $(shell nproc 2>/dev/null || echo 2)
# All tests run on all cores; TESTS="tests/record -k header" runs some of them in one process. A test that hangs for
# HANG_SECONDS prints its stacks and ends the run, where xdist would give it to a new worker. The limits that tests set
# come first (tests/patience.py).
HANG_SECONDS ?= 900
SPREAD = $(if $(TESTS),,-n $(WORKERS) --dist loadfile --no-loadscope-reorder --max-worker-restart 0 \
  -o faulthandler_timeout=$(HANG_SECONDS) -o faulthandler_exit_on_timeout=true)
# A plug-in that no fast test uses: it costs time in each test.
UNUSED := -p no:benchmark

SOURCES := setup.py src/recordpress/_extension_finder.py $(wildcard build_support/*.py include/recordpress/*.h) \
           $(shell find src -name '*.pyx' -o -name '*.pxd')

# Tests and the processes that they start share compiled bytecode.
unexport PYTHONDONTWRITEBYTECODE

say = @echo "recordpress: $(1)" >&2

# Runs a command that may be silent for minutes: $(call progress,what it does) command
progress = $(PYTHON3) build_support/progress.py "$(1)"

##@ Start here

demo: demo-takes $(STAMPS)/with-demo $(INSTALLED) java  ## Read, query, recompress and verify Kafka logs in Spark
	$(PYTHON) demo/demo.py

test: $(TESTING) java  ## Run the tests that need no other process (TESTS="tests/record -k name")
	$(call say,running the tests: about two minutes)
	$(PYTHON) -m pytest -q $(SPREAD) $(UNUSED) --durations=20 $(if $(TESTS),,-m "not slow") $(TESTS)

##@ Checks

check: $(TESTING) $(STAMPS)/with-lint  ## Lint, check types and test the changes, in under a minute
	$(MAKE) --no-print-directory lint mypy
	$(PYTHON) -m build_support.changed_tests | xargs -r $(PYTHON) -m pytest -q -n $(WORKERS) -m "not slow"

test-all: $(TESTING) java shells  ## Run the whole suite, slow tests included
	$(PYTHON) -m pytest -q $(SPREAD) --durations=20 $(TESTS)

lint: $(STAMPS)/with-lint  ## Check style and format, Cython, workflows and spelling
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" cython-lint src
	$(VENV)/bin/zizmor --quiet --offline .github/workflows
	git ls-files -z | xargs -0 $(VENV)/bin/codespell

types: $(TESTING) mypy  ## Run mypy --strict, and compare the stubs with the compiled modules
	$(PYTHON) -m mypy.stubtest --mypy-config-file pyproject.toml \
	  --allowlist build_support/stubtest-allowlist.txt --ignore-unused-allowlist recordpress

mypy: $(TESTING)
	$(PYTHON) -m mypy src/recordpress

sanitize: $(TESTING)  ## Run the suite without Spark, and the C tests, under ASan and UBSan
	PYTHON=$(PYTHON) build_support/sanitize.sh $(SPREAD) $(TESTS)

sanitize-threads: $(TESTING)  ## Run the threads of the readers under ThreadSanitizer
	PYTHON=$(PYTHON) build_support/sanitize_threads.sh $(TESTS)

fuzz: $(TESTING)  ## Run every fuzz target for FUZZ_SECONDS (FUZZ="snappy record" for some)
	build_support/debian.sh fuzz
	PYTHON=$(PYTHON) tests/fuzz/run.sh $(FUZZ_SECONDS) $(FUZZ)

ci:  ## Run all checks that a change must pass, in a clean clone
	.ci/run

full:  ## Run everything: about four hours
	$(MAKE) demo lint types
	HYPOTHESIS_PROFILE=thorough $(MAKE) test-all sanitize HANG_SECONDS=7200
	$(MAKE) sanitize-threads docs
	$(MAKE) fuzz FUZZ_SECONDS=$(FULL_FUZZ_SECONDS)
	$(MAKE) bench-smoke
	$(MAKE) wheels
	$(MAKE) -f labs.mk all

##@ Products

docs: $(STAMPS)/with-docs $(INSTALLED)  ## Build the site in build/docs/html and open every page in a browser
	@build_support/debian.sh docs browser
	$(PYTHON) -m sphinx -q -E -W --keep-going -d build/docs/doctrees docs build/docs/html
	$(PYTHON) -m pytest -q tests/docs/test_site.py tests/docs/test_public_names.py

bench: $(TESTING) libsnappy  ## Run the benchmarks against their peers (BENCH=bench/bench_columns.py)
	$(PYTHON) -m pytest -q $(BENCH)

wheels: $(STAMPS)/with-release  ## Build all wheels in wheelhouse/ (WHEELS="cp311-manylinux_x86_64")
	@build_support/debian.sh wheels $$($(PYTHON) -m build_support.wheels --list $(WHEELS) | \
	  grep -q manylinux_aarch64 && echo wheels-aarch64)
	@$(call progress,wheels) $(PYTHON) -m build_support.wheels $(WHEELS)

release: $(STAMPS)/with-release  ## Check the requirements of a release, then tag it (RELEASE=--dry-run)
	$(PYTHON) -m build_support.release $(RELEASE)

# --- unlisted targets: steps of other targets and of .ci/run, and those that CONTRIBUTING.md names

demo-takes:
	@build_support/debian.sh --count build java
	$(if $(wildcard $(INSTALLED)),,$(call say,a first demo takes two to five minutes on two cores and 1.0 GB of disk))

build: $(INSTALLED)

sdist: $(STAMPS)/with-build
	$(PYTHON) setup.py -q sdist

# measures the tables of the founding documents, on the repository's vectors, and writes them to docs/origins.md
origins: $(TESTING)
	RECORDPRESS_VECTORS= $(PYTHON) origins/origins.py

# runs every benchmark once, without timing
bench-smoke: $(TESTING) libsnappy
	$(PYTHON) -m pytest -q --benchmark-disable $(BENCH)

# runs the tests that `make test` omits
test-slow: $(TESTING) java shells
	$(PYTHON) -m pytest -q $(SPREAD) --durations=20 -m slow $(TESTS)

# installs the requirements of the steps that .ci/run runs at the same time
requirements: $(TESTING) $(STAMPS)/with-lint $(STAMPS)/with-docs java
	@build_support/debian.sh bench browser differential docs fuzz aarch64

# runs the benchmarks with the libraries of a wheel
bench-current: $(CURRENT)/.ready $(TESTING) libsnappy
	RECORDPRESS_PREFIX=$(CURRENT) $(PYTHON) setup.py -q build --build-lib $(CURRENT)/recordpress --build-temp $(CURRENT)/temp
	RECORDPRESS_PREFIX=$(CURRENT) PYTHONPATH=$(CURRENT)/recordpress $(PYTHON) -m pytest -q $(BENCH)

clean:
	rm -rf build dist wheelhouse demo/out .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks src/*.egg-info
	find src tests bench build_support -name '*.so' -delete -o -name '__pycache__' -prune -exec rm -rf {} +

clean-all: clean
	rm -rf $(VENV)

help:
	@awk 'BEGIN { FS = ":.*?## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { split($$1, t, ":"); printf "  %-17s %s\n", t[1], $$2 } \
	  END { if (FILENAME == "Makefile") print "\nTasks that need Maven, a broker, a server or an emulator: make -f labs.mk help" }' \
	  $(firstword $(MAKEFILE_LIST))

# --- requirements of the targets

system:
	@build_support/debian.sh build

java:
	@build_support/debian.sh java

libsnappy:
	@build_support/debian.sh bench

shells:
	@build_support/debian.sh shells

$(MADE): | system
	$(call say,creating $(VENV) with $$($(PYTHON3) -V): 10 seconds)
	@$(call progress,$(VENV)) sh -c "$(PYTHON3) -m venv --clear $(VENV) && \
	  $(PYTHON) -m pip install -q --upgrade 'pip >= 25.1'"
	@mkdir $(STAMPS) && touch $@

# How long the packages of each dependency group take to install.
build-takes := 10 seconds
spark-takes := up to three minutes for Spark's 450 MB
demo-takes  := $(spark-takes)
test-takes  := a minute, or up to three if no demo ran before; packages and tests take 1.5 GB of disk
lint-takes  := 10 seconds
docs-takes  := $(spark-takes)
release-takes := a minute (zig is a download of 90 MB)

# A first demo leaves nothing outside the checkout: pip's cache would keep another 0.45 GB of Spark.
demo-pip := $(if $(CI),,--no-cache-dir)

# pip would compile 10,000 modules on one core, which takes as long as the rest.
$(STAMPS)/with-%: pyproject.toml | $(MADE)
	$(call say,packages of "$*": $($*-takes))
	@$(call progress,packages of $*) $(PYTHON) -m pip install --no-input --no-compile --progress-bar raw $($*-pip) --group $*
	@$(PYTHON) -m compileall -qq -j 0 $(VENV)/lib || true # some files are templates, or for other versions of Python
	@touch $@

$(BUILT): $(SOURCES) $(STAMPS)/with-build
	$(call say,compiling what changed: about a minute for everything on two cores)
	$(PYTHON) setup.py -q build_ext --inplace
	@mkdir -p build && touch $@

# The installation points to src, so a changed source only needs compiling.
$(INSTALLED): pyproject.toml | $(BUILT)
	$(call say,installing recordpress in $(VENV): 5 seconds)
	@$(call progress,installation) $(PYTHON) -m pip install -q --no-build-isolation --no-deps -e .
	@touch $@

$(CURRENT)/.ready: build_support/static_libraries.py | $(MADE)
	CC=$${CC:-gcc} $(call progress,C libraries) $(PYTHON) -m build_support.static_libraries $(CURRENT)
	touch $@

.PHONY: demo test check test-all lint types mypy sanitize sanitize-threads fuzz ci full docs bench wheels release \
  demo-takes build test-slow sdist origins bench-smoke requirements bench-current clean clean-all help system java libsnappy shells
