"""`python -m spark_zorder jar`: the jar's path, for `spark-submit --jars`."""

import argparse
import sys
from collections.abc import Sequence

import spark_zorder


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 when all went well, 1 when there is no such jar."""
    parser = argparse.ArgumentParser(prog="python -m spark_zorder", description=__doc__)
    parser.add_argument("--version", action="version", version=f"spark_zorder {spark_zorder.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    jar = commands.add_parser("jar", help="print the path of the jar", description="Print the path of the jar.")
    jar.add_argument("--spark", metavar="VERSION", help="for this Spark, 4.1 say; default: the installed pyspark's")
    options = parser.parse_args(arguments)
    try:
        print(spark_zorder.jar_path(options.spark))
    except spark_zorder.NoJarError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
