# Jars: those of others, and ours.

.PHONY: jars publish-local

# `make jars`: ours, for each Spark, in build/jars.
jars: $(call jar,$(NEWEST)) $(STAMPS)/jars-older

# Jars of others, checked. sbt's launcher is the file that the recipes start.
$(STAMPS)/fetched-%: tools/jars.txt tools/fetch_jars.py | $(STAMPS)/env-$(TOOLS)
	$(call step,fetch jars of others: $*) $(call python_of,$(TOOLS)) tools/fetch_jars.py $(JAVA) $(FETCHED) $*
	@touch $@

$(SBT_JAR): $(STAMPS)/fetched-sbt
	@touch $@

# $(1): a Spark. Its jar alone.
define rule_of_jar
$(call jar,$(1)): $(MAIN_SOURCES) | $(SBT_JAR) $(STAMPS)/env-$(1)
	$$(call step,compile the jar for Spark $(1)) $$(SBT) $(call sbt_name,$(1))/package
	@mkdir -p $$(@D) && cp $(call sbt_output,$(1)) $$@
endef
$(foreach m,$(SPARKS),$(eval $(call rule_of_jar,$(m))))

# One start of sbt makes all older jars, two at a time.
$(STAMPS)/jars-older: $(MAIN_SOURCES) | $(SBT_JAR) $(addprefix $(STAMPS)/env-,$(OLDER))
	$(call step,compile the jars for Spark $(OLDER)) $(SBT) "all $(foreach m,$(OLDER),$(call sbt_name,$(m))/package)"
	@mkdir -p build/jars $(@D) && cp $(foreach m,$(OLDER),$(call sbt_output,$(m))) build/jars && touch $@

# For the tests: one start of sbt makes the newest Spark's jar, compiles the tests, and writes how to run them without sbt.
$(STAMPS)/compiled: $(MAIN_SOURCES) $(TEST_SOURCES) | $(SBT_JAR) $(STAMPS)/env-$(NEWEST)
	$(call step,compile the jar and the tests) \
		$(SBT) $(call sbt_name,$(NEWEST))/package $(call sbt_name,$(NEWEST))/testArguments
	@mkdir -p build/jars $(@D) && cp $(call sbt_output,$(NEWEST)) build/jars
	@touch $@

# `make publish-local REPO=folder`, for `spark-submit --packages org.sparkzorder:.. --repositories file:..`.
REPO ?= build/m2

publish-local: $(SBT_JAR) envs
	$(SBT) -Dpublish.to=$(abspath $(REPO)) "all $(foreach m,$(SPARKS),$(call sbt_name,$(m))/publish)"

# For the tests.
$(STAMPS)/published: $(MAIN_SOURCES)
	@$(MAKE) --no-print-directory publish-local REPO=build/m2
	@touch $@
