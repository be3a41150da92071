package org.sparkzorder.memory

import java.io.File
import java.nio.file.Files

import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.memory.learn.PendingScans

/** What statements say about the memory, and do with it. */
class MemoryStatementsSuite extends AnyFunSuite with MemoryTables {

  private def kept(folder: String): Seq[String] = {
    PendingScans.flush()
    Option(new File(folder, "_zorder/memory").listFiles).toSeq.flatten.map(f => Files.readString(f.toPath))
  }

  private val filter = "concat(name, k) LIKE '%1333'"

  test("EXPLAIN SKIPPING ANALYZE runs a query, and counts the files that it read in vain") {
    val path = folder()
    def explained(query: String) = spark.sql(s"EXPLAIN SKIPPING ANALYZE $query").collect().toSeq.map { r =>
      (r.getLong(2), r.getLong(3), Option(r.get(8)))
    }
    val some = s"SELECT count(*) FROM parquet.`$path` WHERE id % 200 = 133 AND name LIKE 'n%'"
    assert(explained(some) == Seq((8, 8, Some(4))))
    assert(explained(some) == Seq((8, 4, Some(0))))
    val files = spark.sql(s"EXPLAIN SKIPPING FILES $some").collect()
    assert(files.length == 8 && files.count(_.getAs[Boolean]("kept")) == 4)
    assert(spark.sql(s"EXPLAIN SKIPPING $some").head().getAs[Long]("files_kept") == 4)
    assert(explained(s"SELECT count(*) FROM parquet.`$path`") == Seq((8, 8, None)))
    val join = s"SELECT * FROM ($some) a, (SELECT max(id) FROM parquet.`$path` WHERE k + b = 3) b"
    assert(explained(join) == Seq((8, 4, Some(0)), (8, 8, Some(4))))
    withSettings("spark.zorder.memory.enabled" -> "false")(assert(explained(some) == Seq((8, 8, None))))
    val e = intercept[AnalysisException](spark.sql(s"EXPLAIN SKIPPING ANALYZE CREATE TABLE x USING parquet AS $some"))
    assert(e.getCondition == "ZORDER_NOT_A_QUERY" && !spark.catalog.tableExists("x"))
  }

  test("OPTIMIZE says how many filters had found something in the files that it replaced") {
    val path = folder()
    def optimize() =
      spark.sql(s"OPTIMIZE parquet.`$path` FULL ZORDER BY (k) OPTIONS ('num-files' = '4')").head().getString(2)
    for (n <- 1 to 3) assert(filesRead(table(path).where(s"id + k = ${2 * n}")) == 8)
    assert(optimize().contains(" What 3 filters had found in the old files is forgotten. "))
    assert(!optimize().contains("forgotten"))
  }

  test(
    "what filters found is kept beside the index, if the session or the table wants it, without words of the filter"
  ) {
    val path = folder()
    spark.sql(s"CREATE SKIPPING INDEX ON parquet.`$path`")
    assert(run(table(path).where(filter))._2 == 8 && kept(path).isEmpty)
    withSettings("spark.zorder.memory.keep" -> "true") {
      spark.sql(s"CLEAR SKIPPING MEMORY ON parquet.`$path`")
      assert(run(table(path).where(filter))._2 == 8)
      val texts = kept(path)
      assert(texts.size == 1 && texts.forall(t =>
        t.contains(".parquet") && !t.contains("concat") && !t.contains("1333") && !t.contains("31333333")
      ))
      spark.sql(s"CLEAR SKIPPING MEMORY ON parquet.`$path`")
      assert(kept(path).isEmpty)
      assert(run(table(path).where(filter))._2 == 8 && kept(path).size == 1)
      spark.sql(s"DROP SKIPPING INDEX ON parquet.`$path`")
      assert(run(table(path).where("id + k = 7"))._2 == 8 && kept(path).isEmpty)
    }
  }

  test("filters over excluded columns are not kept, and the table's property decides") {
    spark.sql("CREATE TABLE secrets (id BIGINT, card STRING) USING parquet " +
      "TBLPROPERTIES ('zorder.memory.keep' = 'true', 'zorder.index.exclude-columns' = 'card')")
    spark.sql("INSERT INTO secrets SELECT id, concat('c', id) FROM range(0, 100, 1, 4)")
    val path = spark.sql("DESCRIBE DETAIL secrets").head().getAs[String]("location").stripPrefix("file:")
    age(path)
    spark.sql("CREATE SKIPPING INDEX ON secrets")
    assert(filesRead(spark.table("secrets").where("card LIKE '%77'")) == 4 && kept(path).isEmpty)
    assert(filesRead(spark.table("secrets").where("card LIKE '%77'")) == 1)
    assert(filesRead(spark.table("secrets").where("bin(id) = '11'")) == 4 && kept(path).size == 1)
    spark.sql("DROP TABLE secrets")
  }
}
