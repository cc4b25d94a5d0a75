# Every task of the project. `make` alone prints the list.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON3 ?= python3
VENV    := .venv
PYTHON  := $(VENV)/bin/python
export PYTHON3

# Stamps: newer than all that they are made of, or made again.
ENVIRONMENT := $(VENV)/.ready
BUILT       := build/.built
CURRENT     := $(CURDIR)/build/current

BENCH ?= bench

SOURCES := setup.py $(wildcard build_support/*.py include/kpress/*.h) \
           $(shell find src -name '*.pyx' -o -name '*.pxd')

##@ The two commands

demo: $(BUILT) java  ## read Kafka logs into Spark, query them, recompress them, prove that nothing was lost
	$(PYTHON) demo/demo.py

test: $(BUILT) java  ## the whole suite, Spark included (TESTS="tests/record -k name" for a part)
	$(PYTHON) -m pytest -q $(TESTS)

##@ Checks

lint: $(ENVIRONMENT)  ## ruff and cython-lint
	$(PYTHON) -m ruff check .
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" cython-lint src

types: $(BUILT)  ## mypy --strict, and the stubs against the compiled modules
	$(PYTHON) -m mypy src/kpress
	$(PYTHON) -m mypy.stubtest --mypy-config-file pyproject.toml \
	  --allowlist build_support/stubtest-allowlist.txt --ignore-unused-allowlist kpress

sanitize: $(BUILT)  ## the suite (Spark aside) and the C tests under ASan and UBSan
	PYTHON=$(PYTHON) build_support/sanitize.sh $(TESTS)

test-aarch64: $(ENVIRONMENT)  ## the suite (Spark aside) on Debian's arm64 Python, under qemu
	build_support/debian.sh aarch64
	PYTHON=$(PYTHON) build_support/aarch64.sh $(TESTS)

##@ Benchmarks

bench: $(BUILT) libsnappy  ## every benchmark against its peers, answers checked first (BENCH=bench/bench_columns.py for a part)
	$(PYTHON) -m pytest -q $(BENCH)

bench-current: $(CURRENT)/.ready $(BUILT) libsnappy  ## the same with current releases of the codec libraries, as a wheel carries
	KPRESS_PREFIX=$(CURRENT) $(PYTHON) setup.py -q build --build-lib $(CURRENT)/kpress --build-temp $(CURRENT)/temp
	KPRESS_PREFIX=$(CURRENT) PYTHONPATH=$(CURRENT)/kpress $(PYTHON) -m pytest -q $(BENCH)

bench-peers:  ## build the peers in Java, Rust and Go, which `bench` then measures too
	-@build_support/debian.sh bench-peers
	@$(MAKE) --no-print-directory --keep-going -f bench/peers/Makefile

bench-smoke: $(BUILT) libsnappy  ## every benchmark once, without timing: does it run, are the answers right
	$(PYTHON) -m pytest -q --benchmark-disable $(BENCH)

##@ Making things

build: $(BUILT)  ## compile what changed, in place

sdist: $(ENVIRONMENT)  ## dist/kpress-*.tar.gz
	$(PYTHON) setup.py -q sdist

clean:  ## remove what was made (.venv stays: `make clean-all` removes it too)
	rm -rf build dist demo/out .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks src/*.egg-info
	find src tests bench build_support -name '*.so' -delete -o -name '__pycache__' -prune -exec rm -rf {} +

clean-all: clean
	rm -rf $(VENV)

help:  ## this list
	@awk 'BEGIN { FS = ":.*?## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { split($$1, t, ":"); printf "  make %-14s %s\n", t[1], $$2 }' $(MAKEFILE_LIST)

# --- what the targets stand on

system:
	@build_support/debian.sh build

java:
	@build_support/debian.sh java

libsnappy:
	@build_support/debian.sh bench

$(ENVIRONMENT): pyproject.toml | system
	$(PYTHON3) -m venv $(VENV)
	$(PYTHON) -m pip install -q --upgrade 'pip >= 25.1'
	$(PYTHON) -m pip install -q --group dev
	touch $@

# The editable install runs the whole build once; after that only what changed is compiled.
$(VENV)/.installed: $(ENVIRONMENT)
	$(PYTHON) -m pip install -q --no-build-isolation --no-deps -e .
	touch $@

$(BUILT): $(SOURCES) $(VENV)/.installed
	$(PYTHON) setup.py -q build_ext --inplace
	@mkdir -p build && touch $@

$(CURRENT)/.ready: build_support/current_libraries.sh | system
	build_support/current_libraries.sh $(CURRENT)
	touch $@

.PHONY: demo test lint types sanitize test-aarch64 bench bench-current bench-peers bench-smoke build sdist clean clean-all help system java libsnappy
