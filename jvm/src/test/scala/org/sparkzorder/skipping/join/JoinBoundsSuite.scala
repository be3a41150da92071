package org.sparkzorder.skipping.join

import java.io.File
import java.nio.file.{Files, StandardCopyOption}

import scala.util.Random

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.memory.MemoryTables
import org.sparkzorder.skipping.SkippingErrors

/**
 * Joins that shuffle both sides. Each table has eight files in the order of the orders' ids: `orders` of 100 ids each, and
 * `lines` of 300 rows each.
 */
class JoinBoundsSuite extends AnyFunSuite with MemoryTables {

  override protected def settings: Map[String, String] = super.settings ++ Map(
    "spark.zorder.memory.enabled" -> "false",
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "-1"
  )

  private val Off = "spark.zorder.skipping.enabled" -> "false"

  private def rows(query: DataFrame): Seq[String] = query.collect().map(_.toString).toVector.sorted

  private def filesOf(query: DataFrame, folder: String): Long =
    scans(query).filter(_.relation.location.rootPaths.exists(_.toString.endsWith(folder)))
      .map(_.metrics("numFiles").value).sum

  /** Also that the rows are those without skipping. */
  private def assertReads(orders: Int, lines: Int)(sql: String): Unit = {
    val expected = withSettings(Off)(rows(spark.sql(sql)))
    val before = SkippingErrors.total
    val query = spark.sql(sql)
    assert(rows(query) == expected, sql)
    assert(
      (filesOf(query, ordersPath), filesOf(query, linesPath)) == ((orders, lines)),
      s"$sql\n${query.queryExecution}"
    )
    assert(SkippingErrors.total == before)
  }

  private def ordersPath = new File(dir, "orders").toString
  private def linesPath = new File(dir, "lines").toString

  private def withTables(format: String = "parquet")(test: => Unit): Unit = {
    spark.sql(
      "SELECT id AS o_id, cast(id AS INT) AS o_small, cast(id / 100 AS INT) AS day, cast(id AS STRING) AS o_text, " +
        "cast(id AS DECIMAL(12, 2)) AS o_dec, if(id % 10 = 0, NULL, id) AS o_null FROM range(0, 800, 1, 8)"
    ).write.mode("overwrite").format(format).save(ordersPath)
    spark.sql(
      "SELECT cast(id / 3 AS BIGINT) AS l_id, cast(id / 3 AS INT) AS l_small, cast(cast(id / 3 AS INT) AS STRING) AS l_text, " +
        "cast(cast(id / 3 AS INT) AS DECIMAL(12, 2)) AS l_dec, id % 7 AS part FROM range(0, 2400, 1, 8)"
    ).write.mode("overwrite").format(format).save(linesPath)
    Seq(ordersPath, linesPath).foreach(p => spark.sql(s"CREATE SKIPPING INDEX ON $format.`$p`"))
    views(format)
    test
  }

  private def views(format: String): Unit = {
    spark.read.format(format).load(ordersPath).createOrReplaceTempView("orders")
    spark.read.format(format).load(linesPath).createOrReplaceTempView("lines")
  }

  test("the bounds of one side leave out files of the other") {
    for (format <- Seq("parquet", "orc"); aqe <- Seq("true", "false"); codegen <- Seq("true", "false"))
      withSettings("spark.sql.adaptive.enabled" -> aqe, "spark.sql.codegen.wholeStage" -> codegen)(withTables(format) {
        assertReads(1, 1)("SELECT * FROM lines JOIN orders ON l_id = o_id WHERE day = 3")
        assertReads(1, 1)("SELECT * FROM orders JOIN lines ON l_id = o_id WHERE day = 3")
        assertReads(2, 2)("SELECT * FROM lines JOIN orders ON l_id = o_id WHERE day IN (1, 6)")
        assertReads(1, 1)("SELECT * FROM lines JOIN orders ON l_small = o_id WHERE day = 3")
        assertReads(1, 1)("SELECT * FROM lines JOIN orders ON l_dec = o_dec WHERE day = 3")
        assertReads(1, 1)("SELECT sum(part) FROM lines JOIN orders ON l_text = o_text AND l_id = o_null WHERE day = 3")
        assertReads(1, 1)("SELECT * FROM lines WHERE l_id IN (SELECT o_id FROM orders WHERE day = 3)")
        assertReads(2, 2)("SELECT * FROM lines LEFT SEMI JOIN orders ON l_id = o_id AND part > day WHERE l_id < 150")
        assertReads(1, 1)("SELECT * FROM (SELECT * FROM orders WHERE day = 3) LEFT JOIN lines ON l_id = o_id")
        assertReads(1, 1)("SELECT * FROM (SELECT * FROM orders WHERE day = 3) LEFT ANTI JOIN lines ON l_id = o_id")
        assertReads(1, 1)("SELECT * FROM lines RIGHT JOIN (SELECT * FROM orders WHERE day = 3) ON l_id = o_id")
        assertReads(
          1,
          1
        )("SELECT * FROM orders WHERE day = 3 AND (EXISTS (SELECT 1 FROM lines WHERE l_id = o_id) OR o_id = 1)")
        assertReads(1, 1)(
          "SELECT l_id, n, day FROM (SELECT l_id, count(*) n FROM lines GROUP BY l_id) JOIN orders ON l_id = o_id WHERE day = 3"
        )
      })
  }

