package org.sparkzorder.indexing

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.SparkException
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.footer.files.{Footers, UnchangedFiles}
import org.sparkzorder.footer.orc.StripeFooters
import org.sparkzorder.footer.{Calendar, DataFormat, FileFooter, SessionBound}
import org.sparkzorder.membership.{MembershipFormat, MembershipKind}
import org.sparkzorder.progress.{Phase, StatementProgress}
import org.sparkzorder.stats.{ColumnDefaults, ColumnKey, ColumnStats, FileId, FileStats, IndexedColumns}

/** Statistics of files that others wrote: from their footers where these can be trusted, else from their rows. */
object IndexBuilder extends Logging {

  /**
   * @param options of the table, as its reader takes them
   * @param leftOut called for each file without statistics, with the reason
   * @param members those of the columns whose values are collected, too. Their rows are read
   * @param mostBytes that the values of one column may have in one file
   */
  final case class Setting(
      options: Map[String, String] = Map.empty,
      members: Map[ColumnKey, MembershipKind] = Map.empty,
      mostBytes: Int = MembershipFormat.MostBytes,
      leftOut: (FileStatus, String) => Unit = (f, why) => logWarning(s"No statistics for ${f.getPath}: $why")
  )

  /**
   * The files' statistics, in order. A file that changes meanwhile, is gone, or has a time stamp
   * from the future is left out, so queries always read it. Columns whose values depend on the
   * settings of the reading session are left out, too.
   *
   * @param schema of the table's data columns
   * @throws NotDataFileException for a file that is not of the format, or is damaged
   * @throws org.apache.spark.SparkException when rows had to be read and could not be
   */
  def build(
      spark: SparkSession,
      files: Seq[FileStatus],
      format: DataFormat,
      schema: StructType,
      columns: Seq[ColumnKey],
      idOf: FileStatus => FileId,
      setting: Setting = Setting()
  ): Seq[(FileId, FileStats)] = {
    val builder = new IndexBuilder(spark, format, schema, columns, setting)
    val intact = builder.intact(builder.past(files))
    builder.statistics(intact).map { case (status, stats) => idOf(status) -> stats }
  }
}

/** The steps of [[IndexBuilder.build]]; see there for the parameters. */
private final class IndexBuilder(
    spark: SparkSession,
    format: DataFormat,
    schema: StructType,
    columns: Seq[ColumnKey],
    setting: IndexBuilder.Setting
) {
  private val conf = spark.asInstanceOf[ClassicSession].sessionState.newHadoopConf()
  private val values = IndexedColumns(columns, setting.members, setting.mostBytes)
  private val defaults = new ColumnDefaults(schema)

  /** The files with time stamps that no later write can get. */
  def past(files: Seq[FileStatus]): IndexedSeq[FileStatus] = {
    val (past, future) = files.zip(PastTime.system.wait(files)).partition(_._2)
    future.foreach { case (file, _) => setting.leftOut(file, "its modification time is in the future") }
    past.map(_._1).toIndexedSeq
  }

  /**
   * The files with readable footers.
   *
   * @throws NotDataFileException for a damaged file that was not changed since it was listed
   */
  def intact(files: IndexedSeq[FileStatus]): IndexedSeq[IntactFile] = {
    StatementProgress.current.foreach(_.enter(Phase.Footers, until = 0.9, files = files.size.toLong))
    val footers = Footers.tryAll(spark, files, format, schema, columns, setting.options)
    val damaged = files.zip(footers).collect { case (file, Left(e)) => (file, e) }
    // A file that was being written or deleted is perhaps complete, or gone, by now.
    damaged.zip(UnchangedFiles.of(conf, damaged.map(_._1))).foreach { case ((file, e), unchanged) =>
      if (unchanged && !e.isGone) throw e else setting.leftOut(file, e.reason)
    }
    files.zip(footers).collect { case (file, Right(footer)) => IntactFile(file, footer) }
  }

  /** The statistics of the files that stay as they are until their rows are read. */
  def statistics(files: IndexedSeq[IntactFile]): Seq[(FileStatus, FileStats)] = {
    val scanned =
      try new RowScans(spark, format, schema, setting.options, values).of(files)
      catch {
        case e: SparkException =>
          StripeFooters.explain(conf, format, e)
          throw e
      }
    val unchanged = UnchangedFiles.of(conf, files.map(_.status))
    files.indices.flatMap { i =>
      val IntactFile(status, footer) = files(i)
      val fromRows = scanned.get(i)
      if (unchanged(i) && fromRows.forall(_.rows == footer.rows)) Some(status -> together(footer, fromRows))
      else {
        setting.leftOut(status, "it changed while it was read")
        None
      }
    }
  }

  private def together(footer: FileFooter, scanned: Option[FileStats]): FileStats = {
    // Files that lack a column with a default have that default in every row, as long as the schema
    // is the same. Readers look up the defaults of their own schema, so nothing is stored for such a column.
    val absent =
      footer.missing.filterNot(key => defaults.concern(key.path)).map(_ -> ColumnStats(null, null, footer.rows, 0L))
    val fromRows = scanned.toSeq.flatMap(_.columns).filter { case (key, _) => footer.untrusted(key) }
    val all = footer.loose ++ footer.stats ++ absent ++ fromRows
    FileStats(
      footer.rows,
      all.flatMap { case (key, stats) => lasting(key, stats, footer.sessionBound.get(key)).map(key -> _) },
      scanned.fold(Map.empty[ColumnKey, Array[Byte]])(_.members)
    )
  }

  /** Those that hold in every session: counts of nulls of the same column, and bounds that no calendar can move. */
  private def lasting(key: ColumnKey, stats: ColumnStats, bound: Option[SessionBound]): Option[ColumnStats] =
    bound match {
      case None                           => Some(stats)
      case Some(SessionBound.Always)      => None
      case Some(SessionBound.ButForNulls) => Some(stats.copy(min = null, max = null))
      case Some(SessionBound.WhenAncient) =>
        stats.min match {
          case min: Long if !Calendar.settledAfterReading(key.dataType, min) => Some(stats.copy(min = null, max = null))
          case _                                                             => Some(stats)
        }
    }
}
