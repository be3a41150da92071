# Tests of one thing, of older Sparks, and of all. `make test` is in the Makefile.

.PHONY: test-rest test-older test-all test-jvm test-python built built-newest fetched

# Of `make test-jvm` and `make test-python`.
SUITE ?=
TEST  ?=

# The JVM's tests, without sbt. $(1): options of ScalaTest.
jvm_tests = mkdir -p jvm/target && cd jvm/target && exec $(JAVA) @$(CURDIR)/build/test-arguments $(1)

# `-l` of ScalaTest leaves out a tag, and `-n` takes it.
tags = $(foreach tag,$(2),$(1) org.sparkzorder.$(tag))

# Tests of pages and of packaging are in `make check`.
OF_THE_PRODUCT := python/tests $(addprefix --ignore=python/tests/,docs building)

# Both runners side by side, with a line for each suite and file. $(1): options of ScalaTest. $(2): options of pytest. $(3):
# options of tools/test_run.py.
both = $(BIN)/python tools/test_run.py $(3) -- sh -c "$(call jvm_tests,$(1))" \
	-- $(BIN)/python -m pytest $(OF_THE_PRODUCT) -q $(2)

# What `make test` leaves out since it takes long. Much of its time it waits for processes, so Python has two.
test-rest: built-newest
	@$(call both,$(call tags,-n,TestRest) $(call tags,-l,TestAll),-n 2 --dist loadfile -m "test_rest and not test_all")

# The main job on each older Spark, with the wheel for all of them.
test-older: built
	$(BIN)/python -m pytest python/tests/package/test_package.py -m test_all
	@$(TWO) $(addprefix test-main-job-,$(OLDER))

# The long suites: rivals at every step, plans, every kind of target, Hive, Iceberg beside us, clusters, Java versions, and
# all tests and S3 on each Spark.
test-all: test test-rest check test-older fetched $(addprefix test-,$(OLDER)) \
		$(addprefix test-store-,$(OLDER)) $(addprefix $(STAMPS)/env-,store readers airflow dbt) $(STAMPS)/javas \
		$(addprefix $(STAMPS)/fetched-,iceberg store yarn parquet)
	$(call jvm_tests,$(call tags,-n,TestAll))
	export EXHAUSTIVE=1 && $(call jvm_tests,-w org.sparkzorder.commit)
	export FUZZ_FILES=100000 && $(call jvm_tests,-q RecordFuzzSuite -q IndexFileSuite)
	$(BIN)/python -m pytest python/tests -m test_all
	QUERIES=2000 $(BIN)/python -m pytest python/tests/queries/test_differential.py -m test_all

# `make test-jvm SUITE='*LockSuite'` runs one suite, with all of its tests. `org.sparkzorder.commit.*` is a package.
test-jvm: $(STAMPS)/compiled
	@$(call jvm_tests,$(if $(SUITE),$(foreach s,$(SUITE),$(if $(filter %.*,$(s)),-w $(s:.*=),-q $(s:*%=%))),$(call \
		tags,-l,TestAll)))

# `make test-python TEST='python/tests/statements/test_golden.py -k pack'` runs one test. All of them run in two processes:
# much of their time they wait for processes that they start.
test-python: $(STAMPS)/installed $(STAMPS)/dev $(STAMPS)/env-store $(STAMPS)/fetched-store
	$(BIN)/python -m pytest $(or $(TEST),$(OF_THE_PRODUCT) -n 2 --dist loadfile -m "not test_all")

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
	@$(TWO) $(STAMPS)/compiled $(STAMPS)/dev $(STAMPS)/env-store $(STAMPS)/fetched-store
	@$(MAKE) --no-print-directory $(STAMPS)/installed

# All that the tests of every Spark need, made two at a time where possible.
built:
	@$(TWO) $(STAMPS)/compiled $(addprefix $(STAMPS)/env-,$(OLDER))
	@$(MAKE) --no-print-directory $(STAMPS)/installed-all $(STAMPS)/dev
	@$(TWO) $(addprefix $(STAMPS)/installed-,$(OLDER)) $(STAMPS)/env-store $(STAMPS)/fetched-store

fetched: built $(STAMPS)/fetched-delta $(STAMPS)/published $(addprefix $(STAMPS)/installed-,connect notebook)
