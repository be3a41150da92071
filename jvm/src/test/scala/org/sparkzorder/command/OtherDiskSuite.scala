package org.sparkzorder.command

import java.io.IOException
import java.net.URI

import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, LocalSpark}
import org.sparkzorder.commit.OperationMetrics

/** The local disk below another scheme. It refuses paths of others, as each file system does. */
final class OtherDisk extends RawLocalFileSystem {
  override def getScheme: String = "other"
  override def getUri: URI = URI.create("other:///")

  private def reached[A](call: => A): A = {
    OtherDisk.count()
    call
  }

  override def open(f: Path, bufferSize: Int): FSDataInputStream = reached(super.open(f, bufferSize))
  override def create(
      f: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = reached(super.create(f, permission, overwrite, bufferSize, replication, blockSize, progress))
  override def rename(src: Path, dst: Path): Boolean = reached(super.rename(src, dst))
  override def delete(f: Path, recursive: Boolean): Boolean = {
    val isDeleted = reached(super.delete(f, recursive))
    OtherDisk.deleted(f)
    isDeleted
  }
  override def mkdirs(f: Path): Boolean = reached(super.mkdirs(f))
  override def setTimes(f: Path, mtime: Long, atime: Long): Unit = reached(super.setTimes(f, mtime, atime))
}

object OtherDisk {

  /** Is told of each delete. */
  @volatile var deleted: Path => Unit = _ => ()

  /** How many calls still succeed before the disk becomes unreachable; negative for all. */
  @volatile var left = -1

  def count(): Unit = synchronized {
    if (left == 0) throw new IOException("the file system is away")
    if (left > 0) left -= 1
  }
}

/** A table's file system goes away, or is another one for a partition; another session renames or drops the table. */
class OtherDiskSuite extends AnyFunSuite with LocalSpark {
  override protected def settings: Map[String, String] =
    super.settings + ("spark.hadoop.fs.other.impl" -> classOf[OtherDisk].getName)

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

  test("if the file system goes away during a statement, no lock stays alive, and the next statement works", InRest) {
    val target = s"parquet.`other:$dir/t`"
    spark.range(0, 400, 1, 4).selectExpr("id", "id % 7 AS a").write.parquet(s"$dir/t")
    val statements = Seq(
      s"OPTIMIZE $target FULL ZORDER BY (a) OPTIONS ('num-files' = '2')",
      s"CREATE OR REPLACE SKIPPING INDEX ON $target",
      s"RESTORE $target TO VERSION AS OF 0",
      s"VACUUM $target RETAIN 0 HOURS"
    )
    statements.foreach { statement =>
      var failed = 0
      for (calls <- Seq(0, 2, 5, 13, 34)) {
        OtherDisk.left = calls
        try spark.sql(statement).collect()
        catch { case _: Exception => failed += 1 }
        finally OtherDisk.left = -1
        assert(OperationMetrics.locksHeld == 0, s"$statement, away after $calls calls")
      }
      assert(failed > 1, statement)
      spark.sql(statement).collect()
      assert(spark.sql(s"SELECT count(DISTINCT id), count(*) FROM $target").head().toSeq == Seq(400L, 400L))
    }
  }
}
