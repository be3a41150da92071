"""Compares this project with Delta Lake, Iceberg and plain Spark, on one machine in one run: `make bench`."""
