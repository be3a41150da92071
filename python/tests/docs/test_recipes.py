"""The recipes of docs/maintenance.md: cron with spark-submit, Airflow, dbt and Spark Connect run each of them."""

import json
import os
import re
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import REPOSITORY
from processes import printed, ran
from servers import HOME, WITH_US, connect_server, thrift_server

PAGE = REPOSITORY / "docs" / "maintenance.md"
ENVIRONMENTS = REPOSITORY / "build" / "envs"
AIRFLOW = ENVIRONMENTS / "airflow" / "bin" / "python"
DBT = ENVIRONMENTS / "dbt" / "bin" / "dbt"

pytestmark = pytest.mark.test_all


def recipe(name: str, folder: Path) -> Path:
    """Write a file of the page into a folder."""
    found = re.search(rf'^```\w+ title="{re.escape(name)}"\n(.*?)^```$', PAGE.read_text(), re.M | re.S)
    assert found is not None, name
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(found[1])
    path.chmod(0o755)
    return path


OWN = {"PYTHON": sys.executable, "PYTHONPATH": ""}
"""Variables of each program, which sees no module of the tests."""


def metastore(folder: Path) -> str:
    """Write a spark-defaults.conf for a metastore with two tables in the schema `sales`. Return its folder."""
    settings = {
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/metastore;create=true",
    }
    conf = folder / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text("".join(f"{key}  {value}\n" for key, value in settings.items()))
    make = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
spark.sql("CREATE DATABASE sales")
for name in ("orders", "customers"):
    spark.range(2000).repartition(6).write.saveAsTable(f"sales.{name}")
"""
    printed([sys.executable, "-c", make], folder, SPARK_CONF_DIR=str(conf), **OWN)
    return str(conf)


def files(folder: Path) -> int:
    return len(list(folder.glob("*.parquet")))


def rows(folder: Path) -> list[int]:
    return sorted(i for file in folder.glob("*.parquet") for i in pq.read_table(file)["id"].to_pylist())


def test_cron_with_spark_submit(tmp_path: Path) -> None:
    conf = metastore(tmp_path)
    recipe("nightly.py", tmp_path)
    script = recipe("nightly.sh", tmp_path)
    path = f"{HOME / 'bin'}{os.pathsep}{os.environ['PATH']}"
    out = printed([script, "sales"], Path("/"), SPARK_CONF_DIR=conf, PATH=path, **OWN)
    lines = [re.sub(r"\. .*", "", line) for line in out.splitlines()]
    expected = [f"sales.{name}: {what}" for name in ("customers", "orders") for what in ("optimized", "vacuumed")]
    assert sorted(line.partition("] ")[2] for line in lines) == expected, out
    for name in ("orders", "customers"):
        assert files(tmp_path / "warehouse" / "sales.db" / name) == 1
        assert rows(tmp_path / "warehouse" / "sales.db" / name) == list(range(2000))
    typo = ran([script, "typo"], Path("/"), SPARK_CONF_DIR=conf, PATH=path, **OWN)
    assert typo.returncode == 1
    # spark-submit prints both outputs of a program as one.
    assert "SCHEMA_NOT_FOUND" in typo.stdout, typo.stderr[-2000:]


@pytest.mark.skipif(not AIRFLOW.exists(), reason="`make build/stamps/env-airflow` installs Airflow")
def test_airflow_parses_the_dag_and_runs_it(tmp_path: Path) -> None:
    conf = metastore(tmp_path)
    dag = recipe("nightly_dag.py", tmp_path / "dags")
    parse = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
bag = DagBag(sys.argv[1])
tasks = {task.task_id: sorted(task.downstream_task_ids) for dag in bag.dags.values() for task in dag.tasks}
print(json.dumps([bag.import_errors, sorted(bag.dags), tasks]))
"""
    home = {
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dag.parent),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "SPARK_ZORDER": f"{sys.executable} -m spark_zorder",
        "SPARK_CONF_DIR": conf,
        **OWN,
    }
    parsed = json.loads(printed([AIRFLOW, "-c", parse, dag.parent], tmp_path, **home).splitlines()[-1])
    assert parsed == [{}, ["nightly_optimize"], {"optimize_sales": ["vacuum_sales"], "vacuum_sales": []}]
    printed([AIRFLOW, "-m", "airflow", "db", "migrate"], tmp_path, **home)
    done = ran([AIRFLOW, "-m", "airflow", "dags", "test", "nightly_optimize"], tmp_path, **home)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert (done.stdout + done.stderr).count("new_state=success") == 2, done.stdout[-3000:]
    for name in ("orders", "customers"):
        assert files(tmp_path / "warehouse" / "sales.db" / name) == 1
        assert rows(tmp_path / "warehouse" / "sales.db" / name) == list(range(2000))


@pytest.mark.skipif(not DBT.exists(), reason="`make build/stamps/env-dbt` installs dbt")
def test_dbt_clusters_a_model_after_each_run(tmp_path: Path) -> None:
    for name in ("macros/zorder.sql", "models/orders.sql", "profiles.yml", "dbt_project.yml"):
        recipe(name, tmp_path / "project")
    table = tmp_path / "spark" / "warehouse" / "sales.db" / "orders"
    # With spark.jars alone, a later connection did not find our classes.
    settings = {**WITH_US, "spark.driver.extraClassPath": WITH_US["spark.jars"]}
    with thrift_server(tmp_path / "spark", settings) as port:
        for number in range(3):
            command = [str(DBT), "--no-send-anonymous-usage-stats", "run", "--profiles-dir", "."]
            command += ["--vars", f"first: {2000 * number}"]
            own = {"SPARK_HOST": "127.0.0.1", "SPARK_PORT": str(port), **OWN}
            assert "PASS=1 " in printed(command, tmp_path / "project", **own)
            assert rows(table) == list(range(2000 * (number + 1)))
            records = [json.loads(path.read_text()) for path in (table / "_zorder").glob("*.json")]
            assert len(records) >= 1, list((table / "_zorder").iterdir())


def test_a_job_over_connect(tmp_path: Path) -> None:
    script = recipe("connect.sh", tmp_path)
    make = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.sql("CREATE DATABASE sales")
spark.range(2000).repartition(6).write.saveAsTable("sales.orders")
"""
    with connect_server(tmp_path / "spark", WITH_US) as url:
        printed([sys.executable, "-c", make, url], tmp_path, **OWN)
        here = {"SPARK_REMOTE": url, "JAVA_HOME": "/nowhere", **OWN}
        answer = json.loads(printed([script], tmp_path, **here))
        assert [(t["table"], t["outcome"]) for t in answer["tables"]] == [("sales.orders", "optimized")]
        assert json.loads(printed([script], tmp_path, **here)) == {"exitCode": 0, "tables": []}
    table = tmp_path / "spark" / "warehouse" / "sales.db" / "orders"
    assert (files(table), rows(table)) == (1, list(range(2000)))
    gone = ran([script], tmp_path, SPARK_REMOTE=url, **OWN)
    assert gone.returncode == 1
    assert "there is no Spark Connect server" in json.loads(gone.stdout)["message"]
