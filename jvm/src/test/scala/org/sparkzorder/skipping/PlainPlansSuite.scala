package org.sparkzorder.skipping

import java.io.File

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{LocalSpark, ZOrderSparkExtension}
import org.sparkzorder.memory.learn.PendingScans
import org.sparkzorder.scan.AskedFs

/** A table without a side folder keeps Spark's own plan. The suite's own session is without the extension. */
class PlainPlansSuite extends AnyFunSuite with LocalSpark with AdaptiveSparkPlanHelper {
  import AskedFs.looks

  override protected def settings: Map[String, String] = Map("spark.hadoop.fs.asked.impl" -> classOf[AskedFs].getName)

  private var extended: SparkSession = _

  private def asked(name: String) = s"asked://$dir/$name"

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val rows = spark.range(0, 400, 1, 4)
      .selectExpr("id", "id % 10 AS k", "concat('n', id) AS name", "CAST(id / 100 AS INT) AS b")
    rows.write.parquet(s"$dir/plain")
    rows.write.orc(s"$dir/o")
    rows.write.partitionBy("b").parquet(s"$dir/p")
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
    extended = org.apache.spark.sql.SparkSession.builder().withExtensions(new ZOrderSparkExtension).getOrCreate()
      .asInstanceOf[SparkSession]
    val columns = "id BIGINT, k BIGINT, name STRING, b INT"
    for (session <- Seq(spark, extended)) {
      session.sql(s"CREATE TABLE plain ($columns) USING parquet LOCATION '${asked("plain")}'")
      session.sql(s"CREATE TABLE parts ($columns) USING parquet PARTITIONED BY (b) LOCATION '${asked("p")}'")
      session.sql("MSCK REPAIR TABLE parts")
      session.read.parquet(asked("plain")).createOrReplaceTempView("folder")
      session.read.orc(asked("o")).createOrReplaceTempView("orcs")
      session.read.parquet(asked("p")).createOrReplaceTempView("folders")
    }
  }

  private val tables = Seq("plain", "parts", "folder", "orcs", "folders")

  private def queries(t: String) = Seq(
    s"SELECT * FROM $t",
    s"SELECT id, name FROM $t WHERE id BETWEEN 10 AND 20 AND upper(name) LIKE '%7'",
    s"SELECT count(*), min(id), max(b) FROM $t",
    s"SELECT count(*) FROM $t WHERE id >= 0 AND b < 3",
    s"SELECT b, max(id) FROM $t WHERE upper(name) = 'N7' GROUP BY b",
    s"SELECT * FROM $t WHERE b = 1 AND k IN (1, 2) ORDER BY id DESC LIMIT 3",
    s"SELECT * FROM $t WHERE id < 100 LIMIT 5",
    s"SELECT x.id, y.name FROM $t x JOIN (SELECT * FROM $t WHERE k = 3) y ON x.id = y.id AND x.b = y.b",
    s"SELECT * FROM $t WHERE id IN (SELECT id FROM plain WHERE k = 1) AND b IN (SELECT b FROM folders WHERE b > 1)",
    s"SELECT k, name FROM $t WHERE id > (SELECT max(id) - 20 FROM plain) UNION ALL SELECT k, name FROM $t WHERE k = 7"
  )

  private def scans(query: DataFrame): Seq[FileSourceScanExec] =
    collectWithSubqueries(query.queryExecution.executedPlan) { case s: FileSourceScanExec => s }

  /** Each node with its class and all that it shows, without ids. */
  private def nodes(query: DataFrame): Seq[String] = {
    def all(plan: SparkPlan) = collectWithSubqueries(plan) { case node => node }
    all(query.queryExecution.executedPlan)
      .map(n => s"${n.getClass.getName} ${n.verboseString(1000)}".replaceAll("#\\d+L?|plan_id=\\d+", "#"))
  }

  private def sideFolder(scan: FileSourceScanExec): String = {
    val root = scan.relation.location.rootPaths.head
    new File((if (root.getName.startsWith("b=")) root.getParent else root).toUri.getPath, "_zorder").getPath
  }

  /** Asserts that the extension looks for the side folder once a scan, and makes the plan that Spark makes. */
  private def assertPlain(sql: String): (DataFrame, DataFrame) = {
    val (own, other) = (spark.sql(sql), extended.sql(sql))
    val (expected, found) = (looks(own.queryExecution.executedPlan), looks(other.queryExecution.executedPlan))
    assert(nodes(other) == nodes(own), sql)
    for ((a, b) <- scans(other).map(_.relation.location).zip(scans(own).map(_.relation.location)))
      assert(a == b && b == a && b.getClass.isInstance(a), sql)
    // A copy of a side of a join has been planned with it.
    val (sides, ours) = (scans(other).map(sideFolder), found.diff(expected))
    assert(ours.diff(sides).isEmpty && ours.toSet == sides.toSet && expected.diff(found).isEmpty, sql)
    (own, other)
  }

  test("50 queries of tables without a side folder have Spark's own plans after one look a scan") {
    assert(tables.flatMap(queries).size == 50)
    val joins = queries("parts").takeRight(3)
    for (sql <- tables.flatMap(queries); (own, other) = assertPlain(sql) if joins.contains(sql)) {
      assert(other.collect().map(_.toString).sorted.toSeq == own.collect().map(_.toString).sorted.toSeq)
      assert(nodes(other) == nodes(own), s"after it has run: $sql")
    }
    // They scan `plain`, too.
    for (folder <- Seq("p", "plain")) assert(PendingScans.sizeOf(new Path(asked(folder))).filters == 0)
  }

  test("Spark lists all partitions of a catalog's table when a query runs, and then there is one more look") {
    val (own, other) = (spark.table("parts"), extended.table("parts"))
    Seq(own, other).foreach(_.queryExecution.executedPlan)
    assert(looks(other.collect()).diff(looks(own.collect())) == Seq(new File(dir, "p/_zorder").getPath))
  }
}
