"""Looks at a session and says what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version as installed
from typing import TYPE_CHECKING

from spark_zorder.artifacts import available_jars
from spark_zorder.errors import condition_of, errors_of_spark
from spark_zorder.session import EXTENSION

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JAR = re.compile(r"spark-zorder-(\d+\.\d+)_[^/,]*?-([^/,]+?)\.jar")
_SAFE_SCHEMES = ("file", "hdfs", "viewfs")


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes:
        check: What was looked at.
        ok: Whether it is as it should be; None if it cannot be told from here.
        detail: What was found.
        remedy: What to do; empty if all is well.

    Examples:
        >>> doctor(spark).findings[2]
        Finding(check='extension', ok=True, detail='it works.', remedy='')
    """

    check: str
    ok: bool | None
    detail: str
    remedy: str = ""

    def __str__(self) -> str:
        sign = {True: "ok", False: "WRONG", None: "?"}[self.ok]
        return f"{sign:<6} {self.check}: {self.detail}" + (f" {self.remedy}" if self.remedy else "")


@dataclass(frozen=True)
class Diagnosis:
    """What `doctor` found. It reads as a list of lines.

    Attributes:
        findings: What each check found.

    Examples:
        >>> print(doctor(spark).findings[-1])
        ok     skipping: it is turned on.
    """

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether no check found anything wrong.

        Examples:
            >>> doctor(spark).ok
            True
        """
        return all(finding.ok is not False for finding in self.findings)

    def __repr__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)


def doctor(spark: SparkSession) -> Diagnosis:
    """Check a session: its Spark, the jar, the extension, catalog, file system and settings.

    It runs no job and changes nothing. Over Spark Connect it looks at the server's session.

    Examples:
        >>> from spark_zorder import doctor
        >>> [finding.check for finding in doctor(spark).findings]
        ['Spark', 'jar', 'extension', 'readers', 'catalog', 'file system', 'skipping']
    """
    checks = (_spark, _jar, _extension, _readers, _catalog, _file_system, _skipping)
    return Diagnosis(tuple(_safely(check, spark) for check in checks))


def _safely(check: Callable[[SparkSession], Finding], spark: SparkSession) -> Finding:
    from pyspark.errors import PySparkException

    try:
        return check(spark)
    except PySparkException as error:
        return Finding(check.__name__.strip("_").replace("_", " "), None, f"it cannot be looked at ({error}).")


def _setting(spark: SparkSession, key: str) -> str:
    # With a default of our own, Spark would not tell its default.
    try:
        return str(spark.conf.get(key) or "")
    except errors_of_spark() as error:
        # Before Spark 4 it is an error of Java.
        if "SQL_CONF_NOT_FOUND" in (condition_of(error) or str(error)):
            return ""
        raise


def _entries(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _spark(spark: SparkSession) -> Finding:
    known = list(available_jars())
    found = _minor(spark.version)
    if found in known:
        return Finding("Spark", True, f"{spark.version}, which this package supports.")
    return Finding("Spark", False, f"{spark.version}.", f"This package has jars for Spark {', '.join(known)}.")


def _jars(spark: SparkSession) -> Iterator[tuple[str, str]]:
    for match in _JAR.finditer(_setting(spark, "spark.jars")):
        yield match.group(1), match.group(2)


def _jar(spark: SparkSession) -> Finding:
    jars = set(_jars(spark))
    own = installed("spark_zorder")
    if not jars:
        detail = "spark.jars names none, so it is on the class path of the JVM, or missing."
        return Finding("jar", None, detail, "The next check tells.")
    if len(jars) > 1:
        named = ", ".join(f"{version} for Spark {minor}" for minor, version in sorted(jars))
        return Finding("jar", False, f"there are several: {named}.", "Keep the one for this Spark.")
    [(minor, version)] = jars
    if minor != _minor(spark.version):
        remedy = "Use the one that `spark-zorder jar` names, or configure_spark."
        return Finding("jar", False, f"it is for Spark {minor}, and this is {spark.version}.", remedy)
    if version != own:
        remedy = "Install the same version on both sides."
        return Finding("jar", False, f"it is of version {version}, and the Python package of {own}.", remedy)
    if _failure(spark):
        detail = f"spark.jars names version {version} for Spark {minor}, but this session runs without the extension."
        return Finding("jar", None, detail, "The next check tells how to load both.")
    return Finding("jar", True, f"version {version} for Spark {minor}.")


def _failure(spark: SparkSession) -> str:
    """What the session says of a statement of ours if it does not know it."""
    from pyspark.errors import PySparkException

    try:
        spark.sql("EXPLAIN SKIPPING SELECT 1").collect()
    except PySparkException as error:
        return str(error).strip().splitlines()[0]
    return ""


def _extension(spark: SparkSession) -> Finding:
    named = _entries(_setting(spark, "spark.sql.extensions"))
    if failure := _failure(spark):
        if EXTENSION in named:
            remedy = "A session without it may have been running already. Stop that one first, or add the jar to it."
        else:
            remedy = f"Start the session with spark.sql.extensions={EXTENSION}, or use configure_spark."
        return Finding("extension", False, f"statements do not work ({failure}).", remedy)
    if EXTENSION in named and named[-1] != EXTENSION:
        detail = f"{named[-1]} is named after it, gets each statement first, and may take those of plain tables."
        return Finding("extension", False, detail, f"Name {EXTENSION} last in spark.sql.extensions.")
    return Finding("extension", True, "it works.")


def _readers(spark: SparkSession) -> Finding:
    plain = {entry.lower() for entry in _entries(_setting(spark, "spark.sql.sources.useV1SourceList"))}
    missing = [name for name in ("parquet", "orc") if name not in plain]
    if not missing:
        return Finding("readers", True, "Parquet and ORC are read by Spark's V1 sources.")
    detail = f"{' and '.join(missing)} are read by Spark's V2 sources, which skip no files."
    return Finding("readers", False, detail, "Add them to spark.sql.sources.useV1SourceList.")


def _catalog(spark: SparkSession) -> Finding:
    session = _setting(spark, "spark.sql.catalog.spark_catalog")
    if session in ("", "builtin"):
        return Finding("catalog", True, f"Spark's own ({_setting(spark, 'spark.sql.catalogImplementation')}).")
    return Finding(
        "catalog", True, f"{session} is the session's catalog. Its own tables go to it, and plain ones here."
    )


def _file_system(spark: SparkSession) -> Finding:
    warehouse = _setting(spark, "spark.sql.warehouse.dir")
    found = re.match(r"([a-z][a-z0-9+.-]*):", warehouse)
    scheme = found.group(1) if found else "file"
    if scheme in _SAFE_SCHEMES:
        return Finding("file system", True, f"the warehouse is on {scheme}, where renames keep files as they are.")
    detail = f"the warehouse is on {scheme}."
    remedy = "OPTIMIZE tests whether a rename keeps a file's time there, and refuses if it does not. Indexes work."
    return Finding("file system", None, detail, remedy)


def _skipping(spark: SparkSession) -> Finding:
    if _setting(spark, "spark.zorder.skipping.enabled").lower() == "false":
        return Finding("skipping", False, "it is turned off.", "Set spark.zorder.skipping.enabled to true.")
    return Finding("skipping", True, "it is turned on.")
