# Tests of one thing, of older Sparks, and of all. `make test` is in the Makefile.

.PHONY: test-rest test-older test-all test-jvm test-python built built-newest fetched

# Of `make test-jvm` and `make test-python`.
SUITE ?=
TEST  ?=

# Both runners side by side, with a line for each suite and file: tags of ScalaTest and marks of pytest to take and to
# leave out, and the most seconds of a suite.
both = $(BIN)/python tools/test_run.py $(3) \
	-- $(SBT) "$(call sbt_name,$(NEWEST))/testOnly -- $(1) -C org.sparkzorder.SuiteLines" \
	-- $(BIN)/python -m pytest python/tests -q -n 2 --dist loadfile -m "$(2)"

# What `make test` leaves out since it takes long.
test-rest: built-newest
	@$(call both,-n org.sparkzorder.TestRest -l org.sparkzorder.TestAll,test_rest and not test_all)

# The main job on each older Spark, with the wheel for all of them.
test-older: built
	$(BIN)/python -m pytest python/tests/package/test_package.py -m test_all
	@$(TWO) $(addprefix test-main-job-,$(OLDER))

# The long suites: rivals at every step, plans, every kind of target, Hive, Iceberg beside us, clusters, Java versions, and
# all tests and S3 on each Spark.
test-all: test test-rest test-older fetched $(addprefix test-,$(OLDER)) \
		$(addprefix test-store-,$(OLDER)) $(addprefix $(STAMPS)/env-,store readers airflow dbt) $(STAMPS)/javas \
		$(addprefix $(STAMPS)/fetched-,iceberg store yarn parquet)
	$(SBT) "$(call sbt_name,$(NEWEST))/testOnly -- -n org.sparkzorder.TestAll"
	EXHAUSTIVE=1 $(SBT) "$(call sbt_name,$(NEWEST))/testOnly org.sparkzorder.commit.*"
	FUZZ_FILES=100000 $(SBT) "$(call sbt_name,$(NEWEST))/testOnly *FuzzSuite"
	$(BIN)/python -m pytest python/tests -m test_all
	QUERIES=2000 $(BIN)/python -m pytest python/tests/queries/test_differential.py -m test_all

# `make test-jvm SUITE='*LockSuite'` runs one suite, with all of its tests.
test-jvm: $(SBT_JAR)
	$(SBT) "$(call sbt_name,$(NEWEST))/testOnly $(or $(SUITE),-- -l org.sparkzorder.TestAll)"

# sbt itself does little where all is compiled: the first compiler of the JVM starts it with a quarter of the work.
test test-rest test-jvm: SBT_FLAGS += -XX:TieredStopAtLevel=1 -XX:+UseSerialGC

# `make test-python TEST='python/tests/statements/test_golden.py -k pack'` runs one test. All of them run in two processes:
# much of their time they wait for processes that they start.
test-python: $(STAMPS)/installed $(STAMPS)/dev $(STAMPS)/env-store $(STAMPS)/fetched-store
	$(BIN)/python -m pytest $(or $(TEST),python/tests -n 2 --dist loadfile -m "not test_all")

$(addprefix test-main-job-,$(OLDER)): test-main-job-%: $(STAMPS)/installed-%
	$(call older_env,$*) -m pytest python/tests/statements/test_main_job.py

$(addprefix test-,$(OLDER)): test-%: $(STAMPS)/installed-%
	$(call older_env,$*) -m pytest python/tests -m older_sparks

# With the S3A of its Hadoop. A Spark whose Hadoop is that of the newest has no jars of its own in tools/jars.txt.
$(addprefix test-store-,$(OLDER)): test-store-%: $(STAMPS)/installed-% $(STAMPS)/env-store $(STAMPS)/fetched-store \
		$(STAMPS)/fetched-store-%
	$(call older_env,$*) -m pytest python/tests/storage/test_object_store.py

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
