package org.sparkzorder.optimize.plan

import java.io.File

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.input_file_name
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.command.OptimizeCommand
import org.sparkzorder.memory.MemoryTables
import org.sparkzorder.optimize.options.OptionsOfTable
import org.sparkzorder.optimize.report.{ColumnClustering, OptimizeMetrics, OptimizeStrategy, OptimizeSummary}
import org.sparkzorder.scan.AskedFs
import org.sparkzorder.table.PlainTables

/** Options that count how often they are gone through. */
private final class CountedOptions(options: Seq[(String, String)]) extends Seq[(String, String)] {
  var times = 0
  override def apply(i: Int): (String, String) = options(i)
  override def length: Int = options.length
  override def iterator: Iterator[(String, String)] = {
    times += 1
    options.iterator
  }
}

/** What whole statements plan, what they say of it, and how often they ask for what they should know already. */
class PlannedStatementsSuite extends AnyFunSuite with MemoryTables {

  override protected def settings: Map[String, String] = super.settings +
    ("spark.zorder.memory.enabled" -> "false") + ("spark.hadoop.fs.asked.impl" -> classOf[AskedFs].getName)

  private var made = 0

  private def written(rows: DataFrame): String = {
    made += 1
    val to = new File(dir, s"planned$made").toString
    rows.write.option("compression", "uncompressed").parquet(to)
    to
  }

  private def optimize(path: String, words: String): Row =
    spark.sql(s"OPTIMIZE parquet.`$path` $words").selectExpr("metrics.*", "metrics.auto.*").head()

  private def read(path: String): Int = spark.read.parquet(path).inputFiles.length

  private def removed(path: String, target: Int): Long =
    optimize(path, s"OPTIONS ('target-file-size-bytes' = '$target')").getAs[Long]("numFilesRemoved")

  test("what a packing wrote stays, though one row is larger than a file should be", InRest) {
    val path =
      written(spark.sql("SELECT id, if(id = 7, repeat('abcdefgh', 20000), 'x') AS text FROM range(0, 1000, 1, 1)"))
    assert(removed(path, 20000) == 1 && read(path) > 2)
    assert(removed(path, 20000) == 0)
    spark.sql("SELECT 1000L AS id, 'x' AS text").write.mode("append").parquet(path)
    assert(removed(path, 20000) > 0)
    assert(removed(path, 20000) == 0)
    assert(removed(path, 40000) > 0)
  }

  test("the table's option maxRecordsPerFile comes before the session's", InRest) {
    spark.sql("CREATE TABLE limited USING parquet OPTIONS ('maxRecordsPerFile' '100') AS SELECT id FROM range(1000)")
    try {
      def most = spark.table("limited").groupBy(input_file_name()).count().selectExpr("max(count)").head().getLong(0)
      assert(most == 100)
      withSettings("spark.sql.files.maxRecordsPerFile" -> "300") {
        spark.sql("OPTIMIZE limited FULL ZORDER BY (id) OPTIONS ('num-files' = '2')")
      }
      assert(most <= 100)
      spark.sql("OPTIMIZE limited FULL OPTIONS ('num-files' = '2')")
      assert(most <= 100)
    } finally spark.sql("DROP TABLE limited")
  }

  test("no bound is told that equal rows cannot reach", InRest) {
    val path = written(spark.sql("SELECT 7 AS a, 'x' AS b, id FROM range(0, 8000, 1, 2)"))
    val result = spark.sql(s"OPTIMIZE parquet.`$path` ZORDER BY (a, b) OPTIONS ('num-files' = '16')")
      .selectExpr("metrics.clustering.boundFiles", "summary").head()
    assert(result.getSeq[Double](0) == Seq(16d, 16d))
    assert(result.getString(1).contains("reads 16 of 16 files, before: 2 of 2, best possible: 16."))
    val described =
      spark.sql(s"DESCRIBE CLUSTERING parquet.`$path` (a, b)").select("mean_files", "bound_files").collect()
    assert(described.toSeq.forall(_ == Row(16d, 16d)))
  }