  test("bounds that say nothing") {
    withTables() {
      assertReads(8, 8)("SELECT * FROM lines JOIN orders ON l_id = o_id")
      assertReads(1, 8)("SELECT * FROM lines LEFT JOIN (SELECT * FROM orders WHERE day = 3) ON l_id = o_id")
      assertReads(1, 8)("SELECT * FROM lines FULL JOIN (SELECT * FROM orders WHERE day = 3) ON l_id = o_id")
      assertReads(1, 8)("SELECT * FROM lines LEFT ANTI JOIN (SELECT * FROM orders WHERE day = 3) ON l_id = o_id")
      assertReads(1, 8)("SELECT * FROM lines WHERE l_id NOT IN (SELECT o_id FROM orders WHERE day = 3)")
      assertReads(1, 8)("SELECT * FROM lines JOIN orders ON l_text = o_text WHERE day = 3")
      assertReads(1, 8)("SELECT * FROM lines JOIN orders ON l_id <=> o_id WHERE day = 3")
      assertReads(1, 8)("SELECT * FROM lines JOIN orders ON part = o_id - 295 WHERE day = 3")
      assertReads(1, 8)("SELECT * FROM lines JOIN orders ON l_id > o_id WHERE day = 0")
      assertReads(1, 8)("SELECT * FROM lines JOIN orders ON l_id = o_id + 1 WHERE day = 0")
      assertReads(8, 8)("SELECT * FROM lines JOIN orders ON l_id = o_id WHERE rand() < 2")
      withSettings("spark.zorder.joins.enabled" -> "false")(
        assertReads(1, 8)("SELECT * FROM lines JOIN orders ON l_id = o_id WHERE day = 3")
      )
    }
  }

  test("bounds that the query's own filter makes needless, and keys that may fail") {
    withTables() {
      val needless = "SELECT * FROM (SELECT * FROM orders WHERE o_id < 150) JOIN lines ON l_id = o_id"
      def filters(q: DataFrame) = collectWithSubqueries(q.queryExecution.executedPlan) { case f: FilterExec => f }.size
      val query = spark.sql(needless)
      query.collect()
      assert(filters(query) == withSettings(Off) { val q = spark.sql(needless); q.collect(); filters(q) })
      assertReads(2, 2)(needless)
      // Spark would not evaluate the key for rows that the filter drops.
      assertReads(1, 8)(
        "SELECT * FROM (SELECT cast(l_id * 3000000 AS INT) AS k FROM lines WHERE l_id < 710) " +
          "JOIN orders ON k = o_small WHERE day = 7"
      )
    }
  }

  test("files that were left out are looked at again, in any format") {
    for (format <- Seq("parquet", "orc")) withTables(format) {
      val planned = spark.sql("SELECT count(*), sum(part) FROM lines JOIN orders ON l_id = o_id WHERE day = 3")
      planned.queryExecution.executedPlan
      def file(n: Int) = new File(ordersPath).listFiles.filter(_.getName.startsWith(s"part-0000$n")).head
      Files.copy(file(3).toPath, file(6).toPath, StandardCopyOption.REPLACE_EXISTING)
      assert(new File(ordersPath, s".${file(6).getName}.crc").delete())
      assert(file(6).setLastModified(System.currentTimeMillis + 5000))
      assertChanged(planned)
      assertReads(2, 8)("SELECT count(*), sum(part) FROM lines JOIN orders ON l_id = o_id WHERE day = 3")
    }
    withTables() {
      val planned = spark.sql("SELECT count(*), sum(part) FROM lines JOIN orders ON l_id = o_id WHERE day = 5")
      planned.queryExecution.executedPlan
      assert(new File(ordersPath).listFiles.filter(_.getName.startsWith("part-00005")).head.delete())
      assertChanged(planned)
    }
  }

