"""A Hive metastore in a process of its own, which several Sparks share. Its program is among Spark's jars."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
from processes import free_port, java, wait_for_port

_SITE = """<configuration>
<property><name>javax.jdo.option.ConnectionURL</name><value>jdbc:derby:;databaseName={db};create=true</value></property>
<property><name>hive.metastore.warehouse.dir</name><value>{warehouse}</value></property>
<property><name>hive.metastore.schema.verification</name><value>false</value></property>
<property><name>datanucleus.schema.autoCreateAll</name><value>true</value></property>
<property><name>hive.async.log.enabled</name><value>false</value></property>
</configuration>
"""

# Hive's own settings of the log, and its asynchronous log, need a library that Spark does not have.
_LOG = """status = WARN
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
rootLogger.level = WARN
rootLogger.appenderRef.console.ref = console
"""


@contextmanager
def metastore(work: Path) -> Iterator[dict[str, str]]:
    """Start a metastore in Derby. Yields the settings with which a Spark uses it."""
    work.mkdir(parents=True, exist_ok=True)
    warehouse = work / "warehouse"
    (work / "hive-site.xml").write_text(_SITE.format(db=work / "metastore_db", warehouse=warehouse))
    (work / "log4j2.properties").write_text(_LOG)
    port = free_port()
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    program = "org.apache.hadoop.hive.metastore.HiveMetaStore"
    with (work / "metastore.txt").open("w") as log:
        options = ["-Xmx512m", f"-Dderby.system.home={work}", f"-Dhive.log4j.file={work / 'log4j2.properties'}"]
        command = [java(), *options, "-cp", f"{work}:{jars}", program, "-p", str(port)]
        process = subprocess.Popen(command, cwd=work, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            wait_for_port(port, process, work / "metastore.txt")
            yield {
                "spark.sql.catalogImplementation": "hive",
                "spark.hadoop.hive.metastore.uris": f"thrift://127.0.0.1:{port}",
                "spark.sql.warehouse.dir": str(warehouse),
            }
        finally:
            process.kill()
            process.wait()
