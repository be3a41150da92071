# Tests of one thing, of older Sparks, and of all. `make test` is in the Makefile.

.PHONY: test-older test-matrix test-all test-jvm test-jvm-slow test-python test-python-matrix built built-newest fetched

# Of the older Sparks `make test-matrix` runs all tests on these.
WHOLE := 3.5 4.0

# Of `make test-jvm` and `make test-python`.
SUITE ?=
TEST  ?=

# The main job on each older Spark, with the wheel for all of them.
test-older: built
	$(BIN)/python -m pytest python/tests/package/test_package.py -m "matrix and not extended"
	@$(TWO) $(addprefix test-main-job-,$(OLDER))

# What is slow, and the tests of older Sparks: all of them on the first minor of Spark 3 and of Spark 4, and the statements
# and plans on those between. `make test-all` runs all on each.
test-matrix: fetched
	@$(TWO) test-jvm-slow test-python-matrix
	@$(TWO) $(addprefix test-,$(WHOLE)) $(addprefix test-statements-,$(filter-out $(WHOLE),$(OLDER)))

# The long suites: rivals at every step, plans, every kind of target, Hive, Iceberg beside us, clusters, Java versions, and
# S3 on each Spark.
test-all: test test-older test-matrix $(addprefix test-,$(filter-out $(WHOLE),$(OLDER))) \
		$(addprefix test-store-,$(OLDER)) $(addprefix $(STAMPS)/env-,store readers airflow dbt) $(STAMPS)/javas \
		$(addprefix $(STAMPS)/fetched-,iceberg store yarn parquet)
	EXHAUSTIVE=1 $(SBT) "$(call sbt_name,$(NEWEST))/testOnly org.sparkzorder.commit.*"
	FUZZ_FILES=100000 $(SBT) "$(call sbt_name,$(NEWEST))/testOnly *FuzzSuite"
	$(BIN)/python -m pytest python/tests -m extended
	QUERIES=2000 $(BIN)/python -m pytest python/tests/queries/test_differential.py -m matrix

# `make test-jvm SUITE='*LockSuite'` runs one suite. The tag is ScalaTest's for what takes long.
test-jvm: $(SBT_JAR)
	$(SBT) "$(call sbt_name,$(NEWEST))/testOnly $(or $(SUITE),-- -l org.scalatest.tags.Slow)"

# sbt itself does little where all is compiled: the first compiler of the JVM starts it with a quarter of the work.
test-jvm test-jvm-slow: SBT_FLAGS += -XX:TieredStopAtLevel=1 -XX:+UseSerialGC

test-jvm-slow: $(SBT_JAR)
	$(SBT) "$(call sbt_name,$(NEWEST))/testOnly -- -n org.scalatest.tags.Slow"

# `make test-python TEST='python/tests/statements/test_golden.py -k pack'` runs one test. All of them run in two processes:
# much of their time they wait for processes that they start.
test-python: $(STAMPS)/installed $(STAMPS)/dev $(STAMPS)/env-store $(STAMPS)/fetched-store
	$(BIN)/python -m pytest $(or $(TEST),python/tests -n 2 --dist loadfile -m "not matrix and not extended")

test-python-matrix: $(STAMPS)/installed-all $(STAMPS)/dev
	$(BIN)/python -m pytest python/tests -m "matrix and not extended"

$(addprefix test-main-job-,$(OLDER)): test-main-job-%: $(STAMPS)/installed-%
	$(call older_env,$*) -m pytest python/tests/statements/test_main_job.py

$(addprefix test-,$(OLDER)): test-%: $(STAMPS)/installed-%
	$(call older_env,$*) -m pytest python/tests -m "every_spark and not main_job"

# With the S3A of its Hadoop. A Spark whose Hadoop is that of the newest has no jars of its own in tools/jars.txt.
$(addprefix test-store-,$(OLDER)): test-store-%: $(STAMPS)/installed-% $(STAMPS)/env-store $(STAMPS)/fetched-store \
		$(STAMPS)/fetched-store-%
	$(call older_env,$*) -m pytest python/tests/storage/test_object_store.py

$(addprefix test-statements-,$(OLDER)): test-statements-%: $(STAMPS)/installed-%
	$(call older_env,$*) -m pytest python/tests/statements/test_golden.py python/tests/queries/test_plans.py -m every_spark

# All that `make test` needs. Two pips or two sbts never write into the same folder.
built-newest: $(STAMPS)/env-$(NEWEST)
	@$(TWO) $(STAMPS)/compiled $(STAMPS)/env-store $(STAMPS)/fetched-store
	@$(MAKE) --no-print-directory $(STAMPS)/installed $(STAMPS)/dev

# All that the tests of every Spark need, made two at a time where possible.
built:
	@$(TWO) $(STAMPS)/compiled $(addprefix $(STAMPS)/env-,$(OLDER))
	@$(MAKE) --no-print-directory $(STAMPS)/installed-all $(STAMPS)/dev
	@$(TWO) $(addprefix $(STAMPS)/installed-,$(OLDER)) $(STAMPS)/env-store $(STAMPS)/fetched-store

fetched: built $(STAMPS)/fetched-delta $(STAMPS)/published $(addprefix $(STAMPS)/installed-,connect notebook)
