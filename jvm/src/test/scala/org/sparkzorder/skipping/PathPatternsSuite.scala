package org.sparkzorder.skipping

import java.io.File
import java.net.URI
import java.nio.file.Files
import java.util.concurrent.atomic.AtomicReference

import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, RawLocalFileSystem}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.LocalSpark

/** The local disk, where a file gets another name right before somebody does something to it for the first time. */
final class MovingFs extends RawLocalFileSystem {
  override def getScheme: String = "moving"
  override def getUri: URI = URI.create("moving:///")
  override def getFileStatus(f: Path): FileStatus = { MovingFs.move("status", f); super.getFileStatus(f) }
  override def open(f: Path, bufferSize: Int): FSDataInputStream = {
    MovingFs.move("open", f)
    super.open(f, bufferSize)
  }
}

object MovingFs {

  /** What is to be done to a file when it moves. */
  val before = new AtomicReference[String]("nothing")

  def move(call: String, f: Path): Unit =
    if (f.getName.endsWith(".parquet") && before.compareAndSet(call, "nothing")) {
      val file = new File(f.toUri.getPath)
      Files.move(file.toPath, new File(file.getParentFile, s"moved-${file.getName}").toPath)
      ()
    }
}

class PathPatternsSuite extends AnyFunSuite with LocalSpark {

  override protected def settings: Map[String, String] = Map(
    "spark.sql.extensions" -> "org.sparkzorder.ZOrderSparkExtension",
    "spark.hadoop.fs.moving.impl" -> classOf[MovingFs].getName
  )

  for (call <- Seq("status", "open"); form <- Seq("DataFrame", "SQL"))
    test(s"a pattern is resolved again when a file is gone before its $call: $form") {
      val table = s"$dir/$call$form"
      spark.range(100).repartition(2).write.parquet(table)
      spark.sql(s"OPTIMIZE parquet.`$table` ZORDER BY (id) OPTIONS ('num-files' = '1')")
      val pattern = s"moving://$table/*.parquet"
      MovingFs.before.set(call)
      val rows = if (form == "SQL") spark.sql(s"SELECT * FROM parquet.`$pattern`") else spark.read.parquet(pattern)
      assert(MovingFs.before.get == "nothing")
      assert(rows.count() == 100 && rows.inputFiles.forall(_.contains("/moved-")))
    }

  test("a pattern that matches nothing is an error at once") {
    spark.range(10).write.parquet(s"$dir/none")
    spark.sql(s"CREATE SKIPPING INDEX ON parquet.`$dir/none`")
    val error = intercept[org.apache.spark.sql.AnalysisException](spark.read.parquet(s"moving://$dir/none/*.gone"))
    assert(error.getCondition == "PATH_NOT_FOUND")
  }
}
