package org.sparkzorder.scan

import java.io.File
import java.net.URI
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.{Random, Try}

import org.apache.commons.io.FileUtils
import org.apache.hadoop.fs.{FileStatus, FilterFileSystem, Path, RawLocalFileSystem}
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, LocalSpark}

/** The local disk as if it were a server, not a `RawLocalFileSystem`: it says what it was asked for. */
final class AskedFs extends FilterFileSystem(new AskedFs.Disk) {
  override def getScheme: String = fs.getScheme
  override def getFileStatus(f: Path): FileStatus = { AskedFs.paths.add(f.toUri.getPath); super.getFileStatus(f) }
  override def listStatus(f: Path): Array[FileStatus] = { AskedFs.paths.add(f.toUri.getPath); super.listStatus(f) }
}

object AskedFs {
  val paths = new ConcurrentLinkedQueue[String]

  /** The paths that it is asked for during some work. */
  def looks(work: => Unit): Seq[String] = {
    paths.clear()
    work
    paths.asScala.toVector.sorted
  }

  final class Disk extends RawLocalFileSystem {
    override def getScheme: String = "asked"
    override def getUri: URI = URI.create("asked:///")
  }
}

object NamedFilesSuite {

  /** Pairs of folders to compare. Set the system property for a longer run. */
  val Pairs: Int = Integer.getInteger("zorder.named.pairs", 6)

  /** Names that listings treat in another way than those of data. */
  val Odd: Seq[String] = Seq(
    "_metadata", "_common_metadata", "_metadata.parquet", ".part-0.parquet.crc", "x.parquet._COPYING_",
    "_hidden.parquet", ".hidden.parquet", "_temporary/0/part-9.parquet", ".staging/part-9.parquet", "_k=1.parquet",
    "_q=1/part-9.parquet", "_started_123", "k=1.parquet", "a:b.parquet", "a b%20c.parquet", "sub/part-9.parquet",
    "p=2/_SUCCESS", "p=2/.part-0.parquet.crc", "p=1/_metadata"
  )
}

class NamedFilesSuite extends AnyFunSuite with LocalSpark {
  import AskedFs.looks

  override protected def settings: Map[String, String] =
    super.settings + ("spark.hadoop.fs.asked.impl" -> classOf[AskedFs].getName)

  private def named(table: String): Seq[String] =
    new File(dir, table).listFiles.map(_.getPath).filter(_.endsWith(".parquet")).toSeq.sorted
      .map(f => s"asked://$f")

  test("of files that a query names, their folder is asked for its side folder, and not each of them") {
    spark.range(100).repartition(20).write.parquet(s"$dir/t")
    spark.sql(s"CREATE SKIPPING INDEX ON parquet.`$dir/t`")
    val files = named("t")
    assert(files.size == 20)
    val rows = spark.read.parquet(files: _*).where("id >= 0")
    val sides = looks(rows.queryExecution.executedPlan).filter(_.endsWith("_zorder"))
    // And the first file once, to find out where its table is.
    assert(sides.contains(s"$dir/t/_zorder") && sides.distinct.size <= 2 && sides.size < files.size / 2)
    assert(rows.count() == 100)
    // Its folder is a table.
    val whole = spark.read.parquet(s"asked://$dir/t").where("id < 0")
    assert(looks(whole.queryExecution.executedPlan).exists(_.endsWith("/t/_zorder")))
    val both = spark.read.parquet(files.head, s"asked://$dir/t").where("id >= 0")
    assert(looks(both.queryExecution.executedPlan).filter(_.endsWith("_zorder")).distinct.size <= 2)
    assert(both.count() > 100)
  }

  /** The rows that a read finds, or the condition or class of its error. */
  private def outcome(root: File, patterns: Seq[String], options: Map[String, String]): Either[String, Seq[Long]] =
    try {
      val rows = spark.read.options(options).schema("id BIGINT").parquet(patterns.map(p => s"$root/$p"): _*)
      Right(rows.where("id >= 0").collect().map(_.getLong(0)).sorted.toSeq)
    } catch {
      case e: SparkThrowable if e.getCondition != null => Left(e.getCondition)
      case e: Exception                                => Left(e.getClass.getName)
    }

