package org.sparkzorder.memory

import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest

/** What statements say about the memory, and do with it. */
class MemoryStatementsSuite extends AnyFunSuite with MemoryTables {

  test("EXPLAIN SKIPPING ANALYZE runs a query, and counts the files that it read in vain") {
    val path = indexedFolder()
    def explained(query: String) = spark.sql(s"EXPLAIN SKIPPING ANALYZE $query").collect().toSeq.map { r =>
      (r.getLong(2), r.getLong(3), Option(r.get(8)))
    }
    val some = s"SELECT count(*) FROM parquet.`$path` WHERE id % 200 = 133 AND name LIKE 'n%'"
    assert(explained(some) == Seq((8, 8, Some(4))))
    assert(explained(some) == Seq((8, 4, Some(0))))
    val files = spark.sql(s"EXPLAIN SKIPPING FILES $some").collect()
    assert(files.length == 8 && files.count(_.getAs[Boolean]("kept")) == 4)
    assert(spark.sql(s"EXPLAIN SKIPPING $some").head().getAs[Long]("files_kept") == 4)
    assert(explained(s"SELECT max(name) FROM parquet.`$path`") == Seq((8, 8, None)))
    val join = s"SELECT * FROM ($some) a, (SELECT max(id) FROM parquet.`$path` WHERE k + b = 3) b"
    assert(explained(join) == Seq((8, 4, Some(0)), (8, 8, Some(4))))
    withSettings("spark.zorder.memory.enabled" -> "false")(assert(explained(some) == Seq((8, 8, None))))
    val e = intercept[AnalysisException](spark.sql(s"EXPLAIN SKIPPING ANALYZE CREATE TABLE x USING parquet AS $some"))
    assert(e.getCondition == "ZORDER_NOT_A_QUERY" && !spark.catalog.tableExists("x"))
  }

  test("OPTIMIZE says how many filters had found something in the files that it replaced", InRest) {
    val path = indexedFolder()
    def optimize() =
      spark.sql(s"OPTIMIZE parquet.`$path` FULL ZORDER BY (k) OPTIONS ('num-files' = '4')").head().getString(2)
    for (n <- 1 to 3) assert(filesRead(table(path).where(s"id + k = ${2 * n}")) == 8)
    assert(optimize().contains(" What 3 filters had found in the old files is forgotten. "))
    assert(!optimize().contains("forgotten"))
  }

  test("CLEAR SKIPPING MEMORY forgets what filters found, and DESCRIBE DETAIL counts it") {
    val path = indexedFolder()
    def known = spark.sql(s"DESCRIBE DETAIL parquet.`$path`").head().getAs[Long]("rememberedFilters")
    assertReads(first = 8, second = 1)(table(path).where("concat(name, k) LIKE '%1333'"))
    assert(known == 1)
    spark.sql(s"CLEAR SKIPPING MEMORY ON parquet.`$path`")
    assert(known == 0 && filesRead(table(path).where("concat(name, k) LIKE '%1333'")) == 8)
  }
}
