package org.sparkzorder.skipping

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

  private lazy val flat = {
    spark.range(0, 10).selectExpr("id AS k").createOrReplaceTempView("other")
    saved("flat", rows.write)
  }

  private lazy val partitioned =
    saved("partitioned", rows.selectExpr("*", "CAST(id DIV 2000 AS INT) AS p").write.partitionBy("p"))

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

  test("the rows of each form are the same without ANSI mode, generated code and the filters of readers", InRest) {
    // With the filters of its own reader off, Spark looks at each row.
    val off = Seq(SQLConf.ANSI_ENABLED.key, "spark.sql.codegen.wholeStage", "spark.sql.parquet.filterPushdown")
    withSettings(off.map(_ -> "false"): _*) {
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
      "a pattern" -> Seq(s"$flat/*.parquet"),
      "a pattern with two parts" -> Seq(s"$flat/{part-0000*,part-0001*}"),
      "files" -> parts,
      "some files" -> parts.take(3),
      "the folder twice" -> Seq(flat, flat),
      "files of partitions" -> Seq(s"$partitioned/p=*/*.parquet")
    )
    named.foreach { case (name, paths) => assert(read(spark.read.parquet(paths: _*), "id * 2 < 20") <= 2, name) }
    assert(read(spark.read.option("basePath", partitioned).parquet(s"$partitioned/p=*"), "id * 2 < 20") <= 2)
  }

  test("the page says what the forms read, and at most a tenth of them read more than two of sixteen files", InRest) {
    val more = used.filter(_._2 > 2)
    info(s"${used.size} forms, ${more.size} read more than two files: ${more.mkString(", ")}")
    assert(used.size > 100 && more.size * 10 <= used.size)
    assert(used.forall(_._2 < 16), used.filter(_._2 == 16))
    if (sys.env.get("WRITE_GOLDEN").contains("1")) {
      def of(condition: String) = s"| `${condition.replace("|", "\\|")}` |"
      val text = used.foldLeft(Files.readString(page)) { case (text, (condition, files)) =>
        val row = of(condition)
        text.replaceFirst(Pattern.quote(row) + " \\d+ ", Matcher.quoteReplacement(s"$row $files "))
      }
      Files.writeString(page, text)
      ()
    } else assert(used.map { case (condition, files) => condition -> files.toString } == forms)
  }

  test("files are left out by the values of scalar subqueries, which are known when the query runs", InRest) {
    for (format <- Seq("parquet", "orc"); aqe <- Seq("true", "false"); codegen <- Seq("true", "false"))
      withSettings("spark.sql.adaptive.enabled" -> aqe, "spark.sql.codegen.wholeStage" -> codegen) {
        table(indexed(format), format).createOrReplaceTempView("t")
        spark.range(40, 60).createOrReplaceTempView("o")
        def reads(files: Int)(condition: String): Unit =
          assertFiles("skipping", files)(s"SELECT * FROM t WHERE $condition")
        reads(1)("id = (SELECT max(id) FROM o)")
        reads(1)("id > (SELECT max(id) + 650 FROM o)")
        reads(1)("id > 500 AND id < (SELECT min(id) + 500 FROM o) AND b >= 0")
        // Spark's filters for ORC fail on a null.
        if (format == "parquet") reads(0)("id = (SELECT max(id) FROM o WHERE id > 100)")
        reads(8)("k = (SELECT max(id) - 55 FROM o)")
        reads(1)("id IN (SELECT id FROM o)")
        val between = "id BETWEEN (SELECT 150) AND (SELECT max(id) + 200 FROM o)"
        assertFiles("skipping", 2)(s"SELECT count(*) FROM t WHERE $between")
      }
  }

  test("the bounds and values of columns, the curve and the values of partitions together decide", InRest) {
    spark.sql("CREATE TABLE m (id BIGINT, a INT, v INT, day INT) USING parquet PARTITIONED BY (day)")
    spark.sql(
      "INSERT INTO m SELECT id, pmod(hash(id), 1000) a, CAST(id % 1000 DIV 7 AS INT) * 10 v, CAST(id DIV 4000 AS INT) day " +
        "FROM range(24000)"
    )
    // OPTIMIZE keeps the columns, and adds where its files are on the curve.
    spark.sql("CREATE SKIPPING INDEX ON m (id, a, v VALUES)")
    spark.sql("OPTIMIZE m ZORDER BY (id, a) OPTIONS ('num-files' = '90', 'cuts' = 'equal')")
    def explained(condition: String) = spark.sql(s"EXPLAIN SKIPPING SELECT * FROM m WHERE $condition").head()
    def kept(condition: String): Long = explained(condition).getAs[Long]("files_kept")
    // The bounds.
    assert(kept("day = 3 AND id < 12100 OR id < 10") == kept("day = 3 AND id < 12100") + kept("id < 10"))
    assert(kept("NOT (day <> 3 OR id >= 12100) OR id < 10") == kept("day = 3 AND id < 12100") + kept("id < 10"))
    // The values of the column are multiples of 10.
    assert(kept("day = 3 AND v = 705") == 0 && kept("day IN (2, 3) AND v = 700") > 0)
    assert(kept("day = 3 AND v = 705 OR id < 10") == kept("id < 10"))
    assert(kept("day = 3 AND v IN (701, 709) OR day = 2 AND v = 333 OR id < 10") == kept("id < 10"))
    assert(kept("day = 3 AND v = 700 OR day = 2 AND v = 705") == kept("day = 3 AND v = 700"))
    // The curve.
    val mixed = for (from <- 12000 to 15000 by 750; a <- 100 to 900 by 200) yield {
      val box = s"id BETWEEN $from AND ${from + 400} AND a BETWEEN $a AND ${a + 60}"
      val both = s"day = 3 AND $box OR day = 5 AND id = $from AND a = $a"
      assert(kept(both) == kept(s"day = 3 AND $box"), box)
      both
    }
    assert(mixed.exists(explained(_).toString.contains("interval of the curve")))
    for (condition <- mixed ++ Seq("day = 3 AND v = 700 OR day = 2 AND v = 705", "day = 3 AND v = 705 OR id < 10")) {
      def rows = spark.sql(s"SELECT count(*), sum(hash(id, a, v, day)) FROM m WHERE $condition").head()
      val (found, expected) = withAndWithout("skipping")(rows)
      assert(found == expected, condition)
      withSettings("spark.zorder.memory.enabled" -> "true")((1 to 2).foreach(_ => assert(rows == expected, condition)))
    }
    spark.sql("DROP TABLE m")
  }
}
