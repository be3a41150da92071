"""Readers, an appender, independent counts and a loop of statements at work on the same tables for minutes.

Four processes: two with Spark and the extension, one that appends files and one that counts rows without Spark. Each
answer is checked against the batches that are known to be there. A seed draws the same questions and statements again;
how they meet depends on the machine.
"""
