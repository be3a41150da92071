"""The errors of the Python side. Spark raises all others."""


class NoJarError(RuntimeError):
    """This package has no jar for this version of Spark, or pyspark is not installed.

    Examples:
        >>> from spark_zorder import NoJarError, jar_path
        >>> try:
        ...     jar_path("3.4")
        ... except NoJarError as error:
        ...     print(error)
        no jar for Spark 3.4: spark-zorder supports Spark 3.5, 4.0, 4.1, 4.2, 4.3
    """


class NoExtensionError(RuntimeError):
    """The session was started without the extension.

    Examples:
        >>> from spark_zorder import NoExtensionError, repartition_by_zorder_range
        >>> try:
        ...     clustered = repartition_by_zorder_range(rows, 16, "user", "day")
        ... except NoExtensionError:
        ...     clustered = rows.repartitionByRange(16, "user")
        >>> clustered.count()
        4096
    """


def condition_of(error: Exception) -> str | None:
    """The condition of an error of Spark's, such as `ZORDER_TABLE_NOT_FOUND`. Errors of others have none."""
    # The second is the method's name in Spark 3.5. Newer versions warn of it.
    for method in ("getCondition", "getErrorClass"):
        if hasattr(error, method):
            found: str | None = getattr(error, method)()
            return found
    return None


def errors_of_spark() -> tuple[type[Exception], ...]:
    """What a statement may raise. Spark passes some errors of Java on as they are."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError
    except ImportError:
        return (PySparkException, ConnectionError)
    return (PySparkException, ConnectionError, Py4JError)


class ToolError(RuntimeError):
    """A command of `spark-zorder` cannot run here."""
