"""The jars in this package. Each minor version of Spark needs its own, because Spark's planner changes between them.

The name of a jar says for which Spark and Scala it was built: `spark-zorder-<Spark>_<Scala>-<version>.jar`. A wheel has
the jar of one Spark, or those of all, in one archive. A jar in the folder itself, where a developer puts it, wins over
one in the archive.
"""

import re
from pathlib import Path

from spark_zorder import jar_archive
from spark_zorder.errors import NoJarError

SUPPORTED = ("3.5", "4.0", "4.1", "4.2", "4.3")
"""The minor versions of Spark for which a clone builds jars, oldest first."""

_FOLDER = Path(__file__).parent / "jars"
_NAME = re.compile(r"spark-zorder-(\d+\.\d+)_\d+\.\d+-.+\.jar")


def available_jars() -> dict[str, str]:
    """The file names of the jars of this package by minor version of Spark, oldest first."""
    names = [*jar_archive.names(_FOLDER), *(path.name for path in _FOLDER.glob("*.jar"))]
    found = {match[1]: name for name in names if (match := _NAME.fullmatch(name))}
    return dict(sorted(found.items(), key=lambda item: [int(part) for part in item[0].split(".")]))


def installed_spark() -> str:
    """The version of the installed pyspark, such as `4.1.0`.

    Raises:
        NoJarError: pyspark is not installed.
    """
    try:
        from pyspark.version import __version__
    except ImportError as error:
        raise NoJarError("pyspark is not installed here: install it, or give the version of Spark") from error
    return str(__version__)


def jar_path(spark_version: str | None = None) -> Path:
    """The path of the jar for a version of Spark. It is unpacked if it is asked for the first time.

    Args:
        spark_version: `4.1`, `4.1.0` and `4.1.0.dev1` all mean Spark 4.1. The default is the installed pyspark's.

    Raises:
        NoJarError: There is no jar for this minor version. The message says how to build a package for it, or lists the
            versions that are supported.
        OSError: The jar is not unpacked yet, and neither the user's cache folder nor that for temporary files can be
            written to.

    Examples:
        >>> from spark_zorder import jar_path
        >>> jar_path("4.1").name
        'spark-zorder-4.1_2.13-...jar'
        >>> jar_path("3.4")
        Traceback (most recent call last):
        ...
        spark_zorder.errors.NoJarError: no jar for Spark 3.4: spark-zorder supports Spark 3.5, 4.0, 4.1, 4.2, 4.3
    """
    wanted = installed_spark() if spark_version is None else spark_version
    minor = ".".join(wanted.split(".")[:2])
    jars = available_jars()
    if minor not in jars:
        installed = f" (pyspark {wanted} is installed)" if spark_version is None else ""
        if minor not in SUPPORTED:
            raise NoJarError(f"no jar for Spark {minor}{installed}: spark-zorder supports Spark {', '.join(SUPPORTED)}")
        several = "jars" if len(jars) > 1 else "a jar"
        offered = f"has {several} for Spark {', '.join(jars)}" if jars else "was built without any jar"
        raise NoJarError(
            f"no jar for Spark {minor}{installed}: this spark_zorder {offered}. "
            f"`make wheel SPARK={minor}` in a clone builds a package for it, and `make wheel-all` one for all. "
            "Install it with `pip install --force-reinstall --no-deps`, since these packages have the same version"
        )
    plain = _FOLDER / jars[minor]
    return plain if plain.exists() else jar_archive.unpacked(_FOLDER, jars[minor])
