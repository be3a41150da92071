package org.sparkzorder.skipping.answer

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.{col, count, lit, min}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.memory.MemoryTables
import org.sparkzorder.skipping.SkippingErrors

class TopKSuite extends AnyFunSuite with MemoryTables {

  override protected def settings: Map[String, String] = super.settings + ("spark.zorder.memory.enabled" -> "false")

  private def asked(query: DataFrame): (Seq[Row], Long) = {
    val rows = query.collect().toSeq
    (rows, scans(query).map(_.metrics("numFiles").value).sum)
  }

  private def assertReads(files: Int)(query: => DataFrame): Unit = {
    val before = SkippingErrors.total
    val expected = withSettings("spark.zorder.topk.enabled" -> "false")(asked(query)._1)
    assert(asked(query) == (expected, files.toLong))
    assert(SkippingErrors.total == before)
  }

  private def indexed(format: String = "parquet", partitionedBy: Seq[String] = Nil): DataFrame = {
    val path = folder(format, partitionedBy)
    spark.sql(s"CREATE SKIPPING INDEX ON $format.`$path`")
    table(path, format)
  }

  test("the first and the last rows are in few files") {
    for (format <- Seq("parquet", "orc")) {
      val t = indexed(format)
      assertReads(1)(t.orderBy("id").limit(10))
      assertReads(1)(t.orderBy(col("id").desc).limit(100))
      assertReads(2)(t.orderBy(col("id").desc).limit(101))
      assertReads(2)(t.orderBy(col("id").desc, col("name")).offset(95).limit(10))
      assertReads(1)(t.orderBy(col("b").desc_nulls_first, col("id")).limit(3))
      assertReads(1)(t.select((col("id") * 2).as("x"), col("id")).orderBy(col("id").desc).limit(5))
      assertReads(8)(t.orderBy(col("id") % 7, col("id")).limit(5))
      assertReads(8)(t.orderBy("k", "id").limit(5))
      assertReads(8)(t.orderBy("id").limit(800))
      assertReads(8)(t.orderBy("id"))
    }
  }

  test("a file of which all rows pass is read whole, though its reader would leave out rows by the filter") {
    val zeros = new java.io.File(dir, "zeros").toString
    spark.range(0, 10, 1, 1).selectExpr("-0.0D AS x", "id AS c").write.parquet(zeros)
    spark.range(100, 110, 1, 1).selectExpr("1.0D AS x", "id AS c").write.mode("append").parquet(zeros)
    spark.range(200, 210, 1, 1).selectExpr("IF(id < 205, -0.0D, -1.0D) AS x", "id AS c").write.mode("append")
      .parquet(zeros)
    val millis = new java.io.File(dir, "millis").toString
    withSettings("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MILLIS") {
      spark.range(0, 10, 1, 1).selectExpr("TIMESTAMP'2024-01-01 00:00:00' AS ts", "id AS c").write.parquet(millis)
      spark.range(100, 110, 1, 1).selectExpr("TIMESTAMP'2023-01-01 00:00:00' AS ts", "id AS c").write.mode("append")
        .parquet(millis)
    }
    val texts = new java.io.File(dir, "texts").toString
    spark.range(0, 10, 1, 1).selectExpr("'\ud83d\ude00' AS s", "id AS c").write.orc(texts)
    spark.range(100, 110, 1, 1).selectExpr("'\uff5ex' AS s", "id AS c").write.mode("append").orc(texts)
    val before = "TIMESTAMP'2024-01-01 00:00:00.0005'"
    for (
      (path, format, filter, all) <- Seq(
        (zeros, "parquet", "x >= 0.0D", 25),
        (millis, "parquet", s"ts < $before", 20),
        (millis, "parquet", s"ts <> $before", 20),
        (texts, "orc", "s > '\uff5e'", 20)
      )
    ) {
      spark.sql(s"CREATE OR REPLACE SKIPPING INDEX ON $format.`$path`")
      val rows = table(path, format).where(filter)
      assert(rows.orderBy("c").limit(5).collect().map(_.getLong(1)).toSeq == (0L to 4L), filter)
      assert(!rows.isEmpty && rows.limit(5).collect().length == 5, filter)
      assert(rows.agg(count(lit(1)), min("c")).collect().toSeq == Seq(Row(all.toLong, 0L)), filter)
    }
  }

