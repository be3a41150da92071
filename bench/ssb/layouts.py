"""The columns that each contestant clusters by, and the parts of statements that say so. They are only here."""

from __future__ import annotations

from peers.engines import Ours

from ssb import data

KEYS = ("d_year", "s_region", "c_region", "p_mfgr")
"""One column for each dimension, of those that the queries filter by. Star and flattened table have the same.

Two hundred files leave each of four keys about four ranges. So the best level of a hierarchy is that with about so
many values: each of them is a whole range then. Finer levels serve fewer queries. Names of cities begin with the
nation, but the nations of a region are not neighbours. By `s_city`, a filter of a region leaves out no file.

Keys of about as many values are fair to Delta, too. It gives each key up to 1,000 numbers, and interleaves their bits
from the same place. A key of seven values counts for nothing beside one of 1,000, such as `p_brand1`.
"""

OWN_KEYS = ("lo_orderdate", "lo_partkey", "lo_suppkey", "lo_custkey")
"""As many columns of `lineorder` itself, for engines that cannot cluster by columns of another table."""


class Joined(Ours):
    """`OPTIMIZE .. JOIN .. ZORDER BY`. The dimensions are those of the current database."""

    def layout(self) -> str:
        """Join each dimension by its key."""
        joins = [f"JOIN {table} ON {fact_key} = {key}" for table, (fact_key, key) in data.KEYS.items()]
        return f"{' '.join(joins)} {super().layout()}"


class Own(Ours):
    """`OPTIMIZE .. ZORDER BY` columns of the table itself."""

    name = "own"
