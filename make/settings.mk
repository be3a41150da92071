# Names, paths and versions that the other files use.

PYTHON ?= python3
JAVA   ?= $(if $(JAVA_HOME),$(JAVA_HOME)/bin/java,java)

# The supported versions of Spark, oldest first, and what spark-versions.txt says of one: its PySpark, its Scala.
SPARKS := $(shell awk '!/^\#/ { print $$1 }' spark-versions.txt)
NEWEST := $(lastword $(SPARKS))
OLDER  := $(filter-out $(NEWEST),$(SPARKS))
pyspark = $(shell awk '$$1 == "$(1)" { print $$2 }' spark-versions.txt)
scala   = $(shell awk '$$1 == "$(1)" { split($$3, part, "."); print part[1] "." part[2] }' spark-versions.txt)

VERSION := $(shell cat VERSION)
VENV    := .venv
BIN     := $(VENV)/bin
STAMPS  := build/stamps
FETCHED := build/fetched
SBT_JAR := $(FETCHED)/sbt/sbt-launch-$(shell sed -n "s/^sbt.version=//p" project/build.properties).jar

# The wheel that `make wheel` and `make wheel-all` leave for people, and the one that the tests and the demo install.
WHEEL_NAME := spark_zorder-$(VERSION)-py3-none-any.whl
WHEEL      := build/dist/$(WHEEL_NAME)
OWN_WHEEL  := build/wheels/$(WHEEL_NAME)

jar_name   = spark-zorder-$(1)_$(call scala,$(1))-$(VERSION).jar
jar        = build/jars/$(call jar_name,$(1))
jars       = $(foreach m,$(1),$(call jar,$(m)))
sbt_name   = spark$(subst .,,$(1))
sbt_output = jvm/target/$(call jar_name,$(1))

# The Python that has a Spark.
older_env = build/envs/$(1)/bin/python
python_of = $(if $(filter $(NEWEST),$(1)),$(BIN)/python,$(call older_env,$(1)))

# The Spark whose Python runs the tools of the build.
TOOLS ?= $(NEWEST)

# Of the user's home sbt uses the caches of downloads, and neither plugins nor settings.
SBT = $(JAVA) -Xmx3g -Xss8m -Dsbt.server.autostart=false -Dsbt.supershell=false -Dsbt.override.build.repos=true \
	-Dsbt.repository.config=project/repositories -Dsbt.global.base=$(CURDIR)/build/sbt \
	-Dsbt.boot.directory=$(HOME)/.sbt/boot $(SBT_FLAGS) -jar $(SBT_JAR)

# Two at a time.
TWO := $(MAKE) -j2 --no-print-directory

# $(call step,name) before a command shows that it lives.
step = @sh tools/step "$(1)"

# Folders are listed beside files: that a file went away shows in its folder's time stamp only.
BUILD_FILES  := VERSION spark-versions.txt build.sbt project/build.properties project/plugins.sbt project/repositories
MAIN_SOURCES := $(BUILD_FILES) $(shell find jvm/src/main jvm/shims 2>/dev/null)
TEST_SOURCES := $(shell find jvm/src/test bench/jvm 2>/dev/null)
PY_SOURCES   := VERSION README.md LICENSE python/pyproject.toml $(shell find python/src -name '*.py' -o -name py.typed)
