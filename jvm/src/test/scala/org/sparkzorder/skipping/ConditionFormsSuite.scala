package org.sparkzorder.skipping

import java.io.File
import java.nio.file.Files
import java.util.regex.{Matcher, Pattern}

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, Repository}
import org.sparkzorder.memory.IndexedTables

/**
 * Asks for the rows of each condition on the page of conditions, and compares the files that it reads with those that the
 * page says. A new condition needs a row there. With WRITE_GOLDEN=1 this writes the numbers anew.
 */
class ConditionFormsSuite extends AnyFunSuite with IndexedTables {

  override protected def settings: Map[String, String] = super.settings + ("spark.sql.session.timeZone" -> "UTC")

  private val page = Repository.root.resolve("docs/conditions.md")

  /** The conditions of the page, with what it says of each: a number of files, or why it leaves none out. */
  private val (forms, unused) = {
    val row = """\| `(.+)` \| (.+) \|""".r
    Files.readString(page).linesIterator.collect { case row(condition, says) => condition.replace("\\|", "|") -> says }
      .toVector.partition(_._2.forall(_.isDigit))
  }

  /** Of a table of 16 files of 500 rows, all of whose columns rise with `id`. */
  private val columns = Seq(
    "id", "CAST(id AS INT) AS i", "id + id % 7 AS a", "id / 4.0D AS x", "CAST(id / 8 AS DECIMAL(12, 2)) AS dec",
    "format_string('k%04d', id) AS s", "TIMESTAMP'2024-01-01 00:00:00' + make_dt_interval(0, id) AS ts",
    "CAST(TIMESTAMP'2024-01-01 00:00:00' + make_dt_interval(0, id) AS DATE) AS d",
    "named_struct('n', CAST(id AS INT), 't', format_string('t%04d', id)) AS st", "IF(id % 3 = 0, NULL, id) AS n"
  )

  private lazy val rows = spark.range(0, 8000, 1, 16).selectExpr(columns: _*)

  private lazy val flat = written(rows)

  private lazy val partitioned = {
    val parts = rows.selectExpr("*", "CAST(id DIV 2000 AS INT) AS p")
    val to = new File(dir, "partitioned").toString
    parts.write.partitionBy("p").parquet(to)
    withIndexOfAll(to)
  }

  private def written(frame: DataFrame): String = {
    val to = new File(dir, "flat").toString
    frame.write.parquet(to)
    spark.range(0, 10).selectExpr("id AS k").createOrReplaceTempView("other")
    withIndexOfAll(to)
  }

  /** The files that a condition reads. Its rows must be those of Spark alone. */
  private def read(frame: => DataFrame, condition: String): Long = {
    frame.createOrReplaceTempView("t")
    val ((found, files), (expected, _)) =
      withAndWithout("skipping")(run(spark.sql(s"SELECT * FROM t WHERE $condition")))
    assert(found == expected && expected.nonEmpty, condition)
    files
  }

  private def isOfPartitions(condition: String): Boolean = condition.matches(".*\\bp\\b.*")

  private lazy val used: Seq[(String, Long)] = forms.map { case (condition, _) =>
    condition -> read(spark.read.parquet(if (isOfPartitions(condition)) partitioned else flat), condition)
  }

  test("at most a tenth of the forms read more than two of sixteen files", InRest) {
    val more = used.filter(_._2 > 2)
    info(s"${used.size} forms, ${more.size} read more than two files: ${more.mkString(", ")}")
    assert(used.size > 100 && more.size * 10 <= used.size)
    assert(used.forall(_._2 < 16), used.filter(_._2 == 16))
  }

  test("the rows of each form are the same without ANSI mode, generated code and the filters of readers", InRest) {
    // With the filters of its own reader off, Spark looks at each row.
    withSettings(
      SQLConf.ANSI_ENABLED.key -> "false",
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.parquet.filterPushdown" -> "false"
    ) {
      forms.map(_._1).filterNot(isOfPartitions).foreach { condition =>
        assert(read(spark.read.parquet(flat), condition) < 16, condition)
      }
    }
  }

  test("other forms read all files") {
    assert(unused.size >= 8)
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
    if (sys.env.get("WRITE_GOLDEN").contains("1")) {
      def of(condition: String) = s"| `${condition.replace("|", "\\|")}` |"
      Files.writeString(
        page,
        used.foldLeft(Files.readString(page)) { case (text, (condition, files)) =>
          text.replaceFirst(
            Pattern.quote(of(condition)) + " \\d+ ",
            Matcher.quoteReplacement(s"${of(condition)} $files ")
          )
        }
      )
      ()
    } else assert(used.map { case (condition, files) => condition -> files.toString } == forms)
  }
}
