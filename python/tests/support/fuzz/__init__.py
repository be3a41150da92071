"""Tests random tables, writers and predicates. Skipping on, skipping off and another engine must give the same rows.

`make fuzz SECONDS=n SEED=s` runs new tables until the time is over. With `TABLE=t QUERY=q` it repeats one query. A
table follows from (seed, table), and a query from (seed, table, query), so neither needs earlier ones.
"""