  test("with a filter only files count of which all rows pass") {
    val t = indexed()
    assertReads(2)(t.where("id < 450").orderBy(col("id").desc).limit(10))
    assertReads(1)(t.where("id < 400").orderBy(col("id").desc).limit(10))
    assertReads(8)(t.where("k = 3").orderBy(col("id").desc).limit(10))
    t.createOrReplaceTempView("t")
    assertReads(1)(spark.sql("SELECT name FROM t ORDER BY id DESC LIMIT 3"))
    assertReads(2)(
      spark.sql("(SELECT id FROM t ORDER BY id DESC LIMIT 3) UNION ALL (SELECT id FROM t ORDER BY id LIMIT 2)")
    )
    assertReads(2)(spark.sql("SELECT * FROM t JOIN (SELECT id FROM t ORDER BY id DESC LIMIT 3) USING (id) ORDER BY id"))
  }

  test("values that depend on which files are read") {
    val t = indexed()
    assertReads(8)(t.selectExpr("id", "monotonically_increasing_id() AS n").orderBy(col("id").desc).limit(3))
    assertReads(8)(t.selectExpr("id", "rand(3) AS n").orderBy(col("id").desc).limit(3))
  }

  test("columns of partitions") {
    val t = indexed(partitionedBy = Seq("k"))
    assertReads(8)(t.orderBy(col("k").desc, col("id")).limit(5))
    assertReads(10)(t.orderBy(col("id").desc).limit(1).select("id"))
  }

  test("rows without an order are taken from files in which all pass") {
    val t = indexed()
    def files(query: DataFrame): (Int, Long) = {
      val (rows, read) = asked(query)
      (rows.size, read)
    }
    assert(files(t.where("id > 150").limit(100)) == ((100, 1L)))
    assert(files(t.where("id > 150").limit(101)) == ((101, 2L)))
    assert(files(t.where("id > 150").offset(50).limit(60)) == ((60, 2L)))
    assert(files(t.where("k = 7").limit(3))._1 == 3)
    assert(files(t.where("id > 150 AND k = 7").limit(3))._1 == 3)
    assert(!t.where("id > 150").isEmpty && t.where("id > 1500").isEmpty)
    assert(t.where("id >= 250").select("id").head(3).map(_.getLong(0)).forall(_ >= 300))
    assert(t.where("id >= 250").limit(120).groupBy().count().head().getLong(0) == 120)
  }

  test("random tables and orders") {
    val random = new Random(11)
    for (round <- 0 until 6) {
      val format = if (round < 4) "parquet" else "orc"
      val path = s"$dir/random$round"
      spark.range(0, 600, 1, 6).selectExpr(
        "id",
        s"if(pmod(hash(id, $round), 9) = 0 OR id < ${random.nextInt(200)}, NULL, int(id / ${1 + random.nextInt(90)})) AS a",
        "if(pmod(hash(id), 50) = 0, NULL, date_add(DATE'2024-01-01', int(id / 7))) AS d",
        s"if(id % 97 = $round, double('NaN'), if(id % 50 = 1, -0.0D, double(300 - id))) AS f",
        "concat(char(97 + int(id / 80)), if(id % 11 = 0, repeat('\u00e9', 90), ''), id) AS s",
        "int(id / 150) AS p"
      ).write.partitionBy(Seq("p").filter(_ => round % 2 == 1): _*).format(format).save(path)
      age(path)
      spark.sql(s"CREATE SKIPPING INDEX ON $format.`$path`")
      table(path, format).createOrReplaceTempView("r")
      var fewer = 0
      for (_ <- 0 until 30) {
        val column = Seq("id", "a", "d", "f", "s", "p")(random.nextInt(6))
        val direction = Seq("", "DESC", "ASC NULLS LAST", "DESC NULLS FIRST")(random.nextInt(4))
        val filter = Seq("", "WHERE id > 130", "WHERE a IS NOT NULL", "WHERE f > 10 OR id < 90")(random.nextInt(4))
        val limit = s"LIMIT ${1 + random.nextInt(150)} OFFSET ${random.nextInt(2) * random.nextInt(40)}"
        val text = s"SELECT * FROM r $filter ORDER BY $column $direction, id $limit"
        val (expected, all) = withSettings("spark.zorder.topk.enabled" -> "false")(asked(spark.sql(text)))
        val (found, files) = asked(spark.sql(text))
        assert(found.map(_.toString) == expected.map(_.toString), text)
        if (files < all) fewer += 1
      }
      assert(fewer >= 4, s"round $round")
    }
  }
}
