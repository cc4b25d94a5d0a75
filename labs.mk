# Tasks that need Maven, a broker, a server, a mount, an emulator or sources of other projects. `make -f labs.mk help`
# lists them. Each installs its requirements: Debian packages, PyPI packages in separate environments, Maven jars.

include Makefile
.DEFAULT_GOAL := help

mvn = $(call progress,Maven) mvn -B -q -Dstyle.color=never

SPARK_BENCH ?=
LIVE_BENCH ?=
SOAK ?= 30
SETS ?= 200000
STREAMS ?= 1000
UPDATES ?= 1000000
SCHEDULES ?= 10000
PACK_LIMITS ?= 16384,262144,1000000,10000000

##@ Comparisons with Kafka's own classes and brokers

differential: $(TESTING)  ## Compare with Kafka's own classes on the same sets, requests and fetches
	@build_support/debian.sh differential
	$(MAKE) -f bench/peers/Makefile build/bench/peers/java/.jars
	$(PYTHON) -m pytest -q tests/hostile/test_beside_kafka.py
	$(MAKE) -f labs.mk $(OLD_JARS)/3.9.2/.jars
	RECORDPRESS_FETCH_SETS=10000 $(PYTHON) -m pytest -q tests/compat/test_fetch_conversion.py
	$(MAKE) -f labs.mk broker-rules producer-rules old-brokers

broker-rules: $(TESTING)  ## Compare answers to SETS Produce requests with those of the classes of brokers 3.9, 4.3 and 4.4
	@build_support/debian.sh differential
	$(MAKE) -f labs.mk build/broker/.jars build/broker-4.4/.jars $(OLD_JARS)/3.9.2/.jars
	RECORDPRESS_BROKER_SETS=$(SETS) $(PYTHON) -m pytest -q tests/compat/test_broker_rules.py

producer-rules: $(TESTING)  ## Compare the batches of STREAMS streams with those of the producers of 4.3 and 4.4
	@build_support/debian.sh differential
	$(MAKE) -f labs.mk build/broker/.jars build/broker-4.4/.jars
	RECORDPRESS_PRODUCER_STREAMS=$(STREAMS) RECORDPRESS_PRODUCER_UPDATES=$(UPDATES) RECORDPRESS_PRODUCER_SCHEDULES=$(SCHEDULES) \
	  RECORDPRESS_PACK_LIMITS=$(PACK_LIMITS) $(PYTHON) -m pytest -q tests/compat/test_producer_rules.py \
	  tests/producer/test_splitting.py tests/producer/test_pack_sizes.py

OLD_BROKERS := 0.8.2.2 0.9.0.1 0.10.0.1 0.10.2.2 0.11.0.3 1.1.1 2.3.1 2.4.1 2.8.2 3.9.2
OLD_JARS    := build/old-brokers

old-brokers: $(TESTING) $(STAMPS)/with-old-brokers  ## Repeat about a thousand record sets on brokers from 0.8.2 to 3.9
	@build_support/debian.sh differential
	$(MAKE) -f labs.mk $(OLD_BROKERS:%=$(OLD_JARS)/%/.jars)
	$(PYTHON) -m pytest -q tests/broker/old

$(OLD_JARS)/%/.jars: tests/broker/old/pom.xml tests/broker/old/jars.sha512
	rm -rf $(@D)
	$(mvn) -f $< -Dkafka=$* -Dscala=$(call scala,$*) \
	  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory='$(CURDIR)/$(@D)'
	cd $(@D) && ! sha512sum *.jar | grep -vxFf '$(CURDIR)/tests/broker/old/jars.sha512'
	touch $@

# the Scala version of a broker release
scala = $(if $(filter 0.% 1.%,$1),2.11,$(if $(filter 2.%,$1),2.12,2.13))

broker: $(TESTING)  ## Start brokers on logs that recordpress wrote, and read every record (SLICE=1: fewer starts)
	@build_support/debian.sh differential
	$(MAKE) -f labs.mk build/broker/.jars build/broker-4.4/.jars $(OLD_JARS)/3.9.2/.jars
	$(PYTHON) -m pytest -q $(SPREAD) tests/log/test_broker.py tests/log/test_broker_fetch.py \
	  tests/log/check/test_recovery_beside_kafka.py tests/log/test_broker_producers.py \
	  tests/analysis/test_analyze_beside_kafka.py \
	  tests/producer/test_pack_broker.py tests/spark/test_sink_broker.py \
	  tests/compat/test_internal_topics.py tests/compat/test_dump_tool.py \
	  tests/adapters/test_adapters_broker.py tests/adapters/test_live_broker.py

##@ Stores, mounts and clients

AZURITE := build/azurite/node_modules/azurite/dist/src/blob/main.js

azure: $(TESTING) $(AZURITE)  ## Test the file systems against Azurite, Azure's own test server
	RECORDPRESS_AZURITE=$(AZURITE) $(PYTHON) -m pytest -q tests/files/test_file_systems.py

