package org.sparkzorder.skipping

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{LocalSpark, TestRest}

/** Conditions that mix partition columns and columns of the files. */
@TestRest
class MixedConditionsSuite extends AnyFunSuite with LocalSpark {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.sql("CREATE TABLE m (id BIGINT, a INT, v INT, day INT) USING parquet PARTITIONED BY (day)")
    spark.sql(
      "INSERT INTO m SELECT id, pmod(hash(id), 1000) a, CAST(id % 1000 DIV 7 AS INT) * 10 v, CAST(id DIV 4000 AS INT) day " +
        "FROM range(24000)"
    )
    // OPTIMIZE keeps the columns, and adds where its files are on the curve.
    spark.sql("CREATE SKIPPING INDEX ON m (id, a, v VALUES)")
    spark.sql("OPTIMIZE m ZORDER BY (id, a) OPTIONS ('num-files' = '90', 'cuts' = 'equal')")
  }

  private def kept(condition: String): Long = {
    val skipping = spark.sql(s"EXPLAIN SKIPPING SELECT * FROM m WHERE $condition").head()
    skipping.getLong(skipping.fieldIndex("files_kept"))
  }

  private def same(condition: String): Unit = {
    def rows = spark.sql(s"SELECT count(*), sum(hash(id, a, v, day)) FROM m WHERE $condition").head()
    val skipped = rows
    withSettings("spark.zorder.skipping.enabled" -> "false")(assert(skipped == rows, condition))
  }

  test("the bounds of columns and the values of partitions together decide") {
    assert(kept("day = 3 AND id < 12100 OR id < 10") == kept("day = 3 AND id < 12100") + kept("id < 10"))
    assert(kept("NOT (day <> 3 OR id >= 12100) OR id < 10") == kept("day = 3 AND id < 12100") + kept("id < 10"))
  }

  test("the values that files have leave out as many files as with a condition on the partition alone") {
    // The values of the column are multiples of 10.
    assert(kept("day = 3 AND v = 705") == 0 && kept("day IN (2, 3) AND v = 700") > 0)
    assert(kept("day = 3 AND v = 705 OR id < 10") == kept("id < 10"))
    assert(kept("day = 3 AND v IN (701, 709) OR day = 2 AND v = 333 OR id < 10") == kept("id < 10"))
    assert(kept("day = 3 AND v = 700 OR day = 2 AND v = 705") == kept("day = 3 AND v = 700"))
    Seq("day = 3 AND v = 700 OR day = 2 AND v = 705", "day = 3 AND v = 705 OR id < 10").foreach(same)
  }

  test("the curve leaves out as many files as with a condition on the partition alone") {
    val byCurve = for (from <- 12000 to 15000 by 750; a <- 100 to 900 by 200) yield {
      val box = s"id BETWEEN $from AND ${from + 400} AND a BETWEEN $a AND ${a + 60}"
      val mixed = s"day = 3 AND $box OR day = 5 AND id = $from AND a = $a"
      assert(kept(mixed) == kept(s"day = 3 AND $box"), box)
      same(mixed)
      spark.sql(s"EXPLAIN SKIPPING SELECT * FROM m WHERE $mixed").head().toString.contains("interval of the curve")
    }
    assert(byCurve.contains(true))
  }
}
