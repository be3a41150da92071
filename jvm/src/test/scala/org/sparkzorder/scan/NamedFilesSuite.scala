package org.sparkzorder.scan

import java.io.File
import java.net.URI
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{FileStatus, FilterFileSystem, Path, RawLocalFileSystem}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.LocalSpark

/** The local disk as if it were a server: it says what it was asked for. No `RawLocalFileSystem`, beside which we ask Java. */
final class AskedFs extends FilterFileSystem(new AskedFs.Disk) {
  override def getScheme: String = fs.getScheme
  override def getFileStatus(f: Path): FileStatus = { AskedFs.paths.add(f.toUri.getPath); super.getFileStatus(f) }
  override def listStatus(f: Path): Array[FileStatus] = { AskedFs.paths.add(f.toUri.getPath); super.listStatus(f) }
}

object AskedFs {
  val paths = new ConcurrentLinkedQueue[String]

  final class Disk extends RawLocalFileSystem {
    override def getScheme: String = "asked"
    override def getUri: URI = URI.create("asked:///")
  }
}

class NamedFilesSuite extends AnyFunSuite with LocalSpark {

  override protected def settings: Map[String, String] = Map(
    "spark.sql.extensions" -> "org.sparkzorder.ZOrderSparkExtension",
    "spark.hadoop.fs.asked.impl" -> classOf[AskedFs].getName
  )

  private def asked(work: => Unit): Seq[String] = {
    AskedFs.paths.clear()
    work
    AskedFs.paths.asScala.toSeq
  }

  private def named(table: String, partition: String = ""): Seq[String] =
    new File(dir, s"$table/$partition").listFiles.map(_.getPath).filter(_.endsWith(".parquet")).toSeq.sorted
      .map(f => s"asked://$f")

  test("of files that a query names, their folder is asked for its side folder, and not each of them") {
    spark.range(100).repartition(20).write.parquet(s"$dir/t")
    spark.sql(s"CREATE SKIPPING INDEX ON parquet.`$dir/t`")
    val files = named("t")
    assert(files.size == 20)
    val rows = spark.read.parquet(files: _*).where("id >= 0")
    val sides = asked(rows.queryExecution.executedPlan).filter(_.endsWith("_zorder"))
    // And the first file once, to find out where its table is.
    assert(sides.contains(s"$dir/t/_zorder") && sides.distinct.size <= 2 && sides.size < files.size / 2)
    assert(rows.count() == 100)
    // Its folder is a table.
    val whole = spark.read.parquet(s"asked://$dir/t").where("id < 0")
    assert(asked(whole.queryExecution.executedPlan).exists(_.endsWith("/t/_zorder")))
    val both = spark.read.parquet(files.head, s"asked://$dir/t").where("id >= 0")
    assert(asked(both.queryExecution.executedPlan).filter(_.endsWith("_zorder")).distinct.size <= 2)
    assert(both.count() > 100)
  }

  test("a file with the name of a partition is no table") {
    spark.range(10).coalesce(1).write.parquet(s"$dir/n")
    val file = new File(dir, "n/k=1.parquet")
    assert(new File(named("n").head.stripPrefix("asked://")).renameTo(file))
    val rows = spark.read.parquet(s"asked://$file").where("id >= 0")
    assert(!asked(rows.queryExecution.executedPlan).exists(_.contains("k=1.parquet/_zorder")))
    assert(rows.count() == 10)
  }
}
