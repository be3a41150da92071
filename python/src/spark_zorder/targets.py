"""Tables and folders as statements name them, and whether they are tables of ours."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import PurePath

from spark_zorder.errors import condition_of
from spark_zorder.names import quote, quote_name, quote_string
from spark_zorder.statements import Session, run

# `Path("s3a://bucket/t")` is `s3a:/bucket/t`, and so is a path of HDFS whose host is then unknown.
_SHORTENED_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/(?!/)")
_INDEX_NOT_FOUND = "ZORDER_INDEX_NOT_FOUND"


@dataclass(frozen=True)
class PlainCheck:
    """Whether a name stands for a plain table of Parquet or ORC files. It is true or false itself.

    Attributes:
        plain: Whether it does.
        reason: Why not, in a sentence; empty if it does.
        condition: The condition of the error that statements on it have, such as
            `ZORDER_UNSUPPORTED_TARGET.OTHER_TABLE_FORMAT`; None if it does.

    Examples:
        >>> spark.sql("CREATE OR REPLACE TEMP VIEW late AS SELECT * FROM events WHERE day > 60").count()
        0
        >>> check = ZOrderTable.is_plain(spark, "late")
        >>> bool(check), check.condition
        (False, 'ZORDER_UNSUPPORTED_TARGET.KIND')
    """

    plain: bool
    reason: str = ""
    condition: str | None = None

    def __bool__(self) -> bool:
        return self.plain


def is_path(target: str | os.PathLike[str]) -> bool:
    """Whether a target is a path or a URL, and not a name."""
    return isinstance(target, os.PathLike) or ("/" in target and "`" not in target)


def of_name(name: str) -> str:
    """A table's name as statements write it.

    Raises:
        ValueError: It is a path, or cannot be a name.
    """
    if is_path(name):
        raise ValueError(f"{str(name)!r} is a path: write ZOrderTable.for_path(spark, {str(name)!r})")
    return quote_name(name)


def of_path(path: str | os.PathLike[str], format: str | None) -> str:  # noqa: A002
    """A folder as statements write it.

    Raises:
        ValueError: The path is empty, or a `pathlib.Path` of a URL.
    """
    # Paths of other libraries, such as universal_pathlib, are URLs as text. Their `__fspath__` may download the folder.
    text = str(path)
    if "://" not in text:
        text = os.fspath(path)
    if not text:
        raise ValueError("the path is empty")
    if isinstance(path, PurePath) and _SHORTENED_URL.match(text):
        raise ValueError(f"a pathlib.Path loses a slash of a URL: give the URL of {text!r} as a str")
    return quote_string(text) if format is None else f"{quote_name(format)}.{quote(text)}"


def check_plain(spark: Session, target: str) -> PlainCheck:
    """Ask whether a target is a table of ours, as statements write it."""
    from pyspark.errors import AnalysisException

    try:
        run(spark, f"DESCRIBE SKIPPING INDEX ON {target}")
    except AnalysisException as error:
        condition = condition_of(error) or ""
        if condition == _INDEX_NOT_FOUND:
            return PlainCheck(True)
        if not condition.startswith("ZORDER_"):
            raise
        return PlainCheck(False, _reason(error, condition), condition)
    return PlainCheck(True)


def _reason(error: Exception, condition: str) -> str:
    """What an error says, without its condition, what all of its class say, and its SQLSTATE."""
    text = re.sub(r"^\[[A-Z0-9_.]+\] | SQLSTATE: \w+;?$", "", str(error).split("\n")[0])
    return text.partition(". ")[2] if "." in condition else text
