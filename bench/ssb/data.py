"""Makes the tables of the Star Schema Benchmark (O'Neil, O'Neil and Chen, revision 3), by hashes of row numbers.

Columns, domains and numbers of rows are those of the specification. Where it refers to TPC-H, the rules are TPC-H's.
Each value is a function of the row number and the seed, so each run makes the same rows, on any number of cores.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

STAR, FLAT = "lineorder", "flat"
"""The large tables."""

KEYS = {
    "customer": ("lo_custkey", "c_custkey"),
    "supplier": ("lo_suppkey", "s_suppkey"),
    "part": ("lo_partkey", "p_partkey"),
    "date": ("lo_orderdate", "d_datekey"),
}
"""For each dimension, the column of `lineorder` and its key."""

DIMENSIONS = tuple(KEYS)

SEED = 7
DAYS = 2556
# As in TPC-H, the last orders are 151 days before the last day of 1998.
ORDER_DAYS = 2406
# Orders have 1, 2, .. 7 lines in turns. So 28 lines are 7 orders.
LINES, ORDERS = 28, 7

REGIONS = {
    "AFRICA": ("ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"),
    "AMERICA": ("ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"),
    "ASIA": ("CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"),
    "EUROPE": ("FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"),
    "MIDDLE EAST": ("EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"),
}
NATIONS = [nation for nations in REGIONS.values() for nation in nations]
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECI", "5-LOW")
MODES = ("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")
_COLOURS = (
    "almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse "
    "chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest "
    "frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light "
    "lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale "
    "papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky "
    "slate smoke snow spring steel tan thistle tomato turquoise violet wheat white yellow"
)
COLOURS = _COLOURS.split()
TYPES = (
    ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"),
    ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"),
    ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER"),
)
# The digits of the three parts of a telephone number behind the code of its country.
PHONE = ((0, 3), (1, 3), (2, 4))
CONTAINERS = (("SM", "LG", "MED", "JUMBO", "WRAP"), ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"))
SEASONS = "CASE WHEN m > 10 THEN 'Christmas' WHEN m > 8 THEN 'Fall' WHEN m > 5 THEN 'Summer' WHEN m > 3 THEN 'Spring' "
HOLIDAYS = "(1, 1), (5, 1), (7, 4), (12, 24), (12, 25), (12, 31)"


def rows(scale: float) -> dict[str, int]:
    """The number of rows of each table. Below scale 1, parts are in proportion to it."""
    parts = 200_000 * (1 + math.floor(math.log2(scale))) if scale >= 1 else round(200_000 * scale)
    return {
        "lineorder": round(6_000_000 * scale),
        "customer": max(1, round(30_000 * scale)),
        "supplier": max(1, round(2_000 * scale)),
        "part": max(1, parts),
        "date": DAYS,
    }


def tables(spark: SparkSession, scale: float, files: int) -> dict[str, DataFrame]:
    """The five tables. Each task makes one file: of `lineorder` there are `files`, of the others one."""
    counts = rows(scale)
    return {
        "lineorder": _lineorder(spark, counts, files),
        "customer": _people(spark, "customer", "c", "custkey", counts["customer"]),
        "supplier": _people(spark, "supplier", "s", "suppkey", counts["supplier"]),
        "part": _part(spark, counts["part"]),
        "date": _date(spark),
    }


def flattened(star: dict[str, DataFrame]) -> DataFrame:
    """Join `lineorder` with all dimensions, and drop their keys. The rows stay in the order of `lineorder`."""
    from pyspark.sql.functions import broadcast

    wide = star["lineorder"]
    for table, (fact_key, key) in KEYS.items():
        wide = wide.join(broadcast(star[table]), wide[fact_key] == star[table][key]).drop(key)
    return wide


def _drawn(name: str, below: int, of: str = "id") -> str:
    """A whole number from 0, below a bound."""
    return f"CAST(pmod(xxhash64({of}, '{name}', {SEED}), {below}) AS INT)"


def _one_of(words: Sequence[str], number: str) -> str:
    listed = ", ".join(f"'{word}'" for word in words)
    return f"element_at(array({listed}), CAST({number} + 1 AS INT))"


def _word(name: str, words: Sequence[str]) -> str:
    return _one_of(words, _drawn(name, len(words)))


def _people(spark: SparkSession, table: str, p: str, key: str, count: int) -> DataFrame:
    """Make the columns that customers and suppliers share. A city is nine characters of its nation and a digit."""
    drawn = spark.range(0, count, 1, 1).selectExpr("id", f"{_drawn(f'{p}_nation', len(NATIONS))} AS n")
    phone = ["CAST(n + 10 AS STRING)", *(f"lpad({_drawn(f'{p}_phone{i}', 10**d)}, {d}, '0')" for i, d in PHONE)]
    return drawn.selectExpr(
        f"CAST(id + 1 AS INT) AS {p}_{key}",
        f"concat('{table.capitalize()}#', lpad(id + 1, 9, '0')) AS {p}_name",
        f"substring(sha2(concat('{p}', id), 256), 1, 10 + {_drawn(f'{p}_address', 16)}) AS {p}_address",
        f"concat(rpad(substring({_one_of(NATIONS, 'n')}, 1, 9), 9, ' '), {_drawn(f'{p}_city', 10)}) AS {p}_city",
        f"{_one_of(NATIONS, 'n')} AS {p}_nation",
        f"{_one_of(list(REGIONS), 'n DIV 5')} AS {p}_region",
        f"concat_ws('-', {', '.join(phone)}) AS {p}_phone",
        *([f"{_word('c_mktsegment', SEGMENTS)} AS c_mktsegment"] if table == "customer" else []),
    )


def _part(spark: SparkSession, count: int) -> DataFrame:
    """Make parts. A brand begins with its category, and that with its manufacturer, so brands have one order."""
    digits = ("p_mfgr", 5), ("p_category", 5), ("p_brand1", 40)
    mfgr, category, brand = (f"1 + {_drawn(name, below)}" for name, below in digits)
    drawn = spark.range(0, count, 1, 1).selectExpr(
        "id", f"concat('MFGR#', {mfgr}) AS m", f"concat({category}, '') AS c", f"lpad({brand}, 2, '0') AS b"
    )
    return drawn.selectExpr(
        "CAST(id + 1 AS INT) AS p_partkey",
        f"concat({_word('p_name0', COLOURS)}, ' ', {_word('p_name1', COLOURS)}) AS p_name",
        "m AS p_mfgr",
        "concat(m, c) AS p_category",
        "concat(m, c, b) AS p_brand1",
        f"{_word('p_color', COLOURS)} AS p_color",
        f"concat_ws(' ', {', '.join(_word(f'p_type{i}', w) for i, w in enumerate(TYPES))}) AS p_type",
        f"1 + {_drawn('p_size', 50)} AS p_size",
        f"concat_ws(' ', {', '.join(_word(f'p_container{i}', w) for i, w in enumerate(CONTAINERS))}) AS p_container",
    )


def _day(number: str) -> str:
    return f"date_add(DATE'1992-01-01', {number})"


def _datekey(day: str) -> str:
    return f"year({day}) * 10000 + month({day}) * 100 + day({day})"


def _date(spark: SparkSession) -> DataFrame:
    """Make 2,556 days, the last of them 1998-12-30. A week of the year begins with the year's first day."""
    days = (
        spark.range(0, DAYS, 1, 1).selectExpr(f"{_day('CAST(id AS INT)')} AS day").selectExpr("day", "month(day) AS m")
    )
    return days.selectExpr(
        f"{_datekey('day')} AS d_datekey",
        "date_format(day, 'MMMM d, yyyy') AS d_date",
        "date_format(day, 'EEEE') AS d_dayofweek",
        "date_format(day, 'MMMM') AS d_month",
        "year(day) AS d_year",
        "year(day) * 100 + m AS d_yearmonthnum",
        "date_format(day, 'MMMyyyy') AS d_yearmonth",
        "dayofweek(day) AS d_daynuminweek",
        "day(day) AS d_daynuminmonth",
        "dayofyear(day) AS d_daynuminyear",
        "m AS d_monthnuminyear",
        "CAST((dayofyear(day) - 1) DIV 7 + 1 AS INT) AS d_weeknuminyear",
        f"{SEASONS} ELSE 'Winter' END AS d_sellingseason",
        "dayofweek(day) = 7 AS d_lastdayinweekfl",
        "day = last_day(day) AS d_lastdayinmonthfl",
        f"(m, day(day)) IN ({HOLIDAYS}) AS d_holidayfl",
        "dayofweek(day) BETWEEN 2 AND 6 AS d_weekdayfl",
    )


