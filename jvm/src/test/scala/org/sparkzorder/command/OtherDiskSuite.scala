package org.sparkzorder.command

import java.net.URI

import org.apache.hadoop.fs.{Path, RawLocalFileSystem}
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, LocalSpark}

/** The local disk below another scheme. It refuses paths of others, as each file system does. */
final class OtherDisk extends RawLocalFileSystem {
  override def getScheme: String = "other"
  override def getUri: URI = URI.create("other:///")

  override def delete(f: Path, recursive: Boolean): Boolean = {
    val isDeleted = super.delete(f, recursive)
    OtherDisk.deleted(f)
    isDeleted
  }
}

object OtherDisk {

  /** The setting that makes a session know it. */
  val setting: (String, String) = "spark.hadoop.fs.other.impl" -> classOf[OtherDisk].getName

  /** Is told of each delete. */
  @volatile var deleted: Path => Unit = _ => ()
}

/** A table has one of its partitions on another file system, or another session renames or drops it. */
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
      if (rootScheme == "other") {
        spark.sql(s"ALTER TABLE $name SET LOCATION 'other:$dir/$name'")
        for (p <- 0 to 1) spark.sql(s"ALTER TABLE $name PARTITION (p = $p) SET LOCATION 'other:$dir/$name/p=$p'")
      }
      val before = rows(name)
      for (dry <- Seq(" DRY RUN", "")) {
        assert(condition(s"OPTIMIZE $name ZORDER BY (a) $options$dry") == "ZORDER_UNSAFE_TABLE.PARTITION_OUTSIDE")
        assert(condition(s"OPTIMIZE $name WHERE p < 2 ZORDER BY (a) $options$dry") == "none", dry)
      }
      assert(rows(name) == before)
      val others = Seq("CREATE OR REPLACE", "REFRESH", "DESCRIBE").map(_ + s" SKIPPING INDEX ON $name") ++ Seq(
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

  /** Another session changes a table as soon as the catalog names its new folder, and the history says so. */
  private def after(change: => Unit)(statement: String): Array[Row] = {
    @volatile var changes = 0
    // The record of an operation under way goes last.
    OtherDisk.deleted = path =>
      if (path.getName.endsWith(".moving")) {
        changes += 1
        change
      }
    try spark.sql(statement).collect()
    finally {
      OtherDisk.deleted = _ => ()
      assert(changes == 1, statement)
    }
  }

  for (isCached <- Seq(false, true))
    test(s"a statement succeeds although the table has another name at its end, cached: $isCached", InRest) {
      val (one, other) = (s"one_$isCached", s"other_$isCached")
      val catalog = spark.sharedState.externalCatalog.unwrapped
      spark.range(0, 400, 1, 4).selectExpr("id", "id % 7 AS a").write.parquet(s"other:$dir/$one")
      spark.sql(s"CREATE TABLE $one (id LONG, a LONG) USING parquet LOCATION 'other:$dir/$one'")
      if (isCached) spark.sql(s"CACHE TABLE $one")
      val optimize = s"OPTIMIZE $one FULL ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '2')"
      val done = after(catalog.renameTable("default", one, other))(optimize)
      assert(done.head.getAs[Row]("metrics").getAs[Long]("numFilesAdded") == 2)
      assert(rows(other).take(2) == Seq(400, 400))
      val back = after(catalog.renameTable("default", other, one))(s"RESTORE $other TO VERSION AS OF 0")
      assert(back.head.getAs[Long]("num_restored_files") == 4)
      assert(rows(one).take(2) == Seq(400, 400))
      after(catalog.dropTable("default", one, ignoreIfNotExists = false, purge = false))(optimize)
    }
}
