package org.sparkzorder.scan

import java.io.File

import org.apache.spark.sql.classic.SparkSession
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, LocalSpark}

/** Spark keeps the files of each partition of a catalog's table from when it first listed them. */
class CachedPartitionsSuite extends AnyFunSuite with LocalSpark {

  private val hour = 3600L * 1000

  /** As if the operation of a version had ended an hour earlier. */
  private def age(table: String, version: Int): Unit = {
    val records = new File(spark.conf.get("spark.sql.warehouse.dir").stripPrefix("file:"), s"$table/_zorder").listFiles
      .filter(_.getName.startsWith(f"_v$version%010d"))
    assert(records.nonEmpty)
    records.foreach(file => assert(file.setLastModified(file.lastModified - hour)))
  }

  private def made(table: String): (SparkSession, SparkSession) = {
    spark.sql(s"CREATE TABLE $table (id LONG, p INT) USING parquet PARTITIONED BY (p)")
    spark.range(200).selectExpr("id", "CAST(id % 2 AS INT) AS p").repartition(4).write.insertInto(table)
    (spark.newSession().asInstanceOf[SparkSession], spark.newSession().asInstanceOf[SparkSession])
  }

  test("a partition that was listed before OPTIMIZE is listed again beside one that was listed after it", InRest) {
    val (reader, writer) = made("t")
    def count(of: String): Long = reader.sql(s"SELECT id FROM t WHERE $of").collect().length.toLong
    assert(count("p = 0") == 100)
    writer.sql("OPTIMIZE t WHERE p = 0 ZORDER BY (id)")
    age("t", version = 1)
    writer.sql("OPTIMIZE t WHERE p = 1 ZORDER BY (id)")
    writer.sql("VACUUM t RETAIN 0 HOURS")
    assert(count("p = 1") == 100)
    assert(count("p IN (0, 1)") == 200)
    reader.conf.set("spark.sql.files.ignoreMissingFiles", "true")
    assert(count("p IN (0, 1)") == 200)
  }
}