$(AZURITE):
	@build_support/debian.sh azurite
	$(call progress,npm) npm install --silent --no-audit --no-fund --prefix build/azurite azurite@3.37.0

hdfs: $(TESTING) java  ## Test the file systems against Hadoop (ARROW_LIBHDFS_DIR=DIR has libhdfs.so)
	@test -n "$(ARROW_LIBHDFS_DIR)" || { echo "set ARROW_LIBHDFS_DIR to the directory with Hadoop's libhdfs.so"; exit 2; }
	$(mvn) -f tests/files/hadoop/pom.xml \
	  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory='$(CURDIR)/build/hadoop'
	JAVA_HOME="$${JAVA_HOME:-$$(dirname "$$(dirname "$$(readlink -f "$$(command -v java)")")")}" \
	  ARROW_LIBHDFS_DIR='$(ARROW_LIBHDFS_DIR)' CLASSPATH="$$(echo build/hadoop/*.jar | tr ' ' ':')" \
	  $(PYTHON) -m pytest -q tests/files/test_file_systems.py tests/files/test_hdfs.py

nfs: $(TESTING)  ## Write from two hosts: NFS="/mnt/a /mnt/b" are two mounts of one export
	@test -n "$(word 2,$(NFS))" || { echo 'set NFS="DIR DIR" to two mounts of one export'; exit 2; }
	RECORDPRESS_NFS='$(NFS)' $(PYTHON) -m pytest -q tests/files/test_two_hosts.py

clients: $(TESTING)  ## Run the record tests of aiokafka and kafka-python with the adapters
	@build_support/clients.sh build/clients $(PYTHON)
	RECORDPRESS_CLIENT_SOURCES=build/clients $(PYTHON) -m pytest -q tests/adapters/test_the_clients_own.py

CONNECTOR := build/bench/spark-connector
SPARKS := 4.1.4 4.2.1

spark-versions: $(SPARKS:%=build/spark/%/.tried)  ## Run a query of each kind on older releases of Spark

build/spark/%/.installed: | $(TESTING) java
	$(PYTHON) -m venv --clear $(@D)
	$(call progress,pip) $(@D)/bin/python -m pip install -q --upgrade 'pip >= 25.1'
	$(call progress,PySpark $*) $(@D)/bin/python -m pip install -q 'pyspark == $*' 'pandas >= 2.2, < 3' 'pyarrow >= 15' --group tools
	touch $@

.PRECIOUS: build/spark/%/.installed

build/spark/%/.tried: build/spark/%/.installed $(shell find src/recordpress/spark -name '*.py') tests/spark/test_spark_smoke.py
	PYTHONPATH=src $(@D)/bin/python -m pytest -q -o filterwarnings= -W ignore tests/spark/test_spark_smoke.py
	touch $@

spark-connector: $(TESTING) java $(CONNECTOR)/.ready  ## Compare rows with Spark 4.0.0's Kafka connector and a broker
	$(PYTHON) -m pytest -q tests/spark/test_spark_connector.py

spark-avro: $(TESTING) java build/spark-avro/.ready  ## Decode values of a schema registry with Spark's package for Avro
	$(PYTHON) -m pytest -q tests/spark/test_spark_sql.py::test_the_statements_of_the_page

build/spark-avro/.ready: tests/spark/avro.xml | $(TESTING)
	@build_support/debian.sh differential
	rm -rf $(@D)
	$(mvn) -f $< \
	  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory='$(CURDIR)/$(@D)'
	touch $@

# the Spark for which Iceberg and Delta have packages
TABLES_SPARK := 4.1.4

spark-tables: build/spark/$(TABLES_SPARK)/.installed build/spark-tables/.ready  ## Write topics to Iceberg and Delta and back, while drivers are killed
	PYTHONPATH=src build/spark/$(TABLES_SPARK)/bin/python -m pytest -q -o filterwarnings= -W ignore tests/spark/test_spark_tables.py

build/spark-tables/.ready: tests/spark/tables.xml tests/spark/tables.sha512 | $(TESTING)
	@build_support/debian.sh differential
	rm -rf $(@D)
	$(mvn) -f $< \
	  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory='$(CURDIR)/$(@D)'
	cd $(@D) && sha512sum --quiet -c '$(CURDIR)/tests/spark/tables.sha512'
	touch $@

##@ Other systems

free-threading: $(MADE)  ## Compile a CPython 3.13 without the GIL and test threads on it
	@build_support/debian.sh build
	PYTHON=$(PYTHON) build_support/free_threading.sh $(TESTS)

test-aarch64: $(STAMPS)/with-build  ## Run the suite without Spark on an emulated 64-bit ARM
	build_support/debian.sh aarch64
	PYTHON=$(PYTHON) build_support/aarch64.sh $(TESTS)

