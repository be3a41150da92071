package org.sparkzorder.scan

import java.io.File

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, LocalSpark}

/** Spark keeps the files of each partition of a catalog's table from when it first listed them. */
class CachedPartitionsSuite extends AnyFunSuite with LocalSpark {
  test("a partition that was listed before OPTIMIZE is listed again beside one that was listed after it", InRest) {
    spark.sql("CREATE TABLE t (id LONG, p INT) USING parquet PARTITIONED BY (p)")
    spark.range(200).selectExpr("id", "CAST(id % 2 AS INT) AS p").repartition(4).write.insertInto("t")
    val (reader, writer) = (spark.newSession(), spark.newSession())
    def count(of: String): Long = reader.sql(s"SELECT id FROM t WHERE $of").collect().length.toLong
    assert(count("p = 0") == 100)
    writer.sql("OPTIMIZE t WHERE p = 0 ZORDER BY (id)")
    // As if it had ended an hour earlier.
    val records = new File(spark.conf.get("spark.sql.warehouse.dir").stripPrefix("file:"), "t/_zorder").listFiles
      .filter(_.getName.startsWith("_v0000000001"))
    assert(records.nonEmpty)
    records.foreach(file => assert(file.setLastModified(file.lastModified - 3600L * 1000)))
    writer.sql("OPTIMIZE t WHERE p = 1 ZORDER BY (id)")
    writer.sql("VACUUM t RETAIN 0 HOURS")
    assert(count("p = 1") == 100)
    assert(count("p IN (0, 1)") == 200)
    reader.conf.set("spark.sql.files.ignoreMissingFiles", "true")
    assert(count("p IN (0, 1)") == 200)
  }
}
