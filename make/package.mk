# The Python package with its jars: for people in build/dist, for the tests and the demo in build/wheels.

.PHONY: wheel-of

# $(1): the Python that builds. $(2): the jars that go into the wheel. $(3): the wheel.
define build_wheel
	rm -rf python/src/spark_zorder/jars && mkdir -p python/src/spark_zorder/jars $(dir $(3))
	$(1) tools/pack_jars.py python/src/spark_zorder/jars $(2)
	$(1) -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w $(dir $(3)) ./python
endef

# What `make wheel` and `make wheel-all` end with.
wheel-of: $(call jars,$(JARS_FOR)) | $(STAMPS)/env-$(TOOLS)
	$(call build_wheel,$(call python_of,$(TOOLS)),$^,$(WHEEL))
	@echo "for Spark $(JARS_FOR): $(WHEEL)"

define build_and_install
	$(call build_wheel,$(BIN)/python,$(1),$(OWN_WHEEL))
	$(BIN)/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps $(OWN_WHEEL)
	$(BIN)/python -m pip install -q --disable-pip-version-check "$(OWN_WHEEL)[demo]"
endef

older_jars_that_are_there = $(if $(shell $(MAKE) -q -s $(STAMPS)/jars-older 2>/dev/null && echo yes),$(call jars,$(OLDER)))

# For the demo the newest Spark's jar is enough, which spares the downloads of the others; the older jars go in as well when
# they are there and up to date.
$(STAMPS)/installed: $(PY_SOURCES) $(call jar,$(NEWEST)) | $(STAMPS)/env-$(NEWEST)
	$(call build_and_install,$(call jar,$(NEWEST)) $(older_jars_that_are_there))
	@touch $@

$(STAMPS)/installed-all: $(PY_SOURCES) $(call jar,$(NEWEST)) $(STAMPS)/jars-older | $(STAMPS)/env-$(NEWEST)
	$(call build_and_install,$(call jars,$(SPARKS)))
	@touch $(STAMPS)/installed $@

$(STAMPS)/dev: python/pyproject.toml | $(STAMPS)/installed
	$(BIN)/python -m pip install -q --disable-pip-version-check "$(OWN_WHEEL)[demo,dev]"
	@touch $@

$(addprefix $(STAMPS)/installed-,$(OLDER)): $(STAMPS)/installed-%: $(STAMPS)/installed-all $(STAMPS)/env-%
	$(call older_env,$*) -m pip install -q --disable-pip-version-check --force-reinstall --no-deps $(OWN_WHEEL)
	$(call older_env,$*) -m pip install -q --disable-pip-version-check "$(OWN_WHEEL)[test]"
	@touch $@

$(addprefix $(STAMPS)/installed-,connect notebook): $(STAMPS)/installed-%: $(STAMPS)/installed-all $(STAMPS)/env-%
	build/envs/$*/bin/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps $(OWN_WHEEL)
	@touch $@
