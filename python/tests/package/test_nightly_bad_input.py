"""A thousand tables, some of them views, JSON, broken, unreadable or locked; a kill midway; two runs at once."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from night_process import FORBID, WORK, Night, permissions_hold
from rival import Rival
from steps import step

pytestmark = pytest.mark.test_all

ROWS = 20
KINDS = {"quiet": 760, "needy": 40, "view": 80, "json": 60, "missing": 20, "damaged": 20, "unreadable": 15, "locked": 3}
FAILING = ("damaged", "missing", "unreadable")
SCHEMA = "big"

Told = dict[str, dict[str, Any]]


def write(folder: Path, files: int) -> None:
    folder.mkdir(parents=True)
    for n in range(files):
        pq.write_table(pa.table({"id": list(range(n, ROWS, files))}), folder / f"part-{n}.parquet")


def make(base: Path) -> list[str]:
    """The folders of all tables, and the statements that make them known."""
    statements = [f"CREATE DATABASE {SCHEMA}"]
    forbidden: list[str] = []
    for kind, count in KINDS.items():
        for n in range(count):
            name, folder = f"{SCHEMA}.{kind}_{n}", base / f"{kind}_{n}"
            if kind == "view":
                statements.append(f"CREATE VIEW {name} AS SELECT * FROM {SCHEMA}.quiet_{n}")
                continue
            if kind == "json":
                folder.mkdir()
                (folder / "rows.json").write_text('{"id": 1}\n')
            elif kind not in ("missing", "unreadable"):
                write(folder, 1 if kind == "quiet" else 3)
            if kind == "damaged":
                for file in folder.iterdir():
                    file.write_bytes(b"PAR1 and no footer PAR1")
            form = "json" if kind == "json" else "parquet"
            if kind == "unreadable":
                # CREATE TABLE looks into its folder. So each process has a folder of its own, and forbids it later.
                folder = Path(f"{WORK}/unreadable_{n}")
                forbidden.append(f"{FORBID}{folder}")
            statements.append(f"CREATE TABLE {name} (id BIGINT) USING {form} LOCATION '{folder}'")
    # Two tables over one folder.
    write(base / "shared", 3)
    twin = "CREATE TABLE {}.twin_{} (id BIGINT) USING parquet LOCATION '{}/shared'"
    return statements + forbidden + [twin.format(SCHEMA, n, base) for n in (1, 2)]


def kind_of(table: str) -> str:
    return table.removeprefix(f"{SCHEMA}.").split("_")[0]


def by_kind(answer: str, key: str) -> dict[str, Counter[str]]:
    """How often each kind of table has a value of a key."""
    parsed = json.loads(answer)
    found: dict[str, Counter[str]] = {}
    for table in parsed if isinstance(parsed, list) else parsed["tables"]:
        found.setdefault(kind_of(table["table"]), Counter())[table[key].split(":")[0].split(" by ")[0]] += 1
    return found


def rows(base: Path, kind: str) -> list[list[int]]:
    folders = [base / f"{kind}_{n}" for n in range(KINDS[kind])]
    return [
        sorted(i for f in folder.glob("*.parquet") for i in pq.read_table(f)["id"].to_pylist()) for folder in folders
    ]


@pytest.mark.skipif(not permissions_hold(), reason="root may read everything, and there is no setpriv")
def test_a_thousand_tables_of_which_some_are_bad(tmp_path: Path) -> None:
    base = tmp_path / "tables"
    base.mkdir()
    statements = tmp_path / "statements.json"
    statements.write_text(json.dumps(make(base)))
    here = ("--schema", SCHEMA)
    rival = Rival(tmp_path / "rival")
    try:
        held = [
            rival.pause(f"OPTIMIZE parquet.`{base}/locked_{n}` ZORDER BY (id)", "after-staging-all")
            for n in range(KINDS["locked"])
        ]

        code, out, log = Night(tmp_path / "status", statements, "status", *here, "--json").end()
        assert code == 0, log
        states = by_kind(out, "state")
        assert len(json.loads(out)) == sum(KINDS.values()) + 2
        assert states["quiet"] == {"ok": KINDS["quiet"]}
        assert states["view"] == {"not ours": KINDS["view"]}
        assert states["json"] == {"not ours": KINDS["json"]}
        assert states["locked"] == {"locked": KINDS["locked"]}
        assert states["unreadable"] == {"error": KINDS["unreadable"]}

        code, out, log = Night(tmp_path / "check", statements, "status", *here, "--json", "--check").end()
        assert code == 0, log
        assert by_kind(out, "state") == {**states, "damaged": {"error": KINDS["damaged"]}}

        # The JVM dies in the middle of an exchange of files, and the run ends at once.
        killed = Night(tmp_path / "killed", statements, "optimize", *here, "--json", asked=step("reveal-1"))
        code, out, log = killed.end()
        assert code == 1, log
        assert {t["outcome"] for t in json.loads(out)["tables"]} <= {"failed", "locked"}

        code, out, log = Night(tmp_path / "half", statements, "status", *here, "--json").end()
        halves = [t["table"] for t in json.loads(out) if t["state"].startswith("half published")]
        assert len(halves) == 1, log

        # Two runs at once.
        both = [Night(tmp_path / f"run{n}", statements, "optimize", *here, "--json") for n in (1, 2)]
        outcomes: list[Told] = []
        for night in both:
            code, out, log = night.end()
            assert code == 1, log
            outcomes.append({t["table"]: t for t in json.loads(out)["tables"]})
        for table in (f"{SCHEMA}.needy_{n}" for n in range(KINDS["needy"])):
            found = sorted(told[table]["outcome"] for told in outcomes if table in told)
            # What was killed is only recovered.
            once = ["nothing", "nothing"] if table in halves else ["nothing", "optimized"]
            assert found in (once, ["locked", once[-1]], once[-1:]), (table, found)
        for told in outcomes:
            kinds = {(kind_of(table), outcome["outcome"]) for table, outcome in told.items()}
            assert {("damaged", "failed"), ("unreadable", "failed"), ("locked", "locked")} <= kinds, kinds
            assert {kind for kind, outcome in kinds if outcome == "failed"} <= set(FAILING), kinds
        assert rows(base, "needy") == [list(range(ROWS))] * KINDS["needy"]
        assert all(len(list((base / f"needy_{n}").glob("*.parquet"))) == 1 for n in range(KINDS["needy"]))

        # Only what cannot be done is left.
        code, out, log = Night(tmp_path / "again", statements, "optimize", *here, "--json").end()
        assert code == 1, log
        again = by_kind(out, "outcome")
        assert again["damaged"] == {"failed": KINDS["damaged"]}
        assert again["unreadable"] == {"failed": KINDS["unreadable"]}
        assert again["locked"] == {"locked": KINDS["locked"]}
        assert set(again) <= {"locked", *FAILING}, again
        alone = [word for n in range(KINDS["locked"]) for word in ("--table", f"locked_{n}")]
        code, _, log = Night(tmp_path / "alone", statements, "optimize", *here, *alone).end()
        assert code == 3, log

        for one in held:
            assert one.error() is None
    finally:
        rival.kill()
    assert rows(base, "locked") == [list(range(ROWS))] * KINDS["locked"]
    assert rows(base, "quiet") == [list(range(ROWS))] * KINDS["quiet"]
    code, _, log = Night(tmp_path / "last", statements, "optimize", *here, *alone).end()
    assert code == 0, log