test-wheels: $(STAMPS)/with-release  ## Test the wheels on Debian 11 to 13 and testing, musl and arm64
	@build_support/debian.sh wheels roots
	$(PYTHON) -m build_support.roots $(ROOTS)

##@ Pages and packages

report: $(TESTING)  ## Open the reports in a browser
	@build_support/debian.sh browser
	$(PYTHON) -m pytest -q tests/analysis/test_report.py tests/spark/test_report_page.py

plugin: $(TESTING)  ## Install and test examples/recordpress-codec-brotli
	$(call progress,plug-in) $(PYTHON) -m pip install -q './examples/recordpress-codec-brotli[test]'
	cd examples/recordpress-codec-brotli && $(abspath $(PYTHON)) -m pytest -q

##@ Benchmarks

bench-peers:  ## Build the peers in Java, Rust and Go for make bench
	-@build_support/debian.sh bench-peers
	@$(MAKE) --no-print-directory --keep-going -f bench/peers/Makefile

LIVE := build/bench/live

live: $(TESTING) $(LIVE)/.ready  ## Send and fetch a million records through a broker, and compare with other clients
	@build_support/debian.sh differential
	$(MAKE) -f labs.mk build/broker/.jars
	$(PYTHON) -m bench.live $(LIVE_BENCH)

live-soak: $(TESTING)  ## Consume columns in a group that rebalances every 20 s, for SOAK minutes (30)
	@build_support/debian.sh differential
	$(MAKE) -f labs.mk build/broker/.jars
	$(PYTHON) -W ignore -m bench.live_soak --minutes $(SOAK)

# peers that nothing else needs; without them the table has fewer lines
$(LIVE)/.ready: | $(TESTING)
	rm -rf $(@D)
	mkdir -p $(@D)
	-$(call progress,peers) $(PYTHON) -m pip install -q --no-deps --target $(@D) 'confluent-kafka == 2.16.1' 'kafkars == 0.0.8'
	touch $@

bench-spark: $(TESTING) java  ## Measure Spark against its ceiling (SPARK_BENCH="ceiling --batches 4000")
	$(PYTHON) -m bench.spark $(SPARK_BENCH)

bench-spark-connector: $(TESTING) java $(CONNECTOR)/.ready  ## Compare speed with Spark's connector (SPARK_BENCH="--batches 2000")
	$(PYTHON) -m bench.spark connector $(SPARK_BENCH)

BENCH_TABLES := build/bench/spark-tables

bench-spark-tables: build/spark/$(TABLES_SPARK)/.installed build/spark-tables/.ready $(CONNECTOR)/.ready $(BENCH_TABLES)/.ready  ## Write a topic to Iceberg, and compare with Spark's connector (SPARK_BENCH="--batches 1000")
	$(PYTHON) -m bench.spark tables $(SPARK_BENCH)

$(BENCH_TABLES)/.ready: bench/spark/tables.xml | $(TESTING)
	rm -rf $(@D)
	$(mvn) -f $< \
	  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory='$(CURDIR)/$(@D)'
	touch $@

# the connector and a Spark 4.0.0 for it: later versions of the connector do not resolve
$(CONNECTOR)/.ready: bench/spark/connector.xml | $(TESTING)
	@build_support/debian.sh differential
	$(MAKE) -f labs.mk build/broker/.jars
	rm -rf $(@D)
	$(mvn) -f $< \
	  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory='$(CURDIR)/$(@D)'
	$(PYTHON) -m venv $(@D)/venv
	$(call progress,pip) $(@D)/venv/bin/python -m pip install -q --upgrade 'pip >= 25.1'
	$(call progress,PySpark 4.0.0) $(@D)/venv/bin/python -m pip install -q 'pyspark == 4.0.0'
	touch $@

build/broker/.jars: KAFKA := 4.3.1
build/broker-4.4/.jars: KAFKA := 4.4.0
build/broker/.jars build/broker-4.4/.jars: tests/log/kafka/pom.xml tests/log/kafka/jars.sha512
	rm -rf $(@D)
	$(mvn) -f $< -Dkafka=$(KAFKA) \
	  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory='$(CURDIR)/$(@D)'
	cd $(@D) && ! sha512sum *.jar | grep -vxFf '$(CURDIR)/tests/log/kafka/jars.sha512'
	touch $@

all: free-threading differential broker clients report plugin spark-versions spark-connector spark-avro spark-tables
	$(MAKE) -f labs.mk test-aarch64 test-wheels
	$(MAKE) -f labs.mk bench-spark SPARK_BENCH='--batches 40 --segments 20 --rounds 1'

.PHONY: differential broker-rules producer-rules old-brokers broker azure hdfs nfs clients spark-versions \
  spark-connector spark-avro spark-tables free-threading test-aarch64 test-wheels report plugin bench-peers live live-soak bench-spark bench-spark-connector bench-spark-tables all
