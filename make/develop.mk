# What a developer writes anew: formatted sources, golden results, pictures, an IDE's settings.

.PHONY: ide format golden picture

# An IDE reads all modules, so each Spark must be there.
ide: $(SBT_JAR) envs
	$(SBT) bspConfig
	@echo "open this folder in IntelliJ IDEA as a BSP project, or in VS Code with Metals and the build server sbt"

# The newest module has all sources but the shims of older ones, so each file is formatted once.
format: $(SBT_JAR) $(STAMPS)/dev
	$(BIN)/ruff check --fix python
	$(BIN)/ruff format python
	$(BIN)/ruff check --config python/pyproject.toml --fix tools bench
	$(BIN)/ruff format --config python/pyproject.toml tools bench
	$(SBT) $(call sbt_name,$(NEWEST))/scalafmtAll \
		"$(call sbt_name,$(NEWEST))/scalafmtOnly $$(find $(CURDIR)/jvm/shims -name '*.scala' | xargs)"

# `sql-tests/results` and the outputs on the pages: look at the diff.
golden: $(STAMPS)/installed $(STAMPS)/dev
	WRITE_GOLDEN=1 $(BIN)/python -m pytest python/tests/statements/test_golden.py
	WRITE_DOCS=1 $(BIN)/python -m pytest python/tests/docs/test_docs.py python/tests/statements/test_readme.py

# The picture of the README, from real flights.
picture: $(STAMPS)/installed $(STAMPS)/dev
	$(BIN)/python tools/picture.py docs/img/flights.svg
