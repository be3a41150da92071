"""The session of a command over many tables: its start, its errors in words, and whether it still lives."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from spark_zorder.errors import NoJarError, ToolError, errors_of_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CONNECT_PORT = 15002
_SECONDS_TO_ANSWER = 10
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")


def start(settings: Sequence[str], remote: str | None) -> SparkSession:
    """Start a session with the extension, or one of Spark Connect.

    Args:
        settings: Texts such as `spark.master=yarn`.
        remote: A server, such as `sc://host:15002`.

    Raises:
        ToolError: There is no pyspark, no jar for it, or no server.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise ToolError("there is no pyspark for a session") from error
    from spark_zorder.session import configure_spark

    builder = SparkSession.builder.appName("spark-zorder")
    for setting in settings:
        key, _, value = setting.partition("=")
        builder = builder.config(key, value)
    try:
        if remote:
            _must_answer(remote)
            builder = builder.remote(remote)
        return configure_spark(builder).getOrCreate()
    except (NoJarError, ImportError) as error:
        raise ToolError(str(error)) from error


def _must_answer(remote: str) -> None:
    """Try the port. The client of Spark Connect would try for ten minutes before it says that no server is there.

    Raises:
        ToolError: No server answers.
    """
    # A proxy may reach a server that this host cannot.
    if not remote.startswith("sc://") or any(os.environ.get(p) or os.environ.get(p.upper()) for p in _PROXIES):
        return
    try:
        place = urlsplit(remote)
        socket.create_connection((place.hostname or "", place.port or _CONNECT_PORT), _SECONDS_TO_ANSWER).close()
    except (OSError, ValueError) as error:
        raise ToolError(f"there is no Spark Connect server at {_without_parameters(remote)}: {error}") from error


def _without_parameters(remote: str) -> str:
    # A parameter may be a token.
    return remote.split(";", 1)[0].rstrip("/")


def words_of(error: Exception) -> str:
    """The first line of what an error says."""
    java: Any = getattr(error, "java_exception", None)
    try:
        text = str(error) if java is None else str(java.toString())
    except errors_of_spark():
        # The JVM that could tell is gone.
        text = type(error).__name__
    lines = text.strip().splitlines()
    return lines[0] if lines else type(error).__name__


def words_without_extension(remote: str | None) -> str:
    """What to say when the session does not know a statement of ours."""
    if remote:
        return (
            f"The server at {_without_parameters(remote)} runs without the extension. Start it with the settings "
            "spark.jars, for the jar that `spark-zorder jar` prints, and "
            "spark.sql.extensions=org.sparkzorder.ZOrderSparkExtension."
        )
    return "The session runs without the extension: spark_zorder.doctor(spark) says what is missing."


def is_alive(spark: SparkSession) -> bool:
    """Whether the session still answers."""
    try:
        return bool(spark.sql("SELECT 1").collect())
    except errors_of_spark():
        return False


def interrupt(spark: SparkSession) -> None:
    """Stop what the session runs. It may be gone already.

    The calling thread may have been torn out of a call into the JVM, whose answer is still to come. So another thread
    asks, which has a connection of its own.
    """

    def cancel() -> None:
        with contextlib.suppress(*errors_of_spark()):
            if hasattr(spark, "_jsparkSession"):
                spark.sparkContext.cancelAllJobs()
            else:
                spark.interruptAll()

    thread = threading.Thread(target=cancel, daemon=True)
    thread.start()
    thread.join(_SECONDS_TO_ANSWER)
