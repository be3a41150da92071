"""The command line. `spark-zorder jar` prints the jar's path, for `spark-submit --jars`.

`status --schema`, `optimize`, `vacuum` and `history` look after many tables, in a session that they start. `status`,
`recover`, `unlock` and `uninstall` with a path help after a crash.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import spark_zorder
from spark_zorder._cli import nightly_commands, tool_commands


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        The exit code: 0 for success, 1 for a failure, 3 when a living owner holds the table's lock.

    Raises:
        SystemExit: With 2 when the arguments are wrong.
    """
    parser = argparse.ArgumentParser(prog=_program(), description=__doc__)
    parser.add_argument("--version", action="version", version=f"spark_zorder {spark_zorder.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command", dest="command")
    jar = commands.add_parser("jar", help="print the path of the jar", description="Print the path of the jar.")
    jar.add_argument(
        "--spark", metavar="VERSION", help="the version of Spark, such as 4.1 (default: the installed pyspark's)"
    )
    jar.set_defaults(run=_jar)
    tool_commands.add(commands)
    nightly_commands.add(commands)
    options = parser.parse_args(arguments)
    nightly_commands.check(parser, options)
    tool_commands.check(parser, options)
    return int(options.run(options))


def _jar(options: argparse.Namespace) -> int:
    try:
        print(spark_zorder.jar_path(options.spark))
    except spark_zorder.NoJarError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _program() -> str:
    """The name that this program was started by."""
    return "python -m spark_zorder" if Path(sys.argv[0]).name == "__main__.py" else "spark-zorder"