  test("AUTO does not cluster by a key whose values the index has, for lookups alone", InRest) {
    val path = written(spark.sql(
      "SELECT id * 7919 % 20000 AS id, pmod(hash(id), 1000) AS a, pmod(hash(id, 1), 1000) AS b FROM range(0, 20000, 1, 4)"
    ))
    def layout: String = optimize(path, "ZORDER BY AUTO OPTIONS ('num-files' = '32') DRY RUN").getAs[String]("layout")
    def ask(where: Int => String) =
      (1 to 10).foreach(i => spark.sql(s"SELECT sum(id) FROM parquet.`$path` WHERE ${where(i)}").collect())
    withSettings("spark.zorder.workload.enabled" -> "true") {
      spark.sql(s"CREATE SKIPPING INDEX ON parquet.`$path`")
      ask(i => s"id = ${i * 1813}")
      ask(i => s"a BETWEEN ${i * 90} AND ${i * 90 + 20}")
      assert(layout.contains("id") && layout.contains("a"))
      spark.sql(s"CREATE OR REPLACE SKIPPING INDEX ON parquet.`$path` (*, id VALUES)")
      assert(!layout.contains("id") && layout.contains("a"))
      ask(i => s"id BETWEEN ${i * 1800} AND ${i * 1800 + 100}")
      assert(layout.contains("id"))
    }
  }

  test("the options of a statement are parsed once", InRest) {
    val path = written(spark.range(100).repartition(8).toDF())
    val sql = s"OPTIMIZE parquet.`$path` ZORDER BY (id) OPTIONS ('num-files' = '2')"
    val statement = spark.sessionState.sqlParser.parsePlan(sql).asInstanceOf[OptimizeCommand].statement
    val single = new CountedOptions(statement.options)
    OptionsOfTable.merged(PlainTables.open(PlainTables.locate(spark, statement.target)), single)
    assert(single.times > 0)
    for (dryRun <- Seq(true, false)) withSettings("spark.zorder.memory.enabled" -> "true") {
      val counted = new CountedOptions(statement.options)
      val rows = OptimizeCommand(statement.copy(options = counted, dryRun = dryRun)).run(spark)
      assert(rows.size == 1 && counted.times == single.times)
    }
    assert(read(path) == 2)
  }

  test("a dry run lists the side folder five times") {
    val path = written(spark.range(100).repartition(8).toDF())
    AskedFs.paths.clear()
    withSettings("spark.zorder.memory.enabled" -> "true") {
      spark.sql(s"OPTIMIZE parquet.`asked://$path` ZORDER BY (id) DRY RUN").collect()
    }
    assert(AskedFs.paths.asScala.count(_.endsWith("/_zorder")) == 5)
  }

  private val rewritten = OptimizeMetrics(
    added = Seq.fill(19)(64L << 20),
    removed = Seq.fill(24)(51L << 20),
    considered = 24,
    partitions = 1,
    batches = 1,
    clustered = true,
    version = 1,
    clustering = Seq(ColumnClustering("carrier", Some(24), Some(5.63), 5.1)),
    strategy = OptimizeStrategy("full", "", None),
    auto = None,
    target = None,
    millis = Some(41000)
  )

  // Their words are in sql-tests/results, which have neither sizes nor times.
  test("summaries tell sizes and times in units for people") {
    Seq(
      rewritten -> ("24 → 19 files, 1.2 GiB in 41 s. A lookup on `carrier` reads 5.6 of 19 files, before: 24 of 24, " +
        "best possible: 5.1. Retired files take 1.2 GiB until VACUUM."),
      rewritten.copy(added = Seq(100L), removed = Seq(60L, 60L), considered = 2, millis = None) ->
        ("2 → 1 file, 120 B. One file is left, so nothing can be skipped. For more files set 'num-files' or " +
          "'target-file-size-bytes'. Retired files take 120 B until VACUUM."),
      rewritten.copy(dryRun = true, millis = Some(150000)) ->
        ("Would rewrite 24 → 19 files, 1.2 GiB in about 2.5 min. A lookup on `carrier` would read about 5.6 of 19 " +
          "files, before: 24 of 24, best possible: 5.1. Nothing was changed.")
    ).foreach { case (metrics, summary) => assert(OptimizeSummary.of(metrics) == summary) }
  }
}
