# The Python package with its jars: for people in build/dist, for the tests and the demo in build/wheels.

.PHONY: wheel-of

# $(1): the Python that builds. $(2): the jars that go into the wheel. $(3): the wheel.
define build_wheel
	@rm -rf python/src/spark_zorder/jars && mkdir -p python/src/spark_zorder/jars $(dir $(3))
	$(1) tools/pack_jars.py python/src/spark_zorder/jars $(2)
	$(1) -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w $(dir $(3)) ./python
endef

# What `make wheel` and `make wheel-all` end with.
wheel-of: $(call jars,$(JARS_FOR)) | $(STAMPS)/env-$(TOOLS)
	$(call build_wheel,$(call python_of,$(TOOLS)),$^,$(WHEEL))
	@echo "for Spark $(JARS_FOR): $(WHEEL)"

define build_and_install
	$(call build_wheel,$(BIN)/python,$(1),$(OWN_WHEEL))
	$(BIN)/python $(PIP) --force-reinstall --no-deps $(OWN_WHEEL)
	$(call step,install what the demo needs) $(BIN)/python $(PIP) "$(OWN_WHEEL)[demo]"
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

# What the tests need, without the package itself, so that it is there before the jar is.
DEV_NEEDS = sed -En 's/^(plot|test|demo|words|writers|dev) = \["(.*)"\]$$/\2/p' python/pyproject.toml \
	| awk -F '", "' '{ for (i = 1; i <= NF; i++) if ($$i !~ /^spark_zorder/) print $$i }'

$(STAMPS)/dev: python/pyproject.toml | $(STAMPS)/env-$(NEWEST)
	@$(DEV_NEEDS) > build/dev-needs.txt
	$(call step,install what the tests need) $(BIN)/python $(PIP) -r build/dev-needs.txt
	@touch $@

$(addprefix $(STAMPS)/installed-,$(OLDER)): $(STAMPS)/installed-%: $(STAMPS)/installed-all $(STAMPS)/env-%
	$(call older_env,$*) $(PIP) --force-reinstall --no-deps $(OWN_WHEEL)
	$(call older_env,$*) $(PIP) "$(OWN_WHEEL)[test]"
	@touch $@

$(addprefix $(STAMPS)/installed-,connect notebook): $(STAMPS)/installed-%: $(STAMPS)/installed-all $(STAMPS)/env-%
	build/envs/$*/bin/python $(PIP) --force-reinstall --no-deps $(OWN_WHEEL)
	@touch $@
