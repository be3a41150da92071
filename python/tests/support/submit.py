"""Starts `spark-submit` as a user does, away from the user's home."""

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import REPOSITORY
from processes import environment
from servers import HOME, confs
from spark_versions import NEWEST, VERSION

from spark_zorder import EXTENSION, jar_path

PUBLISHED = REPOSITORY / "build" / "m2"


PAGE = (REPOSITORY / "docs" / "running" / "programs.md").read_text()

LOOKUP = """
import os
path = os.path.abspath("t")
spark.range(4000).selectExpr("id", "pmod(hash(id), 1000) AS a").repartition(8).write.parquet(path)
spark.sql(f"OPTIMIZE parquet.`{path}` ZORDER BY (a) OPTIONS ('num-files' = '8')")
[scan] = spark.sql(f"EXPLAIN SKIPPING SELECT * FROM parquet.`{path}` WHERE a = 17").collect()
print("kept", scan.files_kept, "rows", spark.sql(f"SELECT * FROM parquet.`{path}` WHERE a = 17").count())
"""
"""A program for a shell of Spark. It prints `kept 1 rows 7`."""

LOOKUP_PROGRAM = f"from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n{LOOKUP}"


def of_page(heading: str, replaced: Mapping[str, str]) -> list[str]:
    """The arguments of the first `spark-submit` below a heading of docs/running/programs.md, some words replaced."""
    block = PAGE.partition(f"\n## {heading}\n")[2].partition("```console\n")[2].partition("```")[0]
    words = shlex.split(block.partition("spark-submit")[2].replace("\\\n", " "))
    known = {"$(python -m spark_zorder jar)": str(jar_path()), **replaced}
    return [known.get(word, word) for word in words[: words.index("program.py")]]


def program_of_page(folder: Path, before: str = "", after: str = "") -> Path:
    """Write the program of docs/running/programs.md, with code before and after it."""
    code = PAGE.partition("```python\n")[2].partition("```")[0]
    program = folder / "program.py"
    program.write_text("\n".join([before, code, after]))
    return program


def by_packages(folder: Path) -> list[str]:
    """The arguments that bring the published jar, and nothing of the user's caches."""
    if not PUBLISHED.exists():
        pytest.fail(f"{PUBLISHED} is missing: make build/stamps/published")
    settings = folder / "ivysettings.xml"
    settings.write_text(
        f"""<ivysettings>
          <settings defaultResolver="published"/>
          <caches defaultCacheDir="{folder}/cache"/>
          <resolvers><ibiblio name="published" m2compatible="true" root="{PUBLISHED.as_uri()}"/></resolvers>
        </ivysettings>"""
    )
    arguments = ["--packages", f"org.sparkzorder:{NEWEST.artifact}:{VERSION}"]
    return arguments + confs({"spark.jars.ivy": f"{folder}/ivy", "spark.jars.ivySettings": settings})


def submit(
    arguments: list[str], program: str | Path, *words: str, folder: Path, more: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start a program, with small sizes and the extension. What it prints is in the file `log` of the folder."""
    home = folder / "home"
    home.mkdir()
    java = f"{os.environ.get('JDK_JAVA_OPTIONS', '')} -Duser.home={home}"
    variables = environment(HOME=str(home), JDK_JAVA_OPTIONS=java, **(more or {}))
    variables.pop("SPARK_HOME", None)
    settings = {
        "spark.sql.extensions": EXTENSION,
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.files.maxPartitionBytes": "4m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    command = [str(HOME / "bin" / "spark-submit"), *arguments, *confs(settings), str(program), *words]
    with (folder / "log").open("w") as log:
        return subprocess.Popen(command, cwd=folder, env=variables, stdout=log, stderr=subprocess.STDOUT, text=True)


def wait(running: subprocess.Popen[str], folder: Path, seconds: float = 900) -> None:
    """Wait for its end. The test fails with the end of the log if the program fails."""
    assert running.wait(seconds) == 0, (folder / "log").read_text(errors="replace")[-5000:]
