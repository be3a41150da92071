package org.sparkzorder.memory

import java.io.File
import java.nio.file.{Files, Path}
import java.nio.file.attribute.FileTime

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.{DataFrame, DataFrameWriter, Row}
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.scalatest.Suite

import org.sparkzorder.LocalSpark
import org.sparkzorder.memory.learn.{LearningFilterExec, PendingScans}
import org.sparkzorder.skipping.SkippingErrors

/** Folders of files, and what queries over them read. */
trait MemoryTables extends LocalSpark with AdaptiveSparkPlanHelper { this: Suite =>

  override protected def settings: Map[String, String] = super.settings + ("spark.zorder.memory.enabled" -> "true")

  /** A scan that could not be learned from is a bug, though no answer is wrong. */
  override protected def afterAll(): Unit = {
    super.afterAll()
    assert(PendingScans.failures == 0)
  }

  private var made = 0

  /** A new folder of eight files with 100 rows each: id, k = id % 10, name = 'n<id>', b = number of the file. */
  protected def folder(format: String = "parquet", partitionedBy: Seq[String] = Nil): String = {
    made += 1
    val to = new File(dir, s"t$made").toString
    spark.range(0, 800, 1, 8)
      .selectExpr("id", "id % 10 AS k", "concat('n', id) AS name", "cast(id / 100 AS INT) AS b")
      .write.partitionBy(partitionedBy: _*).format(format).save(to)
    age(to)
    to
  }

  /** Such a folder with an index that can leave out none of its files. */
  protected def indexedFolder(format: String = "parquet", partitionedBy: Seq[String] = Nil): String =
    withIndex(folder(format, partitionedBy), if (partitionedBy.contains("k")) "b" else "k", format)

  /** The folder, with an index of these columns, or of all. */
  protected def withIndex(folder: String, columns: String = "", format: String = "parquet"): String = {
    spark.sql(s"CREATE SKIPPING INDEX ON $format.`$folder`" + (if (columns.isEmpty) "" else s" ($columns)"))
    folder
  }

  /** A folder of other rows, aged, with an index of some columns, or of all. */
  protected def saved(name: String, rows: DataFrameWriter[Row], index: String = "", format: String = "parquet") = {
    val path = s"$dir/$name"
    rows.format(format).save(path)
    age(path)
    withIndex(path, index, format)
  }

  /** Works with a table of the catalog over a folder that is partitioned by `k`. */
  protected def withCatalogTable(name: String, folder: String)(work: => Unit): Unit =
    try {
      val columns = "id BIGINT, name STRING, b INT, k BIGINT"
      spark.sql(s"CREATE TABLE $name ($columns) USING parquet PARTITIONED BY (k) LOCATION '$folder'")
      spark.sql(s"MSCK REPAIR TABLE $name")
      work
    } finally spark.sql(s"DROP TABLE IF EXISTS $name")

  /**
   * Makes all files of a folder a day old, since nothing is remembered about files of this moment. Checksums beside them
   * go, so that files can be overwritten.
   */
  protected def age(folder: String): Unit = files(folder).foreach { f =>
    Files.deleteIfExists(f.resolveSibling(s".${f.getFileName}.crc"))
    Files.setLastModifiedTime(f, FileTime.fromMillis(System.currentTimeMillis() - 86400000L))
  }

  protected def files(folder: String): Seq[Path] = {
    val all = Files.walk(new File(folder).toPath)
    def isData(p: Path) = Files.isRegularFile(p) && !p.getFileName.toString.matches("[._].*")
    try all.iterator.asScala.filter(isData).toVector.sorted
    finally all.close()
  }

  protected def sortedRows(query: DataFrame): Seq[String] = query.collect().map(_.toString).toVector.sorted

  /** The rows of a query, and the files that its scans have read. */
  protected def run(query: DataFrame): (Seq[String], Long) = (sortedRows(query), filesOf(query))

  protected def filesRead(query: DataFrame): Long = run(query)._2

  /** The files that the scans of a query have read, or those of its scans of one folder. */
  protected def filesOf(query: DataFrame, folder: String = ""): Long =
    scans(query).filter(_.relation.location.rootPaths.exists(_.toString.endsWith(folder)))
      .map(_.metrics("numFiles").value).sum

  protected def scans(query: DataFrame): Seq[FileSourceScanExec] =
    collectWithSubqueries(query.queryExecution.executedPlan) { case s: FileSourceScanExec => s }

  protected def learns(query: DataFrame): Boolean =
    collectWithSubqueries(query.queryExecution.executedPlan) { case r: LearningFilterExec => r }.nonEmpty

  protected def table(folder: String, format: String = "parquet"): DataFrame = spark.read.format(format).load(folder)

  protected def withoutMemory[A](work: => A): A = withSettings("spark.zorder.memory.enabled" -> "false")(work)

  protected def withoutSkipping[A](work: => A): A = withSettings("spark.zorder.skipping.enabled" -> "false")(work)

  /** Asserts that a query reads so many files first and second, and finds the same rows as without memory. */
  protected def assertReads(first: Long, second: Long)(query: => DataFrame): Unit = {
    val expected = withoutMemory(run(query)._1)
    assert(run(query) == (expected, first))
    assert(run(query) == (expected, second))
  }
}

/** Such tables with an index of all columns, and no memory of filters. */
trait IndexedTables extends MemoryTables { this: Suite =>

  override protected def settings: Map[String, String] = super.settings + ("spark.zorder.memory.enabled" -> "false")

  protected def indexed(format: String = "parquet", partitionedBy: Seq[String] = Nil): String =
    withIndex(folder(format, partitionedBy), format = format)

  /** What something says of a query, and of the same query without a feature. Nothing may give up on the way. */
  protected def withAndWithout[A](feature: String)(of: => A): (A, A) = {
    val before = SkippingErrors.total
    val without = withSettings(s"spark.zorder.$feature.enabled" -> "false")(of)
    val found = of
    assert(SkippingErrors.total == before)
    (found, without)
  }

  /** Asserts how many files a query reads, and that it has the rows that it has without a feature. */
  protected def assertFiles(feature: String, files: Int)(query: String): Unit = {
    val (found, expected) = withAndWithout(feature)(run(spark.sql(query)))
    assert(found == ((expected._1, files.toLong)), query)
  }

  /** A table of six files, partitioned by `p` in each other round, with values of which some are special. */
  protected def randomTable(round: Int, random: Random): DataFrame = {
    val format = if (round < 4) "parquet" else "orc"
    val rows = spark.range(0, 600, 1, 6).selectExpr(
      "id",
      s"if(pmod(hash(id, $round), 9) = 0 OR id < ${random.nextInt(200)}, NULL, int(id / ${1 + random.nextInt(90)})) AS a",
      "if(pmod(hash(id), 50) = 0, NULL, date_add(DATE'2024-01-01', int(id / 7))) AS d",
      s"if(id % 97 = $round, double('NaN'), if(id % 50 = 1, -0.0D, double(300 - id))) AS f",
      "id % 2 = 0 OR id > 400 AS even",
      "concat(char(97 + int(id / 80)), if(id % 11 = 0, repeat('\u00e9', 90), ''), id) AS s",
      "int(id / 150) AS p"
    )
    val partitions = Seq("p").filter(_ => round % 2 == 1)
    table(saved(s"random$round", rows.write.partitionBy(partitions: _*), format = format), format)
  }
}
