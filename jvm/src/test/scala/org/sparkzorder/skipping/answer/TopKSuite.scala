package org.sparkzorder.skipping.answer

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.{col, count, lit, min}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.memory.IndexedTables

class TopKSuite extends AnyFunSuite with IndexedTables {

  private def asked(query: DataFrame): (Seq[Row], Long) = (query.collect().toSeq, filesOf(query))

  private def assertReads(files: Int)(query: => DataFrame): Unit = {
    val (found, expected) = withAndWithout("topk")(asked(query))
    assert(found == ((expected._1, files.toLong)))
  }

  private def rowsOf(format: String = "parquet", partitionedBy: Seq[String] = Nil): DataFrame =
    table(indexed(format, partitionedBy), format)

  test("the first and the last rows are in few files", InRest) {
    for (format <- Seq("parquet", "orc")) {
      val t = rowsOf(format)
      val last = t.orderBy(col("id").desc)
      assertReads(1)(t.orderBy("id").limit(10))
      assertReads(1)(last.limit(100))
      assertReads(2)(last.limit(101))
      assertReads(2)(t.orderBy(col("id").desc, col("name")).offset(95).limit(10))
      assertReads(1)(t.orderBy(col("b").desc_nulls_first, col("id")).limit(3))
      assertReads(1)(t.select((col("id") * 2).as("x"), col("id")).orderBy(col("id").desc).limit(5))
      assertReads(8)(t.orderBy(col("id") % 7, col("id")).limit(5))
      assertReads(8)(t.orderBy("k", "id").limit(5))
      assertReads(8)(t.orderBy("id").limit(800))
      assertReads(8)(t.orderBy("id"))
    }
  }

  test("a file of which all rows pass is read whole, though its reader would leave out rows by the filter", InRest) {
    // A table with a file for each of these values, with ten rows whose `c` rises from file to file.
    def made(name: String, format: String, column: String)(values: String*): (String, String) = {
      for ((value, i) <- values.zipWithIndex) spark.range(100L * i, 100L * i + 10, 1, 1)
        .selectExpr(s"$value AS $column", "id AS c").write.mode("append").format(format).save(s"$dir/$name")
      spark.sql(s"CREATE SKIPPING INDEX ON $format.`$dir/$name`")
      (s"$dir/$name", format)
    }
    val zeros = made("zeros", "parquet", "x")("-0.0D", "1.0D", "IF(id < 205, -0.0D, -1.0D)")
    val millis = withSettings("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MILLIS") {
      made("millis", "parquet", "ts")("TIMESTAMP'2024-01-01 00:00:00'", "TIMESTAMP'2023-01-01 00:00:00'")
    }
    val texts = made("texts", "orc", "s")("'\ud83d\ude00'", "'\uff5ex'")
    val filters = Seq((zeros, "x >= 0.0D", 25), (texts, "s > '\uff5e'", 20)) ++
      Seq("<", "<>").map(compared => (millis, s"ts $compared TIMESTAMP'2024-01-01 00:00:00.0005'", 20))
    for (((path, format), filter, all) <- filters) {
      val rows = table(path, format).where(filter)
      assert(rows.orderBy("c").limit(5).collect().map(_.getLong(1)).toSeq == (0L to 4L), filter)
      assert(!rows.isEmpty && rows.limit(5).collect().length == 5, filter)
      assert(rows.agg(count(lit(1)), min("c")).collect().toSeq == Seq(Row(all.toLong, 0L)), filter)
    }
  }

  test("with a filter only files count of which all rows pass") {
    val t = rowsOf()
    assertReads(2)(t.where("id < 450").orderBy(col("id").desc).limit(10))
    assertReads(1)(t.where("id < 400").orderBy(col("id").desc).limit(10))
    assertReads(8)(t.where("k = 3").orderBy(col("id").desc).limit(10))
    t.createOrReplaceTempView("t")
    assertReads(1)(spark.sql("SELECT name FROM t ORDER BY id DESC LIMIT 3"))
    val last = "(SELECT id FROM t ORDER BY id DESC LIMIT 3)"
    assertReads(2)(spark.sql(s"$last UNION ALL (SELECT id FROM t ORDER BY id LIMIT 2)"))
    assertReads(2)(spark.sql(s"SELECT * FROM t JOIN $last USING (id) ORDER BY id"))
  }

  test("values that depend on which files are read") {
    val t = rowsOf()
    for (n <- Seq("monotonically_increasing_id()", "rand(3)"))
      assertReads(8)(t.selectExpr("id", s"$n AS n").orderBy(col("id").desc).limit(3))
  }

  test("columns of partitions", InRest) {
    val t = rowsOf(partitionedBy = Seq("k"))
    assertReads(8)(t.orderBy(col("k").desc, col("id")).limit(5))
    assertReads(1)(t.orderBy(col("id").desc).limit(1).select("id"))
  }

