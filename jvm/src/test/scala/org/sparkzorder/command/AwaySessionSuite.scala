package org.sparkzorder.command

import java.io.IOException
import java.net.URI

import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, LocalSpark}
import org.sparkzorder.commit.OperationMetrics

/** The local disk, which becomes unreachable after a number of calls. */
final class AwayFs extends RawLocalFileSystem {
  override def getScheme: String = "away"
  override def getUri: URI = URI.create("away:///")

  private def reached[A](call: => A): A = {
    AwayFs.count()
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
  override def delete(f: Path, recursive: Boolean): Boolean = reached(super.delete(f, recursive))
  override def mkdirs(f: Path): Boolean = reached(super.mkdirs(f))
  override def setTimes(f: Path, mtime: Long, atime: Long): Unit = reached(super.setTimes(f, mtime, atime))
}

object AwayFs {

  /** How many calls still succeed; negative for all. */
  @volatile var left = -1

  def count(): Unit = synchronized {
    if (left == 0) throw new IOException("the file system is away")
    if (left > 0) left -= 1
  }
}

class AwaySessionSuite extends AnyFunSuite with LocalSpark {
  override protected def settings: Map[String, String] = super.settings ++
    Map("spark.hadoop.fs.away.impl" -> classOf[AwayFs].getName, "spark.hadoop.fs.away.impl.disable.cache" -> "true")

  test("if the file system goes away during a statement, no lock stays alive, and the next statement works", InRest) {
    val target = s"parquet.`away:$dir/t`"
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
        AwayFs.left = calls
        try spark.sql(statement).collect()
        catch { case _: Exception => failed += 1 }
        finally AwayFs.left = -1
        assert(OperationMetrics.locksHeld == 0, s"$statement, away after $calls calls")
      }
      assert(failed > 1, statement)
      spark.sql(statement).collect()
      assert(spark.sql(s"SELECT count(DISTINCT id), count(*) FROM $target").head().toSeq == Seq(400L, 400L))
    }
  }
}
