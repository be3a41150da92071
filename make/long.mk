# Long runs with random choices: generated tables, kills, load, planted bugs. Without a seed they take a new one.

.PHONY: fuzz kills load mutants

load: SECONDS ?= 600
SECONDS ?= 60
KILLS   ?= 20
STORE   ?= disk
SEED    ?=
TABLE   ?=
QUERY   ?=

# `make fuzz SECONDS=60 SEED=1`: on generated tables, skipping on, skipping off and DuckDB agree. `TABLE=t QUERY=q` replays one.
fuzz: $(STAMPS)/installed $(STAMPS)/dev
	@PYTHONPATH=python/tests/support $(BIN)/python -m fuzz --seconds $(SECONDS) --seed "$(SEED)" \
		$(if $(TABLE),--table $(TABLE)) $(if $(QUERY),--query $(QUERY))

# `make kills KILLS=20 SEED=1`: kill -9 at random times. No row is lost or doubled, no table is stuck. `STORE=s3` is on S3.
kills: $(STAMPS)/installed $(STAMPS)/dev $(if $(filter s3,$(STORE)),$(STAMPS)/env-store $(STAMPS)/fetched-store)
	@PYTHONPATH=python/tests/support $(BIN)/python -m kills --kills $(KILLS) --seed "$(SEED)" --store $(STORE)

# `make load SECONDS=600 SEED=1`: readers, an appender, OPTIMIZE, RESTORE and VACUUM at once.
load: $(STAMPS)/installed $(STAMPS)/dev
	@PYTHONPATH=python/tests/support $(BIN)/python -m load --seconds $(SECONDS) --seed "$(SEED)"

# Bugs planted one by one, and whether the suite named for each finds it: half an hour and more.
mutants: $(SBT_JAR) $(STAMPS)/dev
	$(BIN)/python tools/mutants.py --sbt "$(subst $(SBT_JAR),$(CURDIR)/$(SBT_JAR),$(SBT))" \
		--out bench/results/mutants-$(shell date +%F).txt