  test("rows without an order are taken from files in which all pass") {
    val t = rowsOf()
    def files(query: DataFrame): (Int, Long) = (query.collect().length, filesOf(query))
    assert(files(t.where("id > 150").limit(100)) == ((100, 1L)))
    assert(files(t.where("id > 150").limit(101)) == ((101, 2L)))
    assert(files(t.where("id > 150").offset(50).limit(60)) == ((60, 2L)))
    assert(files(t.where("k = 7").limit(3))._1 == 3)
    assert(files(t.where("id > 150 AND k = 7").limit(3))._1 == 3)
    assert(!t.where("id > 150").isEmpty && t.where("id > 1500").isEmpty)
    assert(t.where("id >= 250").select("id").head(3).map(_.getLong(0)).forall(_ >= 300))
    assert(t.where("id >= 250").limit(120).groupBy().count().head().getLong(0) == 120)
  }

  test("k files are read for k rows where the order does not follow the files", InRest) {
    for (format <- Seq("parquet", "orc")) {
      // 40 files of 50 rows each, whose values in `l`, `x`, `f` and `d` are anywhere.
      val rows = spark.range(0, 2000, 1, 40).selectExpr(
        "id", "pmod(xxhash64(id), 100000) AS l", "if(id % 7 = 0, NULL, pmod(xxhash64(id, 1), 100000) / 8D) AS x",
        "if(id = 77, FLOAT('NaN'), FLOAT(pmod(xxhash64(id, 2), 1000))) AS f",
        "date_add(DATE'1900-01-01', int(pmod(hash(id, 3), 900000))) AS d", "concat('n', pmod(hash(id, 4), 5000)) AS s",
        "pmod(hash(id), 20) AS k"
      )
      val t = table(saved(s"scattered_$format", rows.write, format = format), format)
      for (c <- Seq("l", "x", "d")) {
        assertReads(5)(t.select(c).orderBy(col(c).desc_nulls_last).limit(5))
        assertReads(5)(t.where(col(c).isNotNull).select(c).orderBy(col(c).asc).limit(5))
        assertReads(7)(t.select(c).orderBy(col(c).desc).offset(4).limit(3))
      }
      def last(filter: String) = t.where(filter).select("l").orderBy(col("l").desc).limit(5)
      // The filter is about the sort column alone, so it is judged at the bound.
      assertReads(5)(last("l <> 5 AND l % 2 >= 0"))
      assert(asked(last("l < 90000"))._2 == 40)
      assertReads(3)(t.where("id >= 0").select("l").orderBy("l").limit(3))
      // Nobody knows whether the row at the bound passes, whether a text is cut, and whether NaN is beside the bound.
      assertReads(40)(last("k = 3"))
      assertReads(40)(t.select("s").orderBy("s").limit(5))
      // Files with NULL may hold first rows.
      assertReads(40)(t.select("x").orderBy(col("x").asc_nulls_first).limit(5))
    }
  }

  test("NaN, zeros and ties at the bounds of files", InRest) {
    val path = s"$dir/bounds"
    val values =
      Seq("CAST('NaN' AS DOUBLE)", "-0.0D", "0.0D", "7.0D", "7.0D", "-7.0D", "NULL", "CAST('Infinity' AS DOUBLE)")
    values.zipWithIndex.foreach { case (v, i) =>
      spark.range(0, 20, 1, 1).selectExpr(s"if(id = 3, $v, id / 20D) AS x", s"id + 100 * $i AS id")
        .write.mode("append").parquet(path)
    }
    age(path)
    table(withIndex(path)).createOrReplaceTempView("bounds")
    for {
      direction <- Seq("ASC", "DESC", "ASC NULLS LAST", "DESC NULLS FIRST")
      filter <- Seq(
        "", "WHERE x IS NOT NULL", "WHERE x >= 0.0D", "WHERE x = 0", "WHERE x < 7", "WHERE NOT isnan(x)",
        "WHERE x <=> 7D"
      )
      limit <- Seq("1", "2", "3 OFFSET 1", "12")
    } {
      val text = s"SELECT * FROM bounds $filter ORDER BY x $direction, id LIMIT $limit"
      val (found, expected) = withAndWithout("topk")(asked(spark.sql(text))._1.map(_.toString))
      assert(found == expected, text)
    }
    assertReads(1)(spark.sql("SELECT x FROM bounds WHERE x IS NOT NULL ORDER BY x LIMIT 1"))
  }

  test("random tables and orders", InRest) {
    val random = new Random(11)
    def one(of: String*): String = of(random.nextInt(of.size))
    for (round <- 0 until 6) {
      randomTable(round, random).createOrReplaceTempView("r")
      var fewer = 0
      for (_ <- 0 until 30) {
        val column = one("id", "a", "d", "f", "s", "p")
        val direction = one("", "DESC", "ASC NULLS LAST", "DESC NULLS FIRST")
        val ofColumn = if (Set("d", "s")(column)) s"$column IS NOT NULL" else s"$column % 5 >= 0 OR $column > 7"
        val filter = one("", "WHERE id > 130", "WHERE a IS NOT NULL", "WHERE f > 10 OR id < 90", s"WHERE $ofColumn")
        val limit = s"LIMIT ${1 + random.nextInt(150)} OFFSET ${random.nextInt(2) * random.nextInt(40)}"
        val text = s"SELECT * FROM r $filter ORDER BY $column $direction, id $limit"
        val ((found, files), (expected, all)) = withAndWithout("topk")(asked(spark.sql(text)))
        assert(found.map(_.toString) == expected.map(_.toString), text)
        if (files < all) fewer += 1
      }
      assert(fewer >= 4, s"round $round")
    }
  }
}
