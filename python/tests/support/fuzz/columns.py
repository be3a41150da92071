"""The columns of a table: names, types and rows."""

from dataclasses import dataclass
from random import Random

from fuzz.dialects import Text
from fuzz.kinds import KINDS, Kind, Value, value_of


@dataclass(frozen=True)
class Column:
    """A leaf of the schema by its path of names, or a partition column."""

    path: tuple[str, ...]
    kind: Kind
    alias: str | None
    """The column's name in DuckDB's copy. None if it is not there."""
    partition: bool = False
    called: str | None = None
    """The first name in the current schema, if it differs from that in the files."""

    @property
    def spark(self) -> str:
        names = (self.called or self.path[0], *self.path[1:])
        return ".".join(name if name.isidentifier() and name.isascii() else quote(name) for name in names)

    @property
    def text(self) -> Text:
        """The name in both dialects."""
        return Text(self.spark, self.alias)

    @property
    def duck_path(self) -> str:
        """The name in DuckDB's view of the files."""
        return ".".join('"' + name.replace('"', '""') + '"' for name in self.path)


def quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


Leaf = tuple[tuple[str, ...], str]
"""A path of names, and the key of its kind or its type in SQL."""


def _leaves(text: str) -> tuple[Leaf, ...]:
    """Leaves from `kind: name > name`, with semicolons between them."""
    pairs = [leaf.strip().split(": ") for leaf in text.split(";")]
    return tuple((tuple(names.split(" > ")), kind) for kind, names in pairs)


# Every table has some of these columns. The first are preferred for clustering.
PLAIN = _leaves(
    "int: i; bigint: l; string: s; double: d; date: dt; timestamp: ts; ntz: ntz; d18: d18; tinyint: ti; smallint: si;"
    "d9: d9; d20: d20; d38: d38; d38,37: d37; float: f; long string: long_s; few strings: few; binary: b; boolean: bo;"
    "null: nothing; double without zero: dz; float without zero: fz; map: mp; map of numbers: mn; int: x.y;"
    "string: a b; d9: größe"
)
STRUCT = _leaves(
    "int: st > a; string: st > b c; double: st > in > d; date: st > in > x.y; map: st > in > m;"
    "float without zero: st > in > z"
)
PARQUET_ONLY = _leaves("time: tm; variant: va; bigint: q`t")
SPARK_ONLY = _leaves("months: ym; span: ds; array: ar")
IN_CATALOG = _leaves("varchar: vc; char: ch")
COLLATED = _leaves("lower case: lc; unicode: un; trimmed: rt")
NOT_IN_HIVE = {"ntz", "time", "kept", "other", "other text"}
"""Families of kinds."""
TWINS = _leaves("int: Case; string: cASE")


def choose(r: Random, pools: list[tuple[Leaf, ...]], spark: tuple[int, int], hive: bool) -> list[Column]:
    """Draw most or few of the plain columns, the struct or not, and some of the other pools. Hive can name all."""
    picked = [*r.sample(PLAIN[:8], 4), *r.sample(PLAIN[8:], r.choice((3, 6, 10)))]
    if r.random() < 0.6:
        picked += STRUCT
    for pool in pools:
        picked += pool if pool is TWINS else r.sample(pool, r.randint(1, len(pool)))
    fit = [(path, KINDS[kind]) for path, kind in picked if KINDS[kind].since <= spark]
    if hive:
        fit = [
            (p, k) for p, k in fit if k.family not in NOT_IN_HIVE and all(n.isidentifier() and n.isascii() for n in p)
        ]
    return [Column(path, kind, f"c{n}") for n, (path, kind) in enumerate(fit)]


def fields(columns: list[Column]) -> list[str]:
    """The schema as text: `id` first, then each top-level column, without partition columns."""
    return ["id BIGINT", *_fields([(c.path, c.kind.sql) for c in columns if not c.partition], " ")]


def _fields(leaves: list[Leaf], between: str) -> list[str]:
    made: dict[str, str | list[Leaf]] = {}
    for path, sql in leaves:
        if len(path) == 1:
            made[path[0]] = sql
        else:
            inner = made.setdefault(path[0], [])
            assert isinstance(inner, list)
            inner.append((path[1:], sql))
    return [
        f"{quote(name)}{between}{what if isinstance(what, str) else 'STRUCT<' + ', '.join(_fields(what, ': ')) + '>'}"
        for name, what in made.items()
    ]


class Rows:
    """Rows that follow a hidden rank with some noise. So clustering by one column clusters the others too."""

    def __init__(self, r: Random, columns: list[Column], ancient: bool) -> None:
        self._random = r
        self._columns = [c for c in columns if not c.partition]
        self._ancient = ancient
        self._structs = sorted({c.path[: n + 1] for c in self._columns for n in range(len(c.path) - 1)})
        self.seen: dict[tuple[str, ...], list[Value]] = {c.path: [] for c in self._columns}
        """Values that occur, in the order of their ranks."""
        self.next_id = 0

    @property
    def given(self) -> str:
        """The schema of the rows that Python makes: leaves as c0, c1.., and flags s0.. of structs that are not null."""
        leaves = [f"c{n} {c.kind.given}" for n, c in enumerate(self._columns)]
        return ", ".join(["id BIGINT", *leaves, *(f"s{n} BOOLEAN" for n in range(len(self._structs)))])

    @property
    def typed(self) -> list[str]:
        """The SQL expressions that turn this schema into the columns."""
        leaves = {c.path: c.kind.cast.format(c=f"c{n}", sql=c.kind.sql) for n, c in enumerate(self._columns)}
        names = dict.fromkeys(c.path[:1] for c in self._columns)
        return ["id", *(f"{self._built(name, leaves)} AS {quote(name[0])}" for name in names)]

    def _built(self, path: tuple[str, ...], leaves: dict[tuple[str, ...], str]) -> str:
        if path in leaves:
            return leaves[path]
        children = dict.fromkeys(p[: len(path) + 1] for p in leaves if p[: len(path)] == path)
        fields = ", ".join(f"'{child[-1]}', {self._built(child, leaves)}" for child in children)
        return f"IF(s{self._structs.index(path)}, named_struct({fields}), NULL)"

    def make(self, count: int) -> list[tuple[Value, ...]]:
        first = self.next_id
        self.next_id += count
        return [self._row(first + n, n / count) for n in range(count)]

    def _row(self, number: int, rank: float) -> tuple[Value, ...]:
        r = self._random
        there = {path: r.random() > 0.05 for path in self._structs}
        values: list[Value] = []
        for c in self._columns:
            x = min(max(rank + r.gauss(0, 0.005), 0.0), 1.0)
            null = r.random() < 0.03 or not all(there[c.path[: n + 1]] for n in range(len(c.path) - 1))
            value = None if null else value_of(c.kind, r, x, self._ancient)
            if value is not None:
                self.seen[c.path].append(value)
            values.append(value)
        return (number, *values, *there.values())
