# Every task of the project. `make` alone prints the list.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # one pip at a time; compilers run side by side anyway

VENV   := .venv
PYTHON := $(VENV)/bin/python

# PYTHON3 is what .venv is made of. Unnamed, it is the Python of the .venv that is there; another one makes it again.
ifndef PYTHON3
PYTHON3 := $(shell ls $(VENV)/.cpython-*/made >/dev/null 2>&1 && $(PYTHON) -c '' 2>/dev/null && echo $(PYTHON) || echo python3)
endif
export PYTHON3
TAG := $(shell $(PYTHON3) -c 'import sys; print(sys.implementation.cache_tag + sys.abiflags)' 2>/dev/null || echo none)

# Stamps: newer than all that they are made of, or made again. Those in .venv are named for its Python, and go with it.
STAMPS    := $(VENV)/.$(TAG)
MADE      := $(STAMPS)/made
BUILT     := build/.built-$(TAG)
INSTALLED := $(STAMPS)/installed
CURRENT   := $(CURDIR)/build/current
TESTING   := $(STAMPS)/with-test $(INSTALLED)

BENCH ?= bench
SPARK_BENCH ?=
FUZZ_SECONDS ?= 60
FULL_FUZZ_SECONDS ?= 600
SETS ?= 200000
STREAMS ?= 1000
UPDATES ?= 1000000
SCHEDULES ?= 10000
PACK_LIMITS ?= 16384,262144,1000000,10000000
# The whole suite runs on all cores, a file at a time; a part of it in one process.
WORKERS ?= $(shell nproc 2>/dev/null || echo 2)
SPREAD = $(if $(TESTS),,-n $(WORKERS) --dist loadfile)

