# The files of a public release, in build/release: pypi/ for PyPI, maven/ for Maven Central, the sources, the changes and all
# checksums. Nothing is uploaded and nothing is tagged. CONTRIBUTING.md says who does that.

.PHONY: release-files

RELEASE := build/release
RELEASE_PYTHON := build/envs/release/bin/python

# The project's public address, for the POMs: `make release URL=https://..`.
URL ?=

# The Python package's sources are built from a copy, in which links are files.
release-files: $(STAMPS)/env-release
	$(RELEASE_PYTHON) tools/release/begin.py $(RELEASE)
	@$(MAKE) -j3 --no-print-directory $(call jar,$(NEWEST)) $(addprefix $(STAMPS)/env-,$(OLDER))
	@$(MAKE) --no-print-directory $(STAMPS)/jars-older
	$(call build_wheel,$(BIN)/python,$(call jars,$(SPARKS)),$(RELEASE)/pypi/$(WHEEL_NAME))
	rm -rf build/sdist && mkdir -p build/sdist/python && cp VERSION build/sdist
	cp -rL $(addprefix python/,pyproject.toml README.md LICENSE NOTICE src) build/sdist/python
	cd build/sdist/python && ../../../$(RELEASE_PYTHON) -m hatchling build -t sdist -d $(CURDIR)/$(RELEASE)/pypi
	git archive --prefix=spark-zorder-$(VERSION)/ -o $(RELEASE)/spark-zorder-$(VERSION).tar.gz HEAD
	$(SBT) -Dpublish.to=$(CURDIR)/$(RELEASE)/maven -Dpublish.docs=true $(if $(URL),-Dpublish.url=$(URL)) \
		"all $(foreach m,$(SPARKS),$(call sbt_name,$(m))/publish)"
	$(RELEASE_PYTHON) tools/release/check.py $(RELEASE) --java $(JAVA) --ivy $$(echo $(VENV)/lib/*/site-packages/pyspark/jars)
