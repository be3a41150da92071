"""Ours beside Delta Lake, Iceberg and Spark's own means, on one machine in one run: `make bench`."""
