"""Captures in a file what the JVM of the tests logs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession


@contextmanager
def logged(spark: SparkSession, file: Path, ours: str = "WARN") -> Iterator[Path]:
    """Log warnings of all classes, and messages of our own from a level on, into a file, complete after the block."""
    jvm = spark._jvm
    assert jvm is not None
    log4j = jvm.org.apache.logging.log4j
    context = log4j.LogManager.getContext(False)
    level = log4j.core.config.Configurator
    layout = log4j.core.layout.PatternLayout.newBuilder().withPattern("%p %c %m%n%throwable").build()
    appender = log4j.core.appender.FileAppender.newBuilder().withFileName(str(file)).setName(file.name)
    appender = appender.setLayout(layout).build()
    appender.start()
    root = context.getConfiguration().getRootLogger()
    before = root.getLevel()
    root.addAppender(appender, None, None)
    level.setRootLevel(log4j.Level.WARN)
    level.setLevel("org.sparkzorder", log4j.Level.toLevel(ours))
    context.updateLoggers()
    try:
        yield file
    finally:
        root.removeAppender(file.name)
        level.setLevel("org.sparkzorder", before)
        level.setRootLevel(before)
        appender.stop()
