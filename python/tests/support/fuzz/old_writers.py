"""Old versions of writers, whose footers may be wrong. `make test-all` installs them."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.writers import ForeignWriter

_FOLDER = Path(__file__).parents[4] / "build" / "writers"
_PROGRAM = Path(__file__).parents[1] / "writers" / "write_one.py"
_VERSIONS = (
    "pyarrow-10.0.1",
    "pyarrow-12.0.0",
    "polars-1.37.1",
    "polars-1.40.0",
    "polars-2.0.0",
    "duckdb-0.9.2",
    "duckdb-1.0.0",
    "duckdb-1.2.2",
)


def installed() -> list[str]:
    """The writers that are here."""
    return [name for name in _VERSIONS if (_FOLDER / name / ".done").exists()]


class OldWriter(ForeignWriter):
    """An old version of a writer. Rows of types that it does not know are written by the newest pyarrow."""

    hybrid = True
    tells_schema = False

    def __init__(self, r: Random) -> None:
        self._name = r.choice(installed())
        self._seed = r.randrange(2**31)

    def write_file(self, table: pa.Table, path: Path) -> None:
        plain = table.replace_schema_metadata(None)
        source = path.with_name(f"_{path.name}.source")
        pq.write_table(plain, source, store_schema=False)
        writer = self._name.split("-")[0]
        numbers = [_FOLDER / "numpy-1.26.4"] if writer == "pyarrow" else []
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (_FOLDER / self._name, *numbers)))}
        program = [sys.executable, "-S", str(_PROGRAM), writer, str(source), str(path), str(self._seed)]
        done = subprocess.run(program, env=environment, capture_output=True, check=False)
        source.unlink()
        if done.returncode or not _is_same(path, plain):
            pq.write_table(plain, path)

    def words(self) -> str:
        return f"{self._name} seed={self._seed}"


def _is_same(path: Path, table: pa.Table) -> bool:
    """Whether the file has the same rows in types like those. A writer may change what it has no type for."""
    try:
        read = pq.read_table(path)
        return bool(read.cast(table.schema).equals(table))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError, ValueError):
        return False
