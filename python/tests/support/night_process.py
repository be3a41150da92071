"""Runs the nightly tool in a session with an own catalog: `night_process.py <work> <statements> <argument>...`.

`statements` is a JSON list of SQL that makes the catalog's entries. The arguments are those of the tool.
"""

import json
import subprocess
import sys
from pathlib import Path

from local_session import SMALL, local_session
from processes import start_child
from steps import environment

WORK = "$WORK"
"""Stands for the process's folder in a statement."""


class Night:
    """A run of the tool. Its JVM may stop at a step, as `steps.step` gives it."""

    def __init__(self, work: Path, statements: Path, *arguments: str, asked: str = "") -> None:
        work.mkdir(parents=True)
        self._log = work / "log"
        self._out = work / "out"
        with self._out.open("w") as out, self._log.open("w") as log:
            variables = environment(asked) if asked else {}
            where = {"stdout": out, "stderr": log}
            self.process = start_child(__file__, str(work), str(statements), *arguments, variables=variables, **where)

    def end(self, seconds: float = 900) -> tuple[int, str, str]:
        """Wait for its end. Return its exit code, its output and the end of its error output."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return code, self._out.read_text(), self.log()

    def log(self) -> str:
        """The end of all that was written there."""
        return self._log.read_text()[-3000:]


def main() -> int:
    """Make the tables known, and run the tool."""
    from spark_zorder._cli.main import main as tool

    work, statements, *arguments = sys.argv[1:]
    spark = local_session(Path(work), settings=SMALL)
    spark.sparkContext.setLogLevel("OFF")
    for statement in json.loads(Path(statements).read_text()):
        spark.sql(statement.replace(WORK, work))
    return tool(arguments)


if __name__ == "__main__":
    sys.exit(main())
