"""Runs statements. When one fails because the session lacks the extension, the error says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from spark_zorder.errors import NoExtensionError, condition_of
from spark_zorder.session import EXTENSION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The extension brings this function, so it shows whether the extension is there.
_OUR_FUNCTION = "interleave_bits"


class Session(Protocol):
    """The only method of a session that this package calls. Classic sessions and those of Spark Connect have it."""

    def sql(self, sqlQuery: str, /) -> DataFrame:  # noqa: N803
        """Run a statement."""


def run(spark: Session, statement: str) -> DataFrame:
    """Run one of our statements.

    Raises:
        NoExtensionError: The statement failed, and the session was started without the extension.
    """
    try:
        return spark.sql(statement)
    except Exception as error:
        # Without the extension most statements are syntax errors, but DESCRIBE DETAIL t is a table that is not found.
        if _is_of_spark(error) and not has_extension(spark):
            raise no_extension(spark) from error
        raise


def has_extension(spark: Session) -> bool:
    """Whether the session knows our statements and hints."""
    return len(spark.sql(f"SHOW FUNCTIONS LIKE '{_OUR_FUNCTION}'").collect()) > 0


def no_extension(spark: Session) -> NoExtensionError:
    """The error that says how to start a session with the extension."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        return NoExtensionError(
            f"the Spark Connect server was started without the extension {EXTENSION}: start the server with "
            f"--jars and the jar that `spark-zorder jar` prints, and --conf spark.sql.extensions={EXTENSION}"
        )
    return NoExtensionError(
        f"this session was started without the extension {EXTENSION}: start it with configure_spark. "
        "spark_zorder.doctor(spark) says what is missing"
    )


def _is_of_spark(error: Exception) -> bool:
    from pyspark.errors import AnalysisException

    return isinstance(error, AnalysisException) and not (condition_of(error) or "").startswith("ZORDER_")
