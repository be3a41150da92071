"""The thirteen queries of the Star Schema Benchmark, for the star and for its flattened table."""

from __future__ import annotations

from dataclasses import dataclass

from ssb.data import KEYS


@dataclass(frozen=True)
class Query:
    """A query without its joins. Names of columns are unique, so the rest is the same for star and flattened table.

    Args:
        name: the number in the specification
        select: what it returns
        dimensions: the tables that it joins with `lineorder`
        where: its conditions, without those of joins
        group: the columns to group by
        order: how the result is sorted, by default by the columns of the groups
    """

    name: str
    select: str
    dimensions: tuple[str, ...]
    where: str
    group: str = ""
    order: str = ""

    def star(self) -> str:
        """The query over `lineorder` and dimensions."""
        joins = [f"{fact} = {key}" for fact, key in (KEYS[table] for table in self.dimensions)]
        return self._text(", ".join(("lineorder", *self.dimensions)), " AND ".join([*joins, self.where]))

    def flat(self) -> str:
        """The query over the table `flat`."""
        return self._text("flat", self.where)

    def _text(self, tables: str, where: str) -> str:
        grouped = f" GROUP BY {self.group} ORDER BY {self.order or self.group}" if self.group else ""
        return f"SELECT {self.select} FROM {tables} WHERE {where}{grouped}"


_DISCOUNTED = "sum(lo_extendedprice * lo_discount) AS revenue"
_BY_BRAND = "sum(lo_revenue) AS revenue, d_year, p_brand1"
_PROFIT = "sum(lo_revenue - lo_supplycost) AS profit"
_YEARS = "d_year >= 1992 AND d_year <= 1997"
_KINGDOM = " AND ".join(f"({p}_city = 'UNITED KI1' OR {p}_city = 'UNITED KI5')" for p in "cs")
_AMERICA = "c_region = 'AMERICA' AND s_region = 'AMERICA'"
_MAKERS = "(p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')"
_LAST_YEARS = "(d_year = 1997 OR d_year = 1998)"


def _brands(name: str, where: str) -> Query:
    return Query(name, _BY_BRAND, ("date", "part", "supplier"), where, "d_year, p_brand1")


def _places(name: str, by: str, where: str) -> Query:
    group = f"c_{by}, s_{by}, d_year"
    select = f"{group}, sum(lo_revenue) AS revenue"
    return Query(name, select, ("customer", "supplier", "date"), where, group, "d_year ASC, revenue DESC")


def _profits(name: str, group: str, where: str) -> Query:
    return Query(name, f"{group}, {_PROFIT}", ("date", "customer", "supplier", "part"), where, group)


QUERIES = (
    Query("Q1.1", _DISCOUNTED, ("date",), "d_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25"),
    Query(
        "Q1.2",
        _DISCOUNTED,
        ("date",),
        "d_yearmonthnum = 199401 AND lo_discount BETWEEN 4 AND 6 AND lo_quantity BETWEEN 26 AND 35",
    ),
    Query(
        "Q1.3",
        _DISCOUNTED,
        ("date",),
        "d_weeknuminyear = 6 AND d_year = 1994 AND lo_discount BETWEEN 5 AND 7 AND lo_quantity BETWEEN 26 AND 35",
    ),
    _brands("Q2.1", "p_category = 'MFGR#12' AND s_region = 'AMERICA'"),
    _brands("Q2.2", "p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228' AND s_region = 'ASIA'"),
    _brands("Q2.3", "p_brand1 = 'MFGR#2239' AND s_region = 'EUROPE'"),
    _places("Q3.1", "nation", f"c_region = 'ASIA' AND s_region = 'ASIA' AND {_YEARS}"),
    _places("Q3.2", "city", f"c_nation = 'UNITED STATES' AND s_nation = 'UNITED STATES' AND {_YEARS}"),
    _places("Q3.3", "city", f"{_KINGDOM} AND {_YEARS}"),
    _places("Q3.4", "city", f"{_KINGDOM} AND d_yearmonth = 'Dec1997'"),
    _profits("Q4.1", "d_year, c_nation", f"{_AMERICA} AND {_MAKERS}"),
    _profits("Q4.2", "d_year, s_nation, p_category", f"{_AMERICA} AND {_LAST_YEARS} AND {_MAKERS}"),
    _profits(
        "Q4.3",
        "d_year, s_city, p_brand1",
        f"c_region = 'AMERICA' AND s_nation = 'UNITED STATES' AND {_LAST_YEARS} AND p_category = 'MFGR#14'",
    ),
)
