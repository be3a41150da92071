"""A process that runs the nightly tool in a session with an own catalog, whose tables are in folders that others share.

    night_process.py <work> <statements> <argument>...

`statements` is a JSON list of SQL that makes the catalog's entries. The arguments are those of the tool.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from local_session import SMALL, local_session
from processes import start_child
from steps import environment

WORK = "$WORK"
"""Stands for the process's folder in a statement."""

FORBID = "FORBID "
"""Begins a statement that takes all rights on a folder away."""

UNREADABLE_FOR_ROOT = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
"""Runs a program whose root may read only what its permissions say."""


def permissions_hold() -> bool:
    """Whether `Night` can start a process that may not read everything."""
    return os.geteuid() != 0 or shutil.which("setpriv") is not None


class Night:
    """A run of the tool.

    Args:
        work: A folder of its own.
        statements: The file with the statements.
        arguments: The tool's.
        asked: A step at which its JVM stops, as `steps.step` gives it.
    """

    def __init__(self, work: Path, statements: Path, *arguments: str, asked: str = "") -> None:
        work.mkdir(parents=True)
        self._log = work / "log"
        self._out = work / "out"
        prefix = UNREADABLE_FOR_ROOT if os.geteuid() == 0 and shutil.which("setpriv") else []
        variables = environment(asked) if asked else {}
        with self._out.open("w") as out, self._log.open("w") as log:
            self.process = start_child(
                __file__,
                str(work),
                str(statements),
                *arguments,
                stdout=out,
                stderr=log,
                prefix=prefix,
                variables=variables,
            )

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
        if statement.startswith(FORBID):
            folder = Path(statement.removeprefix(FORBID).replace(WORK, work))
            folder.mkdir(exist_ok=True)
            folder.chmod(0o000)
        else:
            spark.sql(statement.replace(WORK, work))
    return tool(arguments)


if __name__ == "__main__":
    sys.exit(main())
