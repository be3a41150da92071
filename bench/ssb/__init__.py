"""The Star Schema Benchmark: files of a star and of its flattened table that queries read."""