SOURCES := setup.py src/recordpress/_extension_finder.py $(wildcard build_support/*.py include/recordpress/*.h) \
           $(shell find src -name '*.pyx' -o -name '*.pxd')

say = @echo "recordpress: $(1)" >&2

##@ The two commands

demo: $(STAMPS)/with-demo $(INSTALLED) java  ## Kafka logs in Spark: inventory, estimate, query, a recompressed copy with proof, Parquet, a report
	$(PYTHON) demo/demo.py

test: $(TESTING) java  ## the whole suite, Spark included (TESTS="tests/record -k name" for a part)
	$(call say,running the tests: about ten minutes in all)
	$(PYTHON) -m pytest -q $(SPREAD) $(TESTS)

##@ Checks

lint: $(STAMPS)/with-lint  ## ruff, cython-lint, zizmor for the workflows, and the spelling of everything
	$(PYTHON) -m ruff check .
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" cython-lint src
	$(VENV)/bin/zizmor --quiet --offline .github/workflows
	git ls-files -z | xargs -0 $(VENV)/bin/codespell

types: $(TESTING)  ## mypy --strict, and the stubs against the compiled modules
	$(PYTHON) -m mypy src/recordpress
	$(PYTHON) -m mypy.stubtest --mypy-config-file pyproject.toml \
	  --allowlist build_support/stubtest-allowlist.txt --ignore-unused-allowlist recordpress

sanitize: $(TESTING)  ## the suite (Spark aside) and the C tests under ASan and UBSan
	PYTHON=$(PYTHON) build_support/sanitize.sh $(SPREAD) $(TESTS)

sanitize-threads: $(TESTING)  ## the readers' threads under ThreadSanitizer
	PYTHON=$(PYTHON) build_support/sanitize_threads.sh $(TESTS)

free-threading: $(MADE)  ## a CPython 3.13 without the GIL is compiled, and many threads try recordpress on it
	@build_support/debian.sh build
	PYTHON=$(PYTHON) build_support/free_threading.sh $(TESTS)

differential: $(TESTING)  ## Kafka's own classes and recordpress read the same sets, and answer the same Produce requests and fetches
	@build_support/debian.sh differential
	$(MAKE) -f bench/peers/Makefile build/bench/peers/java/.jars
	$(PYTHON) -m pytest -q tests/hostile/test_beside_kafka.py
	$(MAKE) $(OLD_JARS)/3.9.2/.jars
	RECORDPRESS_FETCH_SETS=10000 $(PYTHON) -m pytest -q tests/compat/test_fetch_conversion.py
	$(MAKE) broker-rules producer-rules old-brokers

broker-rules: $(TESTING)  ## the classes of brokers 3.9 and 4.3 and recordpress.broker answer the same SETS of Produce requests
	@build_support/debian.sh differential
	$(MAKE) build/broker/.jars $(OLD_JARS)/3.9.2/.jars
	RECORDPRESS_BROKER_SETS=$(SETS) $(PYTHON) -m pytest -q tests/compat/test_broker_rules.py

producer-rules: $(TESTING)  ## Kafka's own producer and recordpress.producer fill, send and split STREAMS streams of records; pack on real lines
	@build_support/debian.sh differential
	$(MAKE) build/broker/.jars
	RECORDPRESS_PRODUCER_STREAMS=$(STREAMS) RECORDPRESS_PRODUCER_UPDATES=$(UPDATES) RECORDPRESS_PRODUCER_SCHEDULES=$(SCHEDULES) \
	  RECORDPRESS_PACK_LIMITS=$(PACK_LIMITS) $(PYTHON) -m pytest -q tests/compat/test_producer_rules.py \
	  tests/producer/test_splitting.py tests/producer/test_pack_sizes.py

OLD_BROKERS := 0.8.2.2 0.9.0.1 0.10.0.1 0.10.2.2 0.11.0.3 1.1.1 2.3.1 2.4.1 2.8.2 3.9.2
OLD_JARS    := build/old-brokers

old-brokers: $(TESTING) $(STAMPS)/with-old-brokers  ## brokers from 0.8.2 to 3.9 are asked again what they do with a thousand record sets
	@build_support/debian.sh differential
	$(MAKE) $(OLD_BROKERS:%=$(OLD_JARS)/%/.jars)
	$(PYTHON) -m pytest -q tests/broker/old

$(OLD_JARS)/%/.jars: tests/broker/old/pom.xml tests/broker/old/jars.sha512
	rm -rf $(@D)
	mvn -B -q -Dstyle.color=never -f $< -Dkafka=$* -Dscala=$(call scala,$*) \
	  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory='$(CURDIR)/$(@D)'
	cd $(@D) && ! sha512sum *.jar | grep -vxFf '$(CURDIR)/tests/broker/old/jars.sha512'
	touch $@

# the Scala that the brokers of a release line were published for
scala = $(if $(filter 0.% 1.%,$1),2.11,$(if $(filter 2.%,$1),2.12,2.13))

broker: $(TESTING)  ## brokers are started on repaired, transcoded, converted and written logs, serve every record, and answer every Fetch
	@build_support/debian.sh differential
	$(MAKE) build/broker/.jars $(OLD_JARS)/3.9.2/.jars
	$(PYTHON) -m pytest -q tests/log/test_broker.py tests/log/test_broker_fetch.py \
	  tests/analysis/test_analyze_beside_kafka.py \
	  tests/producer/test_pack_broker.py tests/spark/test_sink_broker.py tests/compat/test_internal_topics.py \
	  tests/adapters/test_adapters_broker.py

AZURITE := build/azurite/node_modules/azurite/dist/src/blob/main.js

azure: $(TESTING) $(AZURITE)  ## the file systems' tests against Azurite, Azure's own server for tests (from npm, so not in `full`)
	RECORDPRESS_AZURITE=$(AZURITE) $(PYTHON) -m pytest -q tests/files/test_file_systems.py

$(AZURITE):
	@build_support/debian.sh azurite
	npm install --silent --no-audit --no-fund --prefix build/azurite azurite@3.37.0

hdfs: $(TESTING) java  ## the file systems' tests against Hadoop's cluster for tests; ARROW_LIBHDFS_DIR says where libhdfs.so is
	@test -n "$(ARROW_LIBHDFS_DIR)" || { echo 'make hdfs ARROW_LIBHDFS_DIR=DIR: where libhdfs.so of a Hadoop is'; exit 2; }
	mvn -B -q -Dstyle.color=never -f tests/files/hadoop/pom.xml \
	  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory='$(CURDIR)/build/hadoop'
	JAVA_HOME="$${JAVA_HOME:-$$(dirname "$$(dirname "$$(readlink -f "$$(command -v java)")")")}" \
	  ARROW_LIBHDFS_DIR='$(ARROW_LIBHDFS_DIR)' CLASSPATH="$$(echo build/hadoop/*.jar | tr ' ' ':')" \
	  $(PYTHON) -m pytest -q tests/files/test_file_systems.py tests/files/test_hdfs.py

nfs: $(TESTING)  ## two hosts write to one place: NFS="/mnt/a /mnt/b" are two mounts of one export, one with nosharecache
	@test -n "$(word 2,$(NFS))" || { echo 'make nfs NFS="DIR DIR": two mounts of one export'; exit 2; }
	RECORDPRESS_NFS='$(NFS)' $(PYTHON) -m pytest -q tests/files/test_two_hosts.py

clients: $(TESTING)  ## the record tests of aiokafka and kafka-python, from their sources, with recordpress.adapters under them
	@build_support/clients.sh build/clients $(PYTHON)
	RECORDPRESS_CLIENT_SOURCES=build/clients $(PYTHON) -m pytest -q tests/adapters/test_the_clients_own.py

CONNECTOR := build/bench/spark-connector
SPARKS := 4.0.0 4.1.4 4.2.1

spark-versions: $(SPARKS:%=build/spark/%/.tried)  ## older release lines of Spark, each in an environment of its own, try a query of each kind

build/spark/%/.tried: $(TESTING) java $(shell find src/recordpress/spark -name '*.py') tests/spark/test_spark_smoke.py
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install -q --upgrade 'pip >= 25.1'
	$(@D)/bin/python -m pip install -q 'pyspark == $*' 'pandas >= 2.2, < 3' 'pyarrow >= 15' --group tools
	PYTHONPATH=src $(@D)/bin/python -m pytest -q -o filterwarnings= -W ignore tests/spark/test_spark_smoke.py
	touch $@

spark-connector: $(TESTING) java $(CONNECTOR)/.ready  ## queries through Spark 4.0.0's Kafka connector and a broker, and of its directory: the same rows
	PYTHONPATH=src $(CONNECTOR)/venv/bin/python -m pytest -q -o filterwarnings= -W ignore tests/spark/test_spark_connector.py

report: $(TESTING)  ## the reports of recordpress analyze and of the demo in a headless browser, light and dark
	@build_support/debian.sh browser
	$(PYTHON) -m pytest -q tests/analysis/test_report.py tests/spark/test_report_page.py

docs: $(STAMPS)/with-docs $(INSTALLED)  ## the site, build/docs/html: warnings are errors, links and names are checked, a browser opens every page
	@build_support/debian.sh docs browser
	$(PYTHON) -m sphinx -q -E -W --keep-going -d build/docs/doctrees docs build/docs/html
	$(PYTHON) -m pytest -q tests/docs/test_site.py tests/docs/test_public_names.py

plugin: $(TESTING)  ## examples/recordpress-codec-brotli, a codec plug-in, installed and tested as its users would
	$(PYTHON) -m pip install -q './examples/recordpress-codec-brotli[test]'
	cd examples/recordpress-codec-brotli && $(abspath $(PYTHON)) -m pytest -q

build/broker/.jars: tests/log/kafka/pom.xml tests/log/kafka/jars.sha512
	rm -rf $(@D)
	mvn -B -q -Dstyle.color=never -f $< \
	  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory='$(CURDIR)/$(@D)'
	cd $(@D) && sha512sum --quiet --check '$(CURDIR)/tests/log/kafka/jars.sha512'
	touch $@

fuzz: $(TESTING)  ## every fuzz target for FUZZ_SECONDS each (FUZZ="snappy record" for some of them)
	build_support/debian.sh fuzz
	PYTHON=$(PYTHON) tests/fuzz/run.sh $(FUZZ_SECONDS) $(FUZZ)

test-aarch64: $(STAMPS)/with-build  ## the suite (Spark aside) on Debian's arm64 Python, under qemu
	build_support/debian.sh aarch64
	PYTHON=$(PYTHON) build_support/aarch64.sh $(TESTS)

full: lint types  ## all of the above, the long way: properties drawn thoroughly, FULL_FUZZ_SECONDS for each fuzz target
	$(call say,about four hours)
	$(MAKE) demo
	HYPOTHESIS_PROFILE=thorough $(MAKE) test sanitize
	$(MAKE) sanitize-threads free-threading differential broker clients report docs spark-versions spark-connector
	$(MAKE) fuzz FUZZ_SECONDS=$(FULL_FUZZ_SECONDS)
	$(MAKE) test-aarch64 bench-smoke
	$(MAKE) wheels && $(MAKE) test-wheels
	$(MAKE) bench-spark SPARK_BENCH='--batches 40 --segments 20 --rounds 1'

##@ Benchmarks

bench: $(TESTING) libsnappy  ## every benchmark against its peers, answers checked first (BENCH=bench/bench_columns.py for a part)
	$(PYTHON) -m pytest -q $(BENCH)

bench-current: $(CURRENT)/.ready $(TESTING) libsnappy  ## the same with the libraries that a wheel carries: what its users get
	RECORDPRESS_PREFIX=$(CURRENT) $(PYTHON) setup.py -q build --build-lib $(CURRENT)/recordpress --build-temp $(CURRENT)/temp
	RECORDPRESS_PREFIX=$(CURRENT) PYTHONPATH=$(CURRENT)/recordpress $(PYTHON) -m pytest -q $(BENCH)

bench-peers:  ## build the peers in Java, Rust and Go, which `bench` then measures too
	-@build_support/debian.sh bench-peers
	@$(MAKE) --no-print-directory --keep-going -f bench/peers/Makefile

bench-spark: $(TESTING) java  ## Spark beside prebuilt Arrow batches, a pool of processes, df.write.parquet (SPARK_BENCH="ceiling --batches 4000")
	$(PYTHON) -m bench.spark $(SPARK_BENCH)

bench-spark-connector: $(TESTING) $(CONNECTOR)/.ready  ## Spark 4.0.0's Kafka connector and a broker, beside their files (SPARK_BENCH="--batches 2000")
	PYTHONPATH=src:$(CURDIR) $(CONNECTOR)/venv/bin/python -m bench.spark connector $(SPARK_BENCH)

# later versions of the connector do not resolve
$(CONNECTOR)/.ready: bench/spark/connector.xml | $(TESTING)
	@build_support/debian.sh differential
	$(MAKE) build/broker/.jars
	rm -rf $(@D)
	mvn -B -q -Dstyle.color=never -f $< \
	  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory='$(CURDIR)/$(@D)'
	$(PYTHON) -m venv $(@D)/venv
	$(@D)/venv/bin/python -m pip install -q --upgrade 'pip >= 25.1'
	$(@D)/venv/bin/python -m pip install -q 'pyspark == 4.0.0' 'pyarrow >= 18' 'pandas >= 2.2, < 3' 'kafka-python >= 2.1' --group tools
	touch $@

bench-smoke: $(TESTING) libsnappy  ## every benchmark once, without timing: does it run, are the answers right
	$(PYTHON) -m pytest -q --benchmark-disable $(BENCH)

##@ Making things

build: $(INSTALLED)  ## compile what changed, in place

sdist: $(STAMPS)/with-build  ## dist/recordpress-*.tar.gz
	$(PYTHON) setup.py -q sdist

wheels: $(STAMPS)/with-release  ## all wheels of a release in wheelhouse/, without containers (WHEELS="cp311-manylinux_x86_64" for some)
	@build_support/debian.sh wheels
	$(PYTHON) -m build_support.wheels $(WHEELS)

test-wheels: $(STAMPS)/with-release  ## the wheels as their users get them: Debian 11 to 13 and testing, musl, arm64 under qemu
	@build_support/debian.sh wheels roots
	$(PYTHON) -m build_support.roots $(ROOTS)

release: $(STAMPS)/with-release  ## what a release needs, checked: version, changes, tag, sdist, wheels, licences (RELEASE=--dry-run)
	$(PYTHON) -m build_support.release $(RELEASE)

clean:  ## remove what was made (.venv stays: `make clean-all` removes it too)
	rm -rf build dist wheelhouse demo/out .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks src/*.egg-info
	find src tests bench build_support -name '*.so' -delete -o -name '__pycache__' -prune -exec rm -rf {} +

clean-all: clean
	rm -rf $(VENV)

help:  ## this list
	@awk 'BEGIN { FS = ":.*?## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { split($$1, t, ":"); printf "  make %-17s %s\n", t[1], $$2 }' $(MAKEFILE_LIST)

# --- what the targets stand on

system:
	@build_support/debian.sh build

java:
	@build_support/debian.sh java

libsnappy:
	@build_support/debian.sh bench

$(MADE): | system
	$(call say,making $(VENV) with $$($(PYTHON3) -V): 10 seconds)
	$(PYTHON3) -m venv --clear $(VENV)
	$(PYTHON) -m pip install -q --upgrade 'pip >= 25.1'
	@mkdir $(STAMPS) && touch $@

# What each dependency group of pyproject.toml adds to the environment.
build-takes := 10 seconds
demo-takes  := one to three minutes (Spark is a download of 450 MB)
test-takes  := one to three minutes (Spark, if it is not there, is a download of 450 MB)
lint-takes  := 10 seconds
docs-takes  := one to three minutes (Spark, if it is not there, is a download of 450 MB)
release-takes := a minute (zig is a download of 90 MB)

$(STAMPS)/with-%: pyproject.toml | $(MADE)
	$(call say,installing the packages of "$*": $($*-takes))
	$(PYTHON) -m pip install -q --group $*
	@touch $@

$(BUILT): $(SOURCES) $(STAMPS)/with-build
	$(call say,compiling what changed: about a minute for everything on two cores)
	$(PYTHON) setup.py -q build_ext --inplace
	@mkdir -p build && touch $@

# The installation points to src: a source that changed is only compiled.
$(INSTALLED): pyproject.toml | $(BUILT)
	$(PYTHON) -m pip install -q --no-build-isolation --no-deps -e .
	@touch $@

$(CURRENT)/.ready: build_support/static_libraries.py | $(MADE)
	CC=$${CC:-gcc} $(PYTHON) -m build_support.static_libraries $(CURRENT)
	touch $@

.PHONY: azure hdfs nfs spark-versions spark-connector demo test docs lint types sanitize sanitize-threads free-threading differential broker-rules producer-rules old-brokers broker report plugin fuzz full test-aarch64 bench bench-current bench-peers bench-spark bench-spark-connector bench-smoke build sdist clean clean-all help system java libsnappy wheels test-wheels release
