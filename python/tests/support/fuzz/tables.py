"""A random table: its columns, its files, and how it is read."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
from pyarrow import orc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col
from pyspark.sql.types import StructField, StructType, _parse_datatype_string

from fuzz import columns, old_writers, sessions
from fuzz.columns import Column, Leaf, Rows, quote
from fuzz.kinds import KINDS
from fuzz.traits import POSITIONAL, Traits, other_names
from fuzz.writers import ArrowOrcWriter, ArrowWriter, DuckWriter, SparkWriter, Writer

_ACCESS = ("path",) * 6 + ("catalog",) * 5 + ("schema",) * 4 + ("merged",) * 3 + ("hive",) * 3 + ("ids",)
"""A folder; a table of Spark's catalog; a folder with a given schema, or one merged from all files; a table of Hive, if
the session has a metastore; a schema whose columns are found by field ids."""

_WRITERS = ("spark", "arrow", "spark orc", "duck", "spark", "spark", "arrow", "arrow orc", "spark orc")
"""Tables take turns with these, so that a short run sees all."""

_PARTITIONS = {
    "INT": "CAST(id % 3 AS INT)",
    "STRING": "element_at(array('a b', 'x=1', 'ü%41', NULL), CAST(id % 4 + 1 AS INT))",
    "DATE": "IF(id % 2 = 0, DATE '2001-02-03', DATE '1999-12-31')",
}

_WIDER = {"INT": ("BIGINT",), "SMALLINT": ("INT",), "FLOAT": ("DOUBLE",), "DECIMAL(9,2)": ("DECIMAL(18,2)",)}
_WIDER_IN_PARQUET = {
    "TINYINT": ("INT", "DECIMAL(12,2)"),
    "SMALLINT": ("INT", "DOUBLE"),
    "INT": ("BIGINT", "BIGINT", "DOUBLE", "DECIMAL(20,3)"),
    "FLOAT": ("DOUBLE",),
    "DATE": ("TIMESTAMP_NTZ",),
    "DECIMAL(9,2)": ("DECIMAL(18,2)", "DECIMAL(22,5)"),
    "DECIMAL(18,4)": ("DECIMAL(38,10)",),
}
"""Other types that a reader may ask for. So the physical type differs from file to file."""


@dataclass
class FuzzTable:
    """A table, which follows from its seed. `history` changes its files."""

    spark: SparkSession
    folder: Path
    random: Random
    number: int
    rows: Rows = field(init=False)
    columns: list[Column] = field(init=False)
    writers: list[Writer] = field(init=False)
    """The writers of its files."""
    log: list[str] = field(default_factory=list)
    """The changes of the table, for people."""

    def __post_init__(self) -> None:
        r = self.random
        kind = _WRITERS[self.number % len(_WRITERS)]
        writer = self.another_writer(kind)
        self.writers = []
        self.form = writer.form
        by_spark = isinstance(writer, SparkWriter)
        self.twins = by_spark and r.random() < 0.1
        self.access = "catalog" if self.twins else r.choice(_ACCESS)
        if self.access == "ids" and not (by_spark and self.form == "parquet"):
            self.access = "schema"
        self.name = f"fuzzed_{self.number}"
        self.ancient = r.random() < 0.4
        version = tuple(int(n) for n in self.spark.version.split(".")[:2])
        assert len(version) == 2
        self.columns = columns.choose(r, self._pools(by_spark), version, self.access == "hive")
        if kind == "arrow orc":
            self.columns = [c for c in self.columns if c.kind.family not in ("timestamp", "ntz")]
        self.rows = Rows(r, self.columns, self.ancient)
        # If the only file with a column is deleted, a merged schema lacks this column.
        drifts = {"path": [""], "ids": [""], "merged": ["", "missing"]}.get(self.access, ["", "", "added", "missing"])
        self.drift = r.choice(drifts)
        # If an ORC file lacks a column, Spark reads the instants beside it as wall-clock times, and refuses.
        if self.form == "orc" and {"timestamp", "ntz"} <= {c.kind.family for c in self.columns}:
            self.drift = ""
        self.drifting = r.choice([c.path[0] for c in self.columns if c.kind.sql != "INT" or len(c.path) > 1])
        wider = _WIDER_IN_PARQUET if self.form == "parquet" and self.access != "hive" else _WIDER
        self.wider = {
            c: r.choice(wider[c.kind.sql])
            for c in self.columns
            if (self.access == "schema" or self.named)
            and c.kind.sql in wider
            and len(c.path) == 1
            and r.random() < 0.15
        }
        self.cased = {
            c.path[0]
            for c in self.columns
            if self.access == "schema" and c.path[0].isidentifier() and r.random() < 0.08
        }
        self.renamed: dict[str, str] = {}
        if self.access == "ids":
            self.renamed = other_names(self.columns, r)
        self.permuted = self.access == "schema" and r.random() < 0.5
        self.inserts = self.named and by_spark and not self.drift and r.random() < 0.5
        self.partition: str | None = None
        if r.random() < 0.25 and not self.twins:
            wide = by_spark and self.access != "hive"
            self.partition = r.choice(("INT", "STRING", "DATE")) if wide else "INT"
            kind_of = {"INT": "int", "STRING": "string", "DATE": "date"}[self.partition]
            alias = "part" if self.partition == "INT" else None
            self.columns.append(Column(("part",), KINDS[kind_of], alias, partition=True))
        self.ordered = r.random() < 0.85
        """Whether the first files are ranges of the hidden rank."""
        self.making = sessions.making(r, self.twins)
        self._first = writer
        self.traits = Traits.draw(self, r)
        if self.traits.positional:
            self.cased, self.permuted = set(), False
        if self.traits.positional == "setting":
            self.spark.conf.set(POSITIONAL, "true")

    def another_writer(self, kind: str | None = None) -> Writer:
        """A writer of this kind, or another one of the same format."""
        r = self.random
        if kind is None and self.access in ("merged", "ids"):
            return self.writers[0]
        if kind is None:
            kind = (
                r.choice(("spark", "arrow", "duck")) if self.form == "parquet" else r.choice(("spark orc", "arrow orc"))
            )
            # Spark cannot read many timestamps in ORC files of the C++ library.
            times = self.form == "orc" and any(c.kind.family in ("timestamp", "ntz") for c in self.columns)
            if times or not all(c.kind.everywhere for c in self.columns):
                kind = "spark" if self.form == "parquet" else "spark orc"
        if kind in ("arrow", "duck") and old_writers.installed() and r.random() < 0.5:
            return old_writers.OldWriter(r)
        if kind == "arrow":
            return ArrowWriter(r)
        if kind == "duck":
            return DuckWriter(r)
        return ArrowOrcWriter(r) if kind == "arrow orc" else SparkWriter(r, "orc" if kind == "spark orc" else "parquet")

    def _pools(self, by_spark: bool) -> list[tuple[Leaf, ...]]:
        r = self.random
        pools: list[tuple[Leaf, ...]] = []
        if by_spark and r.random() < 0.5:
            pools.append(columns.SPARK_ONLY)
        if by_spark and self.form == "parquet" and r.random() < 0.5:
            pools.append(columns.PARQUET_ONLY)
        if by_spark and self.named:
            pools.append(columns.IN_CATALOG)
        # Spark does not read other collations back from ORC.
        if by_spark and self.access == "catalog" and self.form == "parquet":
            pools.append(columns.COLLATED)
        if self.twins:
            pools.append(columns.TWINS)
        return pools

    # --- files

    def frame(self, count: int, first: bool) -> DataFrame:
        """New rows as the files get them. Columns drift between the first files and later ones."""
        sessions.apply(self.spark, self.making)
        given = self.spark.createDataFrame(self.rows.make(count), self.rows.given, verifySchema=False)
        lacks = self.drifting if self.drift == ("added" if first else "missing") else None
        wider = {} if first else {c.path[0]: sql for c, sql in self.wider.items()}
        typed = given.selectExpr(*self.rows.typed)
        names = [name for name in typed.columns if name != lacks]
        kept = [f"CAST({quote(n)} AS {wider[n]}) AS {quote(n)}" if n in wider else quote(n) for n in names]
        made = typed.selectExpr(*kept, *([f"{_PARTITIONS[self.partition]} AS part"] if self.partition else []))
        if self.access != "ids":
            return made
        ids = {name: {"parquet.field.id": n} for name, n in self._field_ids().items()}
        return made.select(*(col(quote(name)).alias(name, metadata=ids.get(name)) for name in made.columns))

    def _field_ids(self) -> dict[str, int]:
        return {name: n for n, name in enumerate(["id", *dict.fromkeys(c.path[0] for c in self.columns)], 1)}

    def write(self, frame: DataFrame, writer: Writer, files: int, ordered: bool) -> None:
        self.writers.append(writer)
        self.log.append(f"{writer.words()}, {files} files{' in order' if ordered else ''}")
        if self.inserts and isinstance(writer, SparkWriter):
            split = frame.repartitionByRange(files, "id") if ordered else frame.repartition(files, "id")
            split.write.insertInto(self.name)
        else:
            writer.write(frame, self.folder, files, ordered, "part" if self.partition else None)

    def create(self) -> None:
        r = self.random
        sessions.apply(self.spark, self.making)
        if self.named:
            self._declare()
        count = r.choice((150, 400, 700))
        self.write(self.frame(count, first=True), self._first, r.choice((12, 16, 24)), self.ordered)

    def _declare(self) -> None:
        fields = self.traits.declared(self._fields(self.traits.renamed))
        options = "".join(f" OPTIONS ('{key}' '{value}')" for key, value in self.traits.options.items())
        using, parts = f"USING {self.form}{options}", "PARTITIONED BY (part)"
        if self.access == "hive" and self.spark.conf.get("spark.sql.catalogImplementation") == "hive":
            using = f"STORED AS {self.form}"
            if self.partition:
                parts = f"PARTITIONED BY ({fields.pop()})"
        how = f"{using} {parts}" if self.partition else using
        self.spark.sql(f"CREATE TABLE {self.name} ({', '.join(fields)}) {how} LOCATION '{self.folder}'")

    def files(self) -> list[Path]:
        """Data files by the least id in them, so independent of their names."""
        return sorted(self.in_any_order(), key=lambda p: (self._least_id(p), p.name))

    def in_any_order(self) -> list[Path]:
        return [p for p in self.folder.rglob("*") if p.is_file() and not hidden(p.relative_to(self.folder))]

    def _least_id(self, path: Path) -> int:
        if self.form == "orc":
            ids = orc.ORCFile(str(path)).read(columns=["id"])["id"].to_pylist()
        else:
            ids = pq.ParquetFile(path).read(columns=["id"])["id"].to_pylist()
        return min(ids, default=-1)

    # --- reading

    @property
    def target(self) -> str:
        return self.name if self.named else f"{self.form}.`{self.folder}`"

    @property
    def named(self) -> bool:
        return self.access in ("catalog", "hive")

    def called(self) -> dict[str, str]:
        """The names of columns that differ from those in the files, under the current settings."""
        if self.traits.positional:
            return self.traits.renamed
        by_ids = self.spark.conf.get(sessions.FIELD_IDS) == "true"
        return self.renamed if self.access == "ids" and by_ids else {name: name.swapcase() for name in self.cased}

    def _fields(self, names: dict[str, str]) -> list[str]:
        """The declared schema. Some columns have other names."""

        def declared(c: Column) -> Column:
            name = names.get(c.path[0], c.path[0])
            return replace(c, path=(name, *c.path[1:]), kind=replace(c.kind, sql=self.wider.get(c, c.kind.sql)))

        return columns.fields([*map(declared, self.columns)]) + ([f"part {self.partition}"] if self.partition else [])

    def relation(self) -> str:
        """The table's name after FROM, with its files listed anew, under the current settings."""
        if self.named:
            if self.partition:
                self.spark.sql(f"ALTER TABLE {self.name} RECOVER PARTITIONS")
            self.spark.catalog.refreshTable(self.name)
            return self.name
        if self.access == "path" and not self.traits.listed:
            # Without a view, each query of a batch would infer the schema again.
            self.spark.sql(f"SELECT * FROM {self.target}").createOrReplaceTempView(self.name)
            return self.name
        reader = self.spark.read.format(self.form).options(**self.traits.options)
        if self.traits.listed and self.partition:
            reader = reader.option("basePath", str(self.folder))
        if self.access != "path":
            merged = self.access == "merged"
            reader = reader.option("mergeSchema", "true") if merged else reader.schema(self._given_schema())
        reader.load(self.traits.paths(self)).createOrReplaceTempView(self.name)
        return self.name

    def _given_schema(self) -> StructType:
        names = self.called()
        fields = self._fields(names)
        text = ", ".join(fields[1:] + fields[:1] if self.permuted else fields)
        given = _parse_datatype_string(text)
        assert isinstance(given, StructType)
        if self.access != "ids":
            return self.traits.given(given)
        ids = {names.get(name, name): {"parquet.field.id": n} for name, n in self._field_ids().items()}
        return StructType([StructField(f.name, f.dataType, True, ids.get(f.name)) for f in given.fields])

    def drop(self) -> None:
        if self.named:
            self.spark.sql(f"DROP TABLE IF EXISTS {self.name}")

    def words(self) -> str:
        traits = [
            self.access,
            *(["ancient"] if self.ancient else []),
            *([f"{self.drift} {self.drifting}"] if self.drift else []),
            *([f"wider {', '.join(f'{c.spark} {sql}' for c, sql in self.wider.items())}"] if self.wider else []),
            *([f"partitioned by {self.partition}"] if self.partition else []),
            *(["names differing in case"] if self.twins else []),
            *self.traits.words(),
        ]
        return f"{', '.join(traits)}; {'; '.join(self.log)}"


def hidden(path: Path) -> bool:
    """Whether readers ignore a file."""
    return any(part.startswith(("_", ".")) for part in path.parts)