  private def assertChanged(query: DataFrame): Unit = {
    val error = intercept[Exception](query.collect())
    val causes = Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null).toVector
    assert(causes.exists(_.getMessage.contains("ZORDER_FILE_CHANGED")), error)
  }

  test("scans that the query has twice stay equal") {
    withTables() {
      val twice = "SELECT a.o_id, count(*) FROM lines JOIN (SELECT * FROM orders WHERE day = 3) a ON l_id = a.o_id " +
        "JOIN (SELECT * FROM orders WHERE day = 3) b ON part + 300 = b.o_id GROUP BY a.o_id"
      assertReads(1, 8)(twice)
      // An exchange that Spark reuses is still reused.
      val union = "SELECT * FROM lines JOIN orders ON l_id = o_id WHERE day = 3 UNION ALL " +
        "SELECT * FROM lines JOIN orders ON l_id = o_id WHERE day = 4"
      val query = spark.sql(union)
      query.collect()
      val plain = withSettings(Off) { val q = spark.sql(union); q.collect(); q }
      def reused(q: DataFrame) = collectWithSubqueries(q.queryExecution.executedPlan) {
        case r: ReusedExchangeExec => r
      }.size
      assert(reused(query) == reused(plain))
      assertReads(2, 8)(union)
    }
  }

  test("a side whose bounds were used reads just its files, or fails") {
    withTables() {
      val sql = "SELECT count(*), sum(part) FROM lines JOIN orders ON l_id = o_id WHERE day = 3"
      val file = new File(ordersPath).listFiles.filter(_.getName.startsWith("part-00003")).head
      val planned = spark.sql(sql)
      planned.queryExecution.executedPlan
      // New files are none of the plan's, whatever Spark's own listing has.
      spark.sql("SELECT 5L o_id, 5 o_small, 3 day, '5' o_text, cast(5 AS DECIMAL(12, 2)) o_dec, 5L o_null")
        .write.mode("append").parquet(ordersPath)
      assert(rows(planned) == Seq("[300,900]"))
      views("parquet")
      // The index does not know the new file, so bounds are not used.
      assertReads(2, 8)(sql)
      spark.sql(s"REFRESH SKIPPING INDEX ON parquet.`$ordersPath`")
      assertReads(2, 2)(sql)
      val again = spark.sql(sql)
      again.queryExecution.executedPlan
      val other = new File(ordersPath).listFiles.filter(_.getName.startsWith("part-00006")).head
      Files.copy(other.toPath, file.toPath, StandardCopyOption.REPLACE_EXISTING)
      assert(new File(file.getParent, s".${file.getName}.crc").delete())
      assert(file.setLastModified(System.currentTimeMillis + 5000))
      val error = intercept[Exception](again.collect())
      assert(Iterator.iterate[Throwable](error)(
        _.getCause
      ).takeWhile(_ != null).exists(_.getMessage.contains("ZORDER_FILE_CHANGED")))
      // The session's listing is old. So the bounds are not used, and neither are they after a new one.
      assertReads(2, 8)(sql)
      views("parquet")
      assertReads(2, 8)(sql)
    }
  }

  test("files whose keys are nulls, or that lack the column") {
    withTables() {
      val schema = spark.table("orders").schema
      def add(columns: String): Unit = {
        spark.sql(s"SELECT 3 AS day, $columns").write.mode("append").parquet(ordersPath)
        spark.sql(s"REFRESH SKIPPING INDEX ON parquet.`$ordersPath`")
        spark.read.schema(schema).parquet(ordersPath).createOrReplaceTempView("orders")
      }
      add("CAST(NULL AS BIGINT) AS o_id")
      assertReads(1, 1)("SELECT * FROM lines JOIN orders ON l_id = o_id WHERE day = 3")
      assertReads(2, 1)("SELECT * FROM (SELECT * FROM orders WHERE day = 3) LEFT JOIN lines ON l_id = o_id")
      // Whether the index knows that the column is missing depends on the schema that it took.
      add("5 AS o_small")
      val missing = "SELECT * FROM (SELECT * FROM orders WHERE day = 3) LEFT JOIN lines ON l_id = o_id"
      assert(rows(spark.sql(missing)) == withSettings(Off)(rows(spark.sql(missing))))
    }
  }

  test("EXPLAIN SKIPPING tells of the bounds") {
    withTables() {
      val told = spark.sql("EXPLAIN SKIPPING SELECT * FROM lines JOIN orders ON l_id = o_id WHERE day = 3")
        .selectExpr("relation", "files_kept", "to_json(conjuncts)").collect().map(_.toString).mkString("\n")
      assert(told.contains("(lines.l_id >= 300L)"), told)
      assert(told.contains("the bounds of its files are a condition"), told)
    }
  }

  test("random joins have the rows that they have without skipping") {
    val random = new Random(41)
    withTables() {
      val conditions =
        Seq("day = {}", "day < {}", "o_id BETWEEN {}00 AND {}70", "o_null > {}00", "day IN (1, {})", "o_id % 10 = {}")
      val equalities = Seq(
        "l_id = o_id",
        "l_small = o_id",
        "o_null = l_id",
        "l_id = o_small AND part = day",
        "l_dec = o_dec",
        "l_id <=> o_null"
      )
      val joins = Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
      def any(of: Seq[String]) = of(random.nextInt(of.size)).replace("{}", random.nextInt(8).toString)
      (1 to 120).foreach { _ =>
        val orders = s"(SELECT * FROM orders WHERE ${any(conditions)})"
        val lines = if (random.nextBoolean()) "lines" else s"(SELECT * FROM lines WHERE part < ${random.nextInt(7)})"
        val (left, right) = if (random.nextBoolean()) (orders, lines) else (lines, orders)
        val sql = s"SELECT * FROM $left ${any(joins)} $right ON ${any(equalities)}"
        val expected = withSettings(Off)(rows(spark.sql(sql)))
        assert(rows(spark.sql(sql)) == expected, sql)
      }
    }
  }
}