  /** Two folders with the same files, of which the first has an index. */
  private def twins(name: String, random: Random, odd: Int): (File, File) = {
    val (indexed, bare) = (new File(dir, s"$name-indexed"), new File(dir, s"$name-bare"))
    spark.range(20).repartition(2).write.parquet(bare.getPath)
    spark.range(20, 40).repartition(1).write.parquet(s"$bare/p=1")
    val file = bare.listFiles.find(_.getName.endsWith(".parquet")).get
    FileUtils.copyDirectory(bare, indexed)
    spark.sql(s"CREATE SKIPPING INDEX ON parquet.`$indexed`")
    // Spark may refuse all for one odd name, so a few are enough for each pair.
    for (name <- random.shuffle(NamedFilesSuite.Odd).take(odd); root <- Seq(bare, indexed))
      FileUtils.copyFile(file, new File(root, name))
    (indexed, bare)
  }

  test("a read by patterns finds the same with an index as without one", InRest) {
    val random = new Random(11)
    val patterns =
      Seq("*", "*/*", "*/*/*", "*.parquet", "part-*", "_*", "{_,p,.}*", "p=*", "[_p]*/*", ".*", "_SUCCESS", "")
    val globs = Seq("*.parquet", "_*").map(glob => Map("pathGlobFilter" -> glob))
    val options =
      Map.empty[String, String] +: (globs ++ Seq(Map("recursiveFileLookup" -> "true"), Map("basePath" -> "")))
    val seen = for {
      i <- 1 to NamedFilesSuite.Pairs
      (indexed, bare) = twins(s"twins-$i", random, odd = i % 4)
      asked <- patterns.map(Seq(_)) ++ Seq.fill(4)(random.shuffle(patterns).take(2))
      some <- random.shuffle(options).take(2)
      skips <- Seq(true, false).filter(_ => random.nextBoolean())
    } yield {
      def of(root: File) =
        outcome(root, asked, some.map { case (k, v) => k -> (if (k == "basePath") root.getPath else v) })
      spark.conf.set("spark.zorder.skipping.enabled", skips)
      val (found, expected) = (of(indexed), of(bare))
      assert(found == expected, s"$asked of $indexed with $some, ${bare.list().sorted.mkString(" ")}")
      expected
    }
    spark.conf.unset("spark.zorder.skipping.enabled")
    assert(seen.count(_.exists(_.nonEmpty)) > seen.size / 3 && seen.exists(_.isLeft))
  }

  test("a named file that is gone is refused, and not one that no listing has") {
    val indexed = twins("gone", new Random(3), odd = 0)._1
    val data = indexed.listFiles.filter(_.getName.startsWith("part-")).head
    val globs = Seq("*.orc" -> false, "part-*" -> true)
    val cases = globs.map { case (glob, isRefused) => (data, Map("pathGlobFilter" -> glob), isRefused) }
    for ((gone, options, isRefused) <- cases :+ ((new File(indexed, "_SUCCESS"), Map.empty[String, String], false))) {
      val all = indexed.listFiles.filter(f => f.isFile || f.getName == "p=1").map(_.getPath)
      val rows = spark.read.options(options).schema("id BIGINT").parquet(all.toSeq: _*)
      val away = new File(dir, "away")
      assert(gone.renameTo(away))
      rows.queryExecution.analyzed.foreach {
        case l: LogicalRelation => l.relation.asInstanceOf[HadoopFsRelation].location.refresh()
        case _                  =>
      }
      val error = Try(rows.where("id >= 0").count()).failed.toOption
      assert(error.isDefined == isRefused && error.forall(_.toString.contains("ZORDER_FILES_REPLACED")), error)
      assert(away.renameTo(gone))
    }
  }

  test("a file with the name of a partition is no table") {
    spark.range(10).coalesce(1).write.parquet(s"$dir/n")
    val file = new File(dir, "n/k=1.parquet")
    assert(new File(named("n").head.stripPrefix("asked://")).renameTo(file))
    val rows = spark.read.parquet(s"asked://$file").where("id >= 0")
    assert(!looks(rows.queryExecution.executedPlan).exists(_.contains("k=1.parquet/_zorder")))
    assert(rows.count() == 10)
  }
}
