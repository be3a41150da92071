"""The jars inside this package: one for each Spark minor, whose planners are not binary compatible with each other.

Its name says for which Spark and Scala it was built: `spark-zorder-<Spark>_<Scala>-<version>.jar`.
"""

import re
from pathlib import Path

from spark_zorder.errors import NoJarError

_FOLDER = Path(__file__).parent / "jars"
_NAME = re.compile(r"spark-zorder-(\d+\.\d+)_\d+\.\d+-.+\.jar")


def available_jars() -> dict[str, Path]:
    """The jars of this package by Spark minor, oldest first: `{"4.0": Path(..), ..}`."""
    found = {match[1]: path for path in _FOLDER.glob("*.jar") if (match := _NAME.fullmatch(path.name))}
    return dict(sorted(found.items(), key=lambda item: [int(part) for part in item[0].split(".")]))


def installed_spark() -> str:
    """The version of the installed pyspark, `4.3.1`.

    Raises:
        NoJarError: pyspark cannot be imported.
    """
    try:
        from pyspark.version import __version__
    except ImportError as error:
        raise NoJarError("pyspark is not installed here: install it, or say for which Spark the jar is") from error
    return str(__version__)


def jar_path(spark_version: str | None = None) -> Path:
    """The jar for a version of Spark.

    Args:
        spark_version: `4.1`, `4.1.0` and `4.1.0.dev1` are all Spark 4.1; the installed pyspark's when None.

    Raises:
        NoJarError: there is no jar for that minor; the message names those that there are.
    """
    wanted = installed_spark() if spark_version is None else spark_version
    minor = ".".join(wanted.split(".")[:2])
    jars = available_jars()
    if minor not in jars:
        installed = f" (pyspark {wanted} is installed)" if spark_version is None else ""
        offered = f"has jars for Spark {', '.join(jars)}" if jars else "was built without any jar"
        raise NoJarError(f"no jar for Spark {minor}{installed}: this spark_zorder {offered}")
    return jars[minor]
