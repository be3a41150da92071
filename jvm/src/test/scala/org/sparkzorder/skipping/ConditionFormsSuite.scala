package org.sparkzorder.skipping

import java.io.File
import java.nio.file.{Files, Paths}

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.memory.MemoryTables

/**
 * Asks for the rows of each of [[ConditionForms]], and compares the page of conditions with what they read. With
 * WRITE_GOLDEN=1 it writes the page anew.
 */
class ConditionFormsSuite extends AnyFunSuite with MemoryTables {
  import ConditionForms._

  override protected def settings: Map[String, String] = super.settings ++
    Map("spark.zorder.memory.enabled" -> "false", "spark.sql.session.timeZone" -> "UTC")

  private lazy val rows = spark.range(0, 8000, 1, 16).selectExpr(columns: _*)

  private lazy val flat = written(rows)

  private lazy val partitioned = {
    val parts = rows.selectExpr("*", "CAST(id DIV 2000 AS INT) AS p")
    val to = new File(dir, "partitioned").toString
    parts.write.partitionBy("p").parquet(to)
    spark.sql(s"CREATE SKIPPING INDEX ON parquet.`$to`")
    to
  }

  private def written(frame: DataFrame): String = {
    val to = new File(dir, "flat").toString
    frame.write.parquet(to)
    spark.sql(s"CREATE SKIPPING INDEX ON parquet.`$to`")
    spark.range(0, 10).selectExpr("id AS k").createOrReplaceTempView("other")
    to
  }

  /** The files that a condition reads. Its rows must be those of Spark alone. */
  private def read(frame: => DataFrame, condition: String): Long = {
    val before = SkippingErrors.total
    frame.createOrReplaceTempView("t")
    def query = spark.sql(s"SELECT * FROM t WHERE $condition")
    val (found, files) = run(query)
    val expected = withSettings("spark.zorder.skipping.enabled" -> "false")(run(query)._1)
    assert(found == expected && expected.nonEmpty, condition)
    assert(SkippingErrors.total == before, condition)
    files
  }

  private lazy val used: Seq[(Group, Seq[(String, Long)])] = groups.map { group =>
    val table = if (group.reads.exists(_.contains("p "))) partitioned else flat
    group -> group.reads.map(condition => condition -> read(spark.read.parquet(table), condition))
  }

  test("at most a tenth of the forms read more than two of sixteen files", InRest) {
    val all = used.flatMap(_._2)
    val more = all.filter(_._2 > 2)
    info(s"${all.size} forms, ${more.size} read more than two files: ${more.mkString(", ")}")
    assert(all.size > 100 && more.size * 10 <= all.size)
    assert(all.forall(_._2 < 16), all.filter(_._2 == 16))
  }

  test("the rows of each form are the same without ANSI mode, generated code and the filters of readers", InRest) {
    // With the filters of its own reader off, Spark looks at each row.
    withSettings(
      SQLConf.ANSI_ENABLED.key -> "false",
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.parquet.filterPushdown" -> "false"
    ) {
      groups.filterNot(_.reads.exists(_.contains("p "))).flatMap(_.reads).foreach { condition =>
        assert(read(spark.read.parquet(flat), condition) < 16, condition)
      }
    }
  }

  test("other forms read all files") {
    unused.foreach { case (condition, _) => assert(read(spark.read.parquet(flat), condition) == 16, condition) }
  }

  test("a table skips as well when its files are named by a pattern or one by one", InRest) {
    val parts = files(flat).map(_.toString)
    val named = Seq(
      "a pattern" -> (() => spark.read.parquet(s"$flat/*.parquet")),
      "a pattern with two parts" -> (() => spark.read.parquet(s"$flat/{part-0000*,part-0001*}")),
      "files" -> (() => spark.read.parquet(parts: _*)),
      "some files" -> (() => spark.read.parquet(parts.take(3): _*)),
      "the folder twice" -> (() => spark.read.parquet(flat, flat)),
      "partitions" -> (() => spark.read.option("basePath", partitioned).parquet(s"$partitioned/p=*")),
      "files of partitions" -> (() => spark.read.parquet(s"$partitioned/p=*/*.parquet"))
    )
    named.foreach { case (name, frame) => assert(read(frame(), "id * 2 < 20") <= 2, name) }
  }

  test("the page of conditions says what the forms read", InRest) {
    val root = Iterator.iterate(Paths.get("").toAbsolutePath)(_.getParent).takeWhile(_ != null)
      .find(folder => Files.exists(folder.resolve("build.sbt"))).get
    val page = root.resolve("docs/conditions.md")
    val text = ConditionForms.page(used)
    if (sys.env.get("WRITE_GOLDEN").contains("1")) Files.writeString(page, text)
    assert(Files.exists(page) && Files.readString(page) == text, "run this suite with WRITE_GOLDEN=1")
  }
}