def _lineorder(spark: SparkSession, counts: dict[str, int], files: int) -> DataFrame:
    """Make lines. Customer, day and priority are the order's, and so is the total of its lines."""
    lines = (
        spark.range(0, counts["lineorder"], 1, files)
        .selectExpr("id", f"id % {LINES} AS r", f"CAST((sqrt(8 * (id % {LINES}) + 1) - 1) / 2 AS INT) AS o")
        .selectExpr("id", "o", f"id DIV {LINES} * {ORDERS} + o AS n", "CAST(r - o * (o + 1) / 2 + 1 AS INT) AS line")
        # The last order may be cut off.
        .selectExpr("*", f"least(o + 1, {counts['lineorder']} - (id - line + 1)) AS lines")
        .selectExpr(
            "*",
            *(f"{sql} AS {name}" for name, sql in _line("line", counts["part"]).items()),
            f"{_drawn('lo_orderdate', ORDER_DAYS, 'n')} AS day",
            f"{_total(counts['part'])} AS total",
        )
        .selectExpr("*", f"quantity * ({PRICE.format('partkey')}) AS extended")
    )
    ordered, committed = _day("day"), _day(f"day + 30 + {_drawn('lo_commitdate', 61, 'n, line')}")
    return lines.selectExpr(
        "n DIV 8 * 32 + n % 8 + 1 AS lo_orderkey",
        "line AS lo_linenumber",
        f"1 + {_drawn('lo_custkey', counts['customer'], 'n')} AS lo_custkey",
        "partkey AS lo_partkey",
        f"1 + {_drawn('lo_suppkey', counts['supplier'], 'n, line')} AS lo_suppkey",
        f"{_datekey(ordered)} AS lo_orderdate",
        f"{_one_of(PRIORITIES, _drawn('lo_orderpriority', len(PRIORITIES), 'n'))} AS lo_orderpriority",
        "0 AS lo_shippriority",
        "quantity AS lo_quantity",
        "extended AS lo_extendedprice",
        "CAST(total AS INT) AS lo_ordtotalprice",
        "discount AS lo_discount",
        "CAST(extended * (100 - discount) DIV 100 AS INT) AS lo_revenue",
        f"CAST(6 * ({PRICE.format('partkey')}) DIV 10 AS INT) AS lo_supplycost",
        "tax AS lo_tax",
        f"{_datekey(committed)} AS lo_commitdate",
        f"{_one_of(MODES, _drawn('lo_shipmode', len(MODES), 'n, line'))} AS lo_shipmode",
    )


# TPC-H's retail price of a part, in cents.
PRICE = "90000 + CAST({0} DIV 10 AS INT) % 20001 + 100 * ({0} % 1000)"


def _line(line: str, parts: int) -> dict[str, str]:
    """The attributes of a line that the total of its order needs too."""
    of = f"n, {line}"
    return {
        "quantity": f"1 + {_drawn('lo_quantity', 50, of)}",
        "partkey": f"1 + {_drawn('lo_partkey', parts, of)}",
        "discount": _drawn("lo_discount", 11, of),
        "tax": _drawn("lo_tax", 9, of),
    }


def _total(parts: int) -> str:
    """The sum of an order's lines with discount and tax."""
    summed = []
    for line in range(1, ORDERS + 1):
        at = _line(f"CAST({line} AS INT)", parts)
        price = f"({at['quantity']}) * ({PRICE.format('(' + at['partkey'] + ')')})"
        charged = f"CAST({price} AS BIGINT) * (100 - {at['discount']}) * (100 + {at['tax']}) DIV 10000"
        summed.append(f"CASE WHEN lines >= {line} THEN {charged} ELSE 0 END")
    return " + ".join(summed)
