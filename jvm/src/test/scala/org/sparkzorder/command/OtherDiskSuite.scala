package org.sparkzorder.command

import org.apache.spark.SparkThrowable
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, LocalSpark}

/** A table has one of its partitions on another file system. */
class OtherDiskSuite extends AnyFunSuite with LocalSpark {
  override protected def settings: Map[String, String] = super.settings + OtherDisk.setting

  private def condition(statement: String): String =
    try {
      spark.sql(statement).collect()
      "none"
    } catch { case e: Exception with SparkThrowable => e.getCondition }

  private def table(name: String, partition: String): Unit = {
    val folder = s"file:$dir/$name"
    spark.range(0, 400, 1, 4).selectExpr("id", "id % 7 AS a", "id % 2 AS p").write.partitionBy("p").parquet(folder)
    spark.range(400, 500, 1, 4).selectExpr("id", "id % 7 AS a").write.parquet(partition)
    spark.sql(s"CREATE TABLE $name (id LONG, a LONG, p LONG) USING parquet PARTITIONED BY (p) LOCATION '$folder'")
    spark.sql(s"ALTER TABLE $name RECOVER PARTITIONS")
    spark.sql(s"ALTER TABLE $name ADD PARTITION (p = 2)")
    spark.sql(s"ALTER TABLE $name PARTITION (p = 2) SET LOCATION '$partition'")
  }

  private def rows(name: String): Seq[Any] =
    spark.sql(s"SELECT count(DISTINCT id), count(*), sum(a) FROM $name").head().toSeq

  for {
    (mode, i) <- Seq("in-place", "new-location").zipWithIndex
    (scheme, rootScheme) <- Seq("other" -> "file", "file" -> "other")
  } {
    val name = s"t${i}_$scheme"
    val options = s"OPTIONS ('commit.mode' = '$mode', 'num-files' = '1')"

    test(s"$mode, the partition is on $scheme: other partitions can be optimized, and restored", InRest) {
      table(name, s"$scheme:$dir/${name}_outside")
      if (rootScheme == "other") spark.sql(s"ALTER TABLE $name SET LOCATION 'other:$dir/$name'")
      if (rootScheme == "other") for (p <- 0 to 1)
        spark.sql(s"ALTER TABLE $name PARTITION (p = $p) SET LOCATION 'other:$dir/$name/p=$p'")
      val before = rows(name)
      for (dry <- Seq(" DRY RUN", "")) {
        assert(condition(s"OPTIMIZE $name ZORDER BY (a) $options$dry") == "ZORDER_UNSAFE_TABLE.PARTITION_OUTSIDE")
        assert(condition(s"OPTIMIZE $name WHERE p < 2 ZORDER BY (a) $options$dry") == "none", dry)
      }
      assert(rows(name) == before)
      val others = Seq(
        s"CREATE OR REPLACE SKIPPING INDEX ON $name",
        s"REFRESH SKIPPING INDEX ON $name",
        s"DESCRIBE SKIPPING INDEX ON $name",
        s"EXPLAIN SKIPPING SELECT * FROM $name WHERE a = 3",
        s"EXPLAIN SKIPPING ANALYZE SELECT * FROM $name WHERE id = 450",
        s"SHOW CLUSTERING",
        s"DESCRIBE HISTORY $name",
        s"RESTORE $name TO VERSION AS OF 0",
        s"OPTIMIZE $name WHERE p = 1 ZORDER BY (id) $options",
        s"VACUUM $name RETAIN 0 HOURS",
        s"DROP SKIPPING INDEX ON $name"
      )
      others.foreach { statement =>
        assert(condition(statement) == "none", statement)
        assert(rows(name) == before, statement)
      }
      assert(spark.sql(s"SELECT count(*) FROM $name WHERE a = 3 AND p = 2").head().getLong(0) == 14)
    }
  }
}
