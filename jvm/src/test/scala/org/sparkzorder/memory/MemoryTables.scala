package org.sparkzorder.memory

import java.io.File
import java.nio.file.{Files, Path}
import java.nio.file.attribute.FileTime

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.scalatest.Suite

import org.sparkzorder.LocalSpark
import org.sparkzorder.memory.learn.{LearningFilterExec, PendingScans}

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

  protected def withIndex(folder: String, column: String, format: String = "parquet"): String = {
    spark.sql(s"CREATE SKIPPING INDEX ON $format.`$folder` ($column)")
    folder
  }

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
    try all.iterator.asScala.filter(p =>
        Files.isRegularFile(p) && !p.getFileName.toString.matches("[._].*")
      ).toVector.sorted
    finally all.close()
  }

  /** The rows of a query, and the files that its scans have read. */
  protected def run(query: DataFrame): (Seq[String], Long) = {
    val rows = query.collect().map(_.toString).toVector.sorted
    (rows, scans(query).map(_.metrics("numFiles").value).sum)
  }

  protected def filesRead(query: DataFrame): Long = run(query)._2

  protected def scans(query: DataFrame): Seq[FileSourceScanExec] =
    collectWithSubqueries(query.queryExecution.executedPlan) { case s: FileSourceScanExec => s }

  protected def learns(query: DataFrame): Boolean = {
    def all(plan: SparkPlan) = collectWithSubqueries(plan) { case r: LearningFilterExec => r }
    all(query.queryExecution.executedPlan).nonEmpty
  }

  protected def table(folder: String, format: String = "parquet"): DataFrame = spark.read.format(format).load(folder)

  /** Asserts that a query reads so many files first and second, and finds the same rows as without memory. */
  protected def assertReads(first: Long, second: Long)(query: => DataFrame): Unit = {
    val expected = withSettings("spark.zorder.memory.enabled" -> "false")(run(query)._1)
    assert(run(query) == (expected, first))
    assert(run(query) == (expected, second))
  }
}
