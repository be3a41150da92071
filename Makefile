# What people use. Python 3.10+, Java 17+ (a JDK) and make suffice: each target sets up all that it needs. Work is remembered
# in build/ and .venv/, so that a second run starts at once. CONTRIBUTING.md lists the targets for developers, in make/*.mk.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check docs wheel wheel-all release clean

include make/settings.mk

# Of `make demo`.
DATA  ?= flights
SCALE ?= 1

help:
	@echo "make demo               cluster 336,776 real flights: the files, MB and ms of five questions, and a picture"
	@echo "make demo DATA=tpch     the same on TPC-H's wide table, six million rows (SCALE=1)"
	@echo "make test               every main behaviour once, on Spark $(NEWEST)"
	@echo "make test-rest          what takes longer"
	@echo "make check              formatting, compiler warnings, types, and the tests of pages and packaging"
	@echo "make docs               the pages as a site, in build/site"
	@echo "make wheel              a Python package for the Spark that is installed here, else for Spark $(NEWEST)"
	@echo "make wheel SPARK=$(firstword $(SPARKS))    a Python package for another Spark: $(SPARKS)"
	@echo "make wheel-all          a Python package for each of these Sparks"
	@echo "make release            all files of a public release, checked but not uploaded, in build/release"
	@echo "make clean              remove build/, .venv/ and compiled classes"
	@echo "CONTRIBUTING.md lists the targets for developers: one suite, older Sparks, long runs, benchmarks."

demo: $(STAMPS)/installed
	@$(BIN)/python python/demo/main.py --data $(DATA) --scale $(SCALE) --out build/demo

# Every main behaviour, on the newest Spark. One JVM and one session of Python keep two cores busy.
test: built-newest
	@$(call both,$(call tags,-l,TestRest TestAll),-m "not test_rest and not test_all",$(MOST))

check: $(SBT_JAR) $(STAMPS)/installed $(STAMPS)/dev $(addprefix $(STAMPS)/env-,$(OLDER))
	$(BIN)/ruff check python
	$(BIN)/ruff format --check python
	$(BIN)/ruff check --config python/pyproject.toml tools bench
	$(BIN)/ruff format --check --config python/pyproject.toml tools bench
	cd python && ../$(BIN)/mypy
	$(BIN)/python tools/words.py
	$(SBT) -Dfatal.warnings=true scalafmtCheckAll $(call sbt_name,$(NEWEST))/Test/compile \
		$(foreach m,$(OLDER),$(call sbt_name,$(m))/compile)
	$(BIN)/python -m pytest python/tests/docs python/tests/building -q -n 2 --dist loadfile -m "not test_all"

docs: $(STAMPS)/env-docs
	NO_MKDOCS_2_WARNING=1 build/envs/docs/bin/python -m mkdocs build --strict
	@echo build/site/index.html

wheel:
	@spark=$$(sh tools/wheel-spark "$(PYTHON)" "$(SPARK)") && \
		$(MAKE) --no-print-directory wheel-of JARS_FOR="$$spark" TOOLS="$$spark"

# The downloads of the older Sparks go on while the newest compiles.
wheel-all:
	@$(MAKE) -j3 --no-print-directory $(call jar,$(NEWEST)) $(addprefix $(STAMPS)/env-,$(OLDER))
	@$(MAKE) --no-print-directory $(STAMPS)/jars-older
	@$(MAKE) --no-print-directory wheel-of JARS_FOR="$(SPARKS)"

release:
	@$(MAKE) --no-print-directory release-files

clean:
	rm -rf build $(VENV) jvm/target target project/target project/project python/src/spark_zorder/jars

include make/envs.mk make/jars.mk make/package.mk make/release.mk make/tests.mk make/long.mk make/bench.mk make/develop.mk
