# Benchmarks. Each writes a page to bench/results.

.PHONY: bench ssb bench-layout bench-sizes bench-read-back bench-requests bench-auto bench-incremental bench-listing
.PHONY: bench-plain-reader bench-row-groups bench-tuning bench-values

# Of `make bench`: the Spark that tools/jars.txt has Delta for, and parts with commas between.
BENCH_SPARK := $(shell sed -n 's/^delta .*:delta-spark_\([0-9.]*\)_.*/\1/p' tools/jars.txt)
ONLY   ?=
ROUNDS ?= 3

# Of `make bench-layout`: files of 1000 have two thousand each.
ROWS ?= 2000000

# Ours beside Delta, Iceberg and Spark's own. `ONLY=planning,pruning` runs parts. `ONLY=optimize BESIDE=delta,spark`
# leaves Iceberg out, which a large `SCALE` can need.
bench: $(addprefix $(STAMPS)/env-,bench store) $(addprefix $(STAMPS)/fetched-,delta iceberg hdfs) \
		$(call jar,$(BENCH_SPARK)) $(SBT_JAR)
	@PYTHONPATH=bench build/envs/bench/bin/python -m peers --jar $(call jar,$(BENCH_SPARK)) --scale $(SCALE) \
		--rounds $(ROUNDS) $(if $(ONLY),--only $(ONLY)) $(if $(BESIDE),--beside $(BESIDE)) \
		--sbt "$(subst $(SBT_JAR),$(CURDIR)/$(SBT_JAR),$(SBT))"

# The Star Schema Benchmark: a star and its flattened table, ours, Delta's and Spark's. `SCALE=0.02 FILES=20 ROUNDS=1` is a
# short one. `LAYOUT=own` clusters our star by its own columns, without JOIN.
ssb: $(STAMPS)/env-bench $(addprefix $(STAMPS)/fetched-,delta iceberg) $(call jar,$(BENCH_SPARK))
	@PYTHONPATH=bench build/envs/bench/bin/python -m ssb --jar $(call jar,$(BENCH_SPARK)) --scale $(SCALE) \
		--rounds $(ROUNDS) --files $(or $(FILES),200) --layout $(or $(LAYOUT),joins)

# The files that lookups touch after OPTIMIZE, by curve and kind of data.
bench-layout: $(STAMPS)/installed
	@$(BIN)/python bench/layout.py --jar $(call jar,$(NEWEST)) --rows $(ROWS)
	@$(BIN)/python bench/pages.py --jar $(call jar,$(NEWEST))

# Lookups by the size of files, the reason for the default.
bench-sizes: $(STAMPS)/installed $(STAMPS)/dev
	@$(BIN)/python bench/sizes.py --jar $(call jar,$(NEWEST))

# What a reader without the extension sees while files are exchanged.
bench-plain-reader: $(STAMPS)/installed $(STAMPS)/dev
	@$(BIN)/python bench/plain_reader.py --jar $(call jar,$(NEWEST))

# What reading new files back costs OPTIMIZE.
bench-read-back: $(STAMPS)/installed $(STAMPS)/dev
	@$(BIN)/python bench/read_back.py --jar $(call jar,$(NEWEST))

# Packing small files by copying their row groups, which OPTIMIZE does not do.
bench-row-groups: $(STAMPS)/installed
	@$(BIN)/python bench/row_groups.py --jar $(call jar,$(NEWEST))

# OPTIMIZE under several settings of the application. `HEAP=1g SCALE=5` measures one heap alone.
bench-tuning: $(STAMPS)/env-bench $(call jar,$(BENCH_SPARK))
	@PYTHONPATH=bench build/envs/bench/bin/python bench/tuning.py --jar $(call jar,$(BENCH_SPARK)) \
		$(if $(HEAP),--heap $(HEAP) --scale $(SCALE) --runs 1 --files $(or $(FILES),100))

# The requests of each statement on S3, by the number of files.
bench-requests: $(STAMPS)/installed $(STAMPS)/dev $(STAMPS)/env-store $(STAMPS)/fetched-store
	@$(BIN)/python bench/requests.py

# The pages of listings of a million keys on S3, and the driver's heap.
bench-listing: $(STAMPS)/installed $(STAMPS)/dev $(STAMPS)/env-store $(STAMPS)/fetched-store
	@$(BIN)/python bench/listing.py

# The files that recorded queries touch after ZORDER BY AUTO.
bench-auto: $(STAMPS)/installed
	@$(BIN)/python bench/auto.py --jar $(call jar,$(NEWEST))

# Ten rounds of new rows, OPTIMIZE without and with FULL.
bench-incremental: $(STAMPS)/installed
	@$(BIN)/python bench/incremental.py --jar $(call jar,$(NEWEST))

# Lookups of unique texts in 1,000 files: bounds, values of the index, and Parquet's own Bloom filters.
bench-values: $(STAMPS)/installed
	@$(BIN)/python bench/values.py --jar $(call jar,$(NEWEST))
