"""Runs readers, an appender, independent counts and a loop of statements on the same tables for minutes.

There are four processes: two with Spark and the extension, one that appends files, and one that counts rows without
Spark. Each answer is checked against the batches that are known to be there. A seed repeats the same questions and
statements. How they overlap depends on the machine.
"""
