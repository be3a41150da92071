"""Changes a table before it is queried, and between two rounds of questions."""

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
from comparison import ERRORS, condition_of, no_skipping
from pyspark.sql import Row

from fuzz import sessions
from fuzz.columns import Column
from fuzz.tables import FuzzTable


@dataclass(frozen=True)
class Layout:
    """The layout that OPTIMIZE is asked for. Files stay in place while it is the same."""

    clause: str
    cuts: str


class RowsLostError(AssertionError):
    """A statement lost or added rows."""


class History:
    """Runs steps on one table. Its statements run under the settings that the table was made with."""

    def __init__(self, table: FuzzTable, r: Random) -> None:
        self._table = table
        self._random = r
        self._layout: Layout | None = None
        self.strategies: Counter[str] = Counter()

    def begin(self) -> None:
        """Write the first rows, and an index of most of them."""
        r = self._random
        self._table.create()
        for _ in range(r.choice((0, 0, 1, 2))):
            r.choice((self._append, self._append, self._copy))()
        roll = r.random()
        # An index alone skips nothing in unordered rows. Some tables have only that.
        optimized = roll < (0.5 if self._table.ordered else 0.9) and self._optimize()
        if roll > 0.4 or not optimized:
            self._index()
        # New files beside many files in the layout. Only a part needs a rewrite.
        if optimized and r.random() < 0.6:
            self._append(few=True)
            self._optimize(again=True)

    def go_on(self) -> None:
        """Let other programs write, and refresh the index or not."""
        r = self._random
        steps: tuple[Callable[[], None], ...] = (
            self._append,
            self._append,
            self._replace,
            self._swap,
            self._delete,
            self._copy,
        )
        for step in r.sample(steps, r.choice((1, 1, 2))):
            step()
        roll = r.random()
        if roll < 0.4:
            self._refresh()
        elif roll < 0.75:
            self._optimize(again=self._layout is not None and r.random() < 0.8)
        elif roll < 0.8:
            self._statement(f"RESTORE {self._table.target} TO VERSION AS OF 0")

    # --- statements of ours

    def _optimize(self, again: bool = False) -> bool:
        """OPTIMIZE in the table's layout if `again`, otherwise in a new one."""
        r, table = self._random, self._table
        if not again or self._layout is None:
            self._layout = self._new_layout()
        layout = self._layout
        full = r.choice(("", "FULL ")) if not again else "FULL " if r.random() < 0.1 else ""
        count = r.randint(16, 32)
        # Each partition gets this number of files. With fewer files, no rewrite would be partial.
        files = table.in_any_order()
        size = sum(p.stat().st_size for p in files) // (count * max(len({p.parent for p in files}), 1))
        by_number = not again and r.random() < 0.4
        option = f"'num-files' = '{count}'" if by_number else f"'target-file-size-bytes' = '{max(size, 1)}'"
        groups = self._groups(size * count) if r.random() < 0.3 else ""
        if r.random() < 0.25:
            groups += f", 'membership-columns' = '{', '.join(c.spark for c in self._some_columns())}'"
        text = f"OPTIMIZE {table.target} {full}{layout.clause} OPTIONS ({option}, 'cuts' = '{layout.cuts}'{groups})"
        rows = self._statement(text)
        if rows is None:
            return False
        [row] = rows
        self.strategies[row["metrics"]["strategy"]["name"]] += 1
        return True

    def _groups(self, size: int) -> str:
        """Options for several jobs at once, and perhaps several commits."""
        r = self._random
        groups = f", 'max-file-group-size-bytes' = '{max(size // r.randint(1, 4), 1)}'" if r.random() < 0.7 else ""
        if not groups or r.random() < 0.5:
            groups += f", 'partial-progress.enabled' = 'true', 'partial-progress.max-commits' = '{r.randint(1, 4)}'"
        return groups

    def _new_layout(self) -> Layout:
        r = self._random
        keys = r.sample(self._sure_columns(), r.choice((1, 2, 2, 3)))
        names = ", ".join(c.spark + (f" WEIGHT {r.randint(1, 4)}" if r.random() < 0.2 else "") for c in keys)
        curve = r.choice(("ZORDER", "ZORDER", "ZORDER", "ZORDER", "ORDER", "HILBERT"))
        join = self._join(keys[0]) if r.random() < 0.2 else ""
        names = f"attribute_of_dimension, {names}" if join else names
        return Layout(f"{join}{curve} BY ({names})", r.choice(("aligned", "equal")))

    def _join(self, column: Column) -> str:
        """A dimension with some of a column's values, and an attribute that puts them in another order."""
        table = self._table
        folder = table.folder.parent / f"{table.folder.name}-dimension-{self._random.randrange(1 << 30)}"
        attribute = "IF(pmod(xxhash64(k), 9) = 0, NULL, pmod(xxhash64(k, 1), 20)) AS attribute_of_dimension"
        try:
            values = table.spark.sql(f"SELECT DISTINCT {column.spark} AS k FROM {table.relation()}")
            some = values.where("pmod(xxhash64(k, 2), 5) > 0")
            some.selectExpr("k AS key_of_dimension", attribute).write.parquet(str(folder))
        except ERRORS:
            # Values that the session cannot read, or that Parquet cannot hold.
            return ""
        return f"JOIN parquet.`{folder}` ON {column.spark} = key_of_dimension "

    def _index(self) -> None:
        r, table = self._random, self._table
        roll = r.random()
        if roll < 0.4:
            columns = ""
        elif roll < 0.9:
            kinds = ", ".join(f"{c.spark} {r.choice(('VALUES', 'BLOOM'))}" for c in self._some_columns())
            columns = f" (*, {kinds})"
        else:
            columns = f" ({', '.join(c.spark for c in self._some_columns())})"
        self._statement(f"CREATE OR REPLACE SKIPPING INDEX ON {table.target}{columns}")

    def _some_columns(self) -> list[Column]:
        some = self._sure_columns()
        return self._random.sample(some, max(len(some) // 2, 1))

    def _sure_columns(self) -> list[Column]:
        """The columns that statements can name, even if the schema is inferred from one file."""
        table = self._table
        names = table.traits.renamed if table.named else {}
        return [
            replace(c, called=names.get(c.path[0]))
            for c in table.columns
            if c.kind.ordered and not c.partition and not (table.drift and c.path[0] == table.drifting)
        ]

    def _refresh(self) -> None:
        self._statement(f"REFRESH SKIPPING INDEX ON {self._table.target}")

    def _statement(self, text: str) -> list[Row] | None:
        """Run a statement and check that it loses no row. A refusal with a reason returns None."""
        table = self._table
        sessions.apply(table.spark, table.making)
        before = self._contents()
        words = text.replace(str(table.folder), "..")
        try:
            rows: list[Row] | None = table.spark.sql(text).collect()
            table.log.append(words)
        except ERRORS as error:
            condition = condition_of(error)
            if not condition.startswith("ZORDER_"):
                raise
            table.log.append(f"{words} refused: {' '.join(str(error).split())[:300]}")
            rows = None
        after = self._contents()
        if after != before:
            raise RowsLostError(f"{len(before)} rows before {words}, {len(after)} after, {_difference(before, after)}")
        return rows

    def _contents(self) -> list[tuple[int, int]]:
        """Ids with a hash of the row's values."""
        table = self._table
        values = ", ".join(self._hashed(c) for c in table.columns)
        with no_skipping(table.spark):
            rows = table.spark.sql(f"SELECT id, xxhash64({values}) AS h FROM {table.relation()}").collect()
        return sorted((row.id, row.h) for row in rows)

    def _hashed(self, column: Column) -> str:
        if column.path[0] in self._table.cased:
            return "1"
        name = replace(column, called=self._table.called().get(column.path[0])).spark
        if column.kind.family == "kept":
            # Maps have no hash. The text has the entries in their order.
            return f"to_json(named_struct('value', {name}))"
        # Spark's hash takes -0.0 for 0.0.
        return f"CAST({name} AS STRING)" if column.kind.family == "fraction" else name

    # --- other programs

    def _append(self, few: bool = False) -> None:
        r, table = self._random, self._table
        writer = table.another_writer() if r.random() < 0.4 else table.writers[0]
        rows, files = (20, 1) if few else (r.choice((20, 60)), r.choice((1, 1, 3)))
        table.write(table.frame(rows, first=False), writer, files, r.random() < 0.5)

    def _replace(self) -> None:
        """Another program replaces a file by one of the same name with half of its rows."""
        # pyarrow reads INT96 as another type, which a merged schema does not allow. It writes no field ids.
        if self._table.form == "orc" or self._table.access in ("merged", "ids"):
            self._swap()
            return
        path = self._random.choice(self._table.files())
        rows = pq.ParquetFile(path, coerce_int96_timestamp_unit="us").read()
        half = rows.slice(0, max(rows.num_rows // 2, 1))
        _forget_checksum(path)
        path.unlink()
        pq.write_table(half, path)
        self._table.log.append("a file replaced by half of it")

    def overwrite(self) -> None:
        """Give one file the bytes of another, under its own name."""
        files = self._table.files()
        if len(files) < 2:
            return
        a, b = self._random.sample(files, 2)
        content = b.read_bytes()
        _forget_checksum(a)
        if self._random.random() < 0.5:
            a.unlink()
        a.write_bytes(content)
        self._table.log.append("a file overwritten in place")

    def _swap(self) -> None:
        """Swap the contents of two files. In a partitioned table they may move to each other's partition."""
        files = self._table.files()
        if len(files) < 2:
            return
        a, b = self._random.sample(files, 2)
        bytes_of_a, bytes_of_b = a.read_bytes(), b.read_bytes()
        for path, content in ((a, bytes_of_b), (b, bytes_of_a)):
            _forget_checksum(path)
            path.unlink()
            path.write_bytes(content)
        self._table.log.append("two files swapped")

    def _delete(self) -> None:
        path = self._random.choice(self._table.files())
        _forget_checksum(path)
        path.unlink()
        self._table.log.append("a file deleted")

    def _copy(self) -> None:
        path = self._random.choice(self._table.files())
        shutil.copy2(path, path.with_name(f"copy-{len(self._table.log)}-{path.name}"))
        self._table.log.append("a file copied in")


def _forget_checksum(path: Path) -> None:
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


def _difference(before: list[tuple[int, int]], after: list[tuple[int, int]]) -> str:
    lost, new = sorted(set(before) - set(after))[:3], sorted(set(after) - set(before))[:3]
    return f"lost {lost}, new {new}"
