package org.sparkzorder.indexing

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.compat._
import org.sparkzorder.footer.{DataFormat, FileFooter, SchemaCheck, SessionBound}
import org.sparkzorder.progress.{Phase, StatementProgress}
import org.sparkzorder.stats.{ColumnKey, FileStats, IndexedColumns}

/** A listed file with a readable footer. */
private[indexing] final case class IntactFile(status: FileStatus, footer: FileFooter)

/**
 * Reads rows for the statistics that footers lack, and for the values of some columns. One job reads
 * the files that need the same columns. If there would be many jobs, one reads the union of the
 * columns from all files that can be read so.
 */
private[indexing] final class RowScans(
    spark: SparkSession,
    format: DataFormat,
    schema: StructType,
    options: Map[String, String],
    values: IndexedColumns
) {
  import values.members

  import RowScans._

  private val caseSensitive = spark.asInstanceOf[ClassicSession].sessionState.conf.caseSensitiveAnalysis

  /** By the file's position in `files`; files whose footers say everything are not read. */
  def of(files: IndexedSeq[IntactFile]): Map[Int, FileStats] = {
    val jobs = jobsFor(files)
    val progress = StatementProgress.current.filter(_ => jobs.nonEmpty)
    progress.foreach(_.enter(Phase.Scanning, until = 0.98, files = jobs.map(_.files.size.toLong).sum))
    jobs.flatMap { job =>
      val keys = job.columns.toSeq.sortBy(_.path.mkString("."))
      val columns = values.copy(keys = keys, members = members.filter { case (key, _) => job.columns(key) })
      val byRow = job.files.exists(files(_).footer.hasDifferences)
      val statuses = job.files.map(i => (i, files(i).status))
      val scanned = FileScan.scan(spark, statuses, format, schema, columns, options, byRow)
      progress.foreach(_.done(Phase.Scanning, files = job.files.size.toLong))
      scanned
    }.toMap
  }

  private def jobsFor(files: IndexedSeq[IntactFile]): Seq[ScanJob] = {
    val scannable = files.map(f => SchemaCheck.scannable(schema, f.footer, caseSensitive))
    def canScan(file: Int, key: ColumnKey) = scannable(file)(key.path)
    val needed = files.indices.map { i =>
      val footer = files(i).footer
      val asked = footer.onlyRowsTell ++ (members.keySet -- footer.missing)
      val lasting = asked.filterNot(isSessionBound(footer, _))
      FileColumns(i, lasting.filter(canScan(i, _)))
    }.filter(n => n.columns.nonEmpty && files(n.file).footer.rows > 0)
    val jobs = byColumns(needed)
    if (jobs.size <= MostJobs) jobs
    else {
      val union = jobs.map(_.columns).reduce(_ ++ _)
      val (all, some) = needed.partition(n => union.forall(canScan(n.file, _)))
      ScanJob(union, all.map(_.file)) +: byColumns(some)
    }
  }

  /** Whether other sessions may read other values, even other nulls. */
  private def isSessionBound(footer: FileFooter, key: ColumnKey): Boolean =
    footer.sessionBound.get(key).contains(SessionBound.Always)

  private def byColumns(needed: IndexedSeq[FileColumns]): Seq[ScanJob] =
    needed.groupMap(_.columns)(_.file).map { case (columns, files) => ScanJob(columns, files) }.toVector
}

private object RowScans {
  private val MostJobs = 8

  private final case class FileColumns(file: Int, columns: Set[ColumnKey])

  private final case class ScanJob(columns: Set[ColumnKey], files: IndexedSeq[Int])
}
