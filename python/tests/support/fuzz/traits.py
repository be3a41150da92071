"""Traits of a table for which a reader finds other columns, values or files than the folder suggests."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from pyspark.sql.types import StructField, StructType

from fuzz.columns import Column, quote
from fuzz.kinds import value_of

if TYPE_CHECKING:
    from fuzz.tables import FuzzTable

POSITIONAL = "orc.force.positional.evolution"
# Spark's vectorized reader of Parquet has no defaults for binaries and for decimals that do not fit a word.
_WITH_DEFAULTS = {"whole", "decimal", "fraction", "text", "boolean", "date", "timestamp", "ntz"}
_WITHOUT_DEFAULTS = ("COLLATE", "DECIMAL(20", "DECIMAL(22", "DECIMAL(38")


@dataclass
class Traits:
    """Traits, drawn once for each table.

    Attributes:
        defaults: Constants in SQL that a column has in files without it, by its name.
        positional: How a session is told to find ORC's columns by position: by a setting, by an option, or not.
        renamed: The names of columns in the current schema that differ from those in the files.
        listed: The reader's input instead of the folder: a pattern, single files, or nothing.
    """

    defaults: dict[str, str] = field(default_factory=dict)
    positional: str = ""
    renamed: dict[str, str] = field(default_factory=dict)
    listed: str = ""

    @staticmethod
    def draw(table: FuzzTable, r: Random) -> Traits:
        """Draw traits that suit how a table is read and written."""
        traits = Traits()
        if table.twins:
            return traits
        if table.access in ("catalog", "schema") and table.drift and r.random() < 0.6:
            traits.defaults = _defaults(table, r)
        elif table.access in ("catalog", "schema") and table.form == "orc" and not table.drift and r.random() < 0.5:
            traits.positional = r.choice(("setting", "option"))
            traits.renamed = other_names(table.columns, r)
        if table.access in ("path", "merged", "schema") and r.random() < 0.25:
            traits.listed = r.choice(("pattern", "files"))
        return traits

    @property
    def options(self) -> dict[str, str]:
        """The options of the reader, or of the table in the catalog."""
        return {POSITIONAL: "true"} if self.positional == "option" else {}

    def paths(self, table: FuzzTable) -> list[str]:
        if not self.listed:
            return [str(table.folder)]
        if self.listed == "pattern":
            return [f"{table.folder}/{'part=*/' if table.partition else ''}*.{table.form}"]
        return sorted(map(str, table.in_any_order()))

    def words(self) -> list[str]:
        return [
            *(f"{name} defaults to {sql}" for name, sql in self.defaults.items()),
            *([f"columns by position, by {self.positional}"] if self.positional else []),
            *([f"read by {self.listed}"] if self.listed else []),
        ]

    def declared(self, fields: list[str]) -> list[str]:
        return [
            text
            + "".join(f" DEFAULT {sql}" for name, sql in self.defaults.items() if text.startswith(f"{quote(name)} "))
            for text in fields
        ]

    def given(self, schema: StructType) -> StructType:
        def with_default(f: StructField) -> StructField:
            sql = self.defaults.get(f.name)
            metadata = {**(f.metadata or {}), **({"CURRENT_DEFAULT": sql, "EXISTS_DEFAULT": sql} if sql else {})}
            return StructField(f.name, f.dataType, f.nullable, metadata)

        return StructType([with_default(f) for f in schema.fields])


def other_names(columns: list[Column], r: Random) -> dict[str, str]:
    """Two columns of one type swap names, or one gets a name that no file has."""
    # Spark's own reader fails if the types differ.
    leaves = [c for c in r.sample(columns, len(columns)) if len(c.path) == 1 and not c.partition]
    first, *others = leaves
    second = next((c for c in others if c.kind.sql == first.kind.sql), None)
    if second is None:
        return {first.path[0]: "new name"}
    return {first.path[0]: second.path[0], second.path[0]: first.path[0]}


def _defaults(table: FuzzTable, r: Random) -> dict[str, str]:
    found = [c for c in table.columns if c.path == (table.drifting,)]
    if not found or found[0].kind.family not in _WITH_DEFAULTS:
        return {}
    if any(words in table.wider.get(found[0], found[0].kind.sql) for words in _WITHOUT_DEFAULTS):
        return {}
    value = value_of(found[0].kind, r, r.random(), ancient=False)
    return {} if value is None else {table.drifting: found[0].kind.literal(value).spark}
