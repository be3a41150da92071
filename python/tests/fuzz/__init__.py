"""Tables, writers and predicates from a seed: skipping on = skipping off = another engine over the same files.

`make fuzz SECONDS=n SEED=s` runs new tables until the time is over; `TABLE=t QUERY=q` beside the seed asks one query
again. What is random of a table follows from (seed, table) and of a query from (seed, table, query), so neither needs
what came before it.
"""
