package org.sparkzorder.indexing

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.footer.{Calendar, DataFormat, FileFooter, Footers, SchemaCheck, SessionBound, UnchangedFiles}
import org.sparkzorder.stats.{ColumnDefaults, ColumnKey, ColumnStats, FileId, FileStats}

/** Statistics of files that somebody else wrote: from their footers where those can be trusted, from their rows for the rest. */
object IndexBuilder extends Logging {

  /**
   * What `build` can be told beyond the files.
   *
   * @param options of the table, as its reader takes them
   * @param leftOut is told of each file without statistics, and why
   * @param progress is told how many footers are read
   */
  final case class Setting(
      options: Map[String, String] = Map.empty,
      leftOut: (FileStatus, String) => Unit = (f, why) => logWarning(s"No statistics for ${f.getPath}: $why"),
      progress: Int => Unit = _ => ()
  )

  /**
   * The files' statistics, in order. A file is left out, and so always read by queries, when it changes meanwhile, is gone, or has a time
   * stamp from the future. Left out are columns whose values depend on the reading session's settings.
   *
   * @param schema the data columns' schema in force
   * @throws NotDataFileException for a file that is not of the format, or is damaged
   * @throws org.apache.spark.SparkException when rows cannot be read that had to be
   */
  def build(
      spark: SparkSession,
      files: Seq[FileStatus],
      format: DataFormat,
      schema: StructType,
      columns: Seq[ColumnKey],
      idOf: FileStatus => FileId,
      setting: Setting = Setting()
  ): Seq[(FileId, FileStats)] = build(spark, files, format, schema, columns, idOf, setting, PastTime.system)

  private[sparkzorder] def build(
      spark: SparkSession,
      files: Seq[FileStatus],
      format: DataFormat,
      schema: StructType,
      columns: Seq[ColumnKey],
      idOf: FileStatus => FileId,
      setting: Setting,
      pastTime: PastTime
  ): Seq[(FileId, FileStats)] = {
    val past = pastTime.wait(files)
    files.zip(past).foreach { case (f, ok) => if (!ok) setting.leftOut(f, "its modification time is in the future") }
    val settled = files.zip(past).collect { case (f, true) => f }.toIndexedSeq
    val footers = Footers.tryAll(spark, settled, format, schema, columns, setting.progress, setting.options)
    val conf = spark.asInstanceOf[ClassicSession].sessionState.newHadoopConf()
    val damaged = settled.zip(footers).collect { case (f, Left(e)) => (f, e) }
    // One that somebody was writing or deleting may be whole, or gone, by now.
    damaged.zip(UnchangedFiles.of(conf, damaged.map(_._1))).foreach { case ((f, e), same) =>
      if (same) throw e else setting.leftOut(f, e.reason)
    }
    val intact = settled.zip(footers).collect { case (f, Right(footer)) => (f, footer) }
    // A column added with a default reads as that default in older files. Readers of another schema look themselves.
    val defaults = new ColumnDefaults(schema)
    val scanned = scan(spark, intact, format, schema, setting.options)
    val same = UnchangedFiles.of(conf, intact.map(_._1))
    intact.indices.flatMap { i =>
      val (status, footer) = intact(i)
      val rows = scanned.get(i)
      if (!same(i) || rows.exists(_.rows != footer.rows)) {
        setting.leftOut(status, "it changed while it was read"); None
      } else Some((idOf(status), together(defaults, footer, rows)))
    }
  }

  // A set of columns is one job. Files of one writer agree in what is untrusted, so the sets are few; if not, one job takes the union.
  private def scan(
      spark: SparkSession,
      files: IndexedSeq[(FileStatus, FileFooter)],
      format: DataFormat,
      schema: StructType,
      options: Map[String, String]
  ): Map[Int, FileStats] = {
    val caseSensitive = spark.asInstanceOf[ClassicSession].sessionState.conf.caseSensitiveAnalysis
    val scannable = files.map { case (_, footer) => SchemaCheck.scannable(schema, footer, caseSensitive) }
    def canScan(file: Int, key: ColumnKey) = scannable(file)(key.path)
    def isLasting(file: Int, key: ColumnKey) = !files(file)._2.sessionBound.get(key).contains(SessionBound.Always)
    val wanted = files.indices
      .map(i => (i, files(i)._2.onlyRowsTell.filter(key => isLasting(i, key) && canScan(i, key))))
      .filter { case (i, keys) => keys.nonEmpty && files(i)._2.rows > 0 }
    val sets = wanted.map(_._2).distinct
    def bySet(some: IndexedSeq[(Int, Set[ColumnKey])]) = some.groupMap(_._2)(_._1).toSeq
    val jobs =
      if (sets.size <= MostJobs) bySet(wanted)
      else {
        val union = sets.reduce(_ ++ _)
        val (all, some) = wanted.partition { case (i, _) => union.forall(canScan(i, _)) }
        (union, all.map(_._1)) +: bySet(some)
      }
    jobs.flatMap { case (keys, ordinals) =>
      FileScan.scan(
        spark,
        ordinals.map(i => (i, files(i)._1)),
        format,
        schema,
        keys.toSeq.sortBy(_.path.mkString(".")),
        options
      )
    }.toMap
  }

  private val MostJobs = 8

  private def together(defaults: ColumnDefaults, footer: FileFooter, scanned: Option[FileStats]): FileStats = {
    val absent =
      footer.missing.filterNot(key => defaults.concern(key.path)).map(_ -> ColumnStats(null, null, footer.rows, 0L))
    val fromRows = scanned.fold(Map.empty[ColumnKey, ColumnStats])(_.columns).filter { case (k, _) =>
      footer.untrusted(k)
    }
    val all = footer.loose ++ footer.stats ++ absent ++ fromRows
    FileStats(
      footer.rows,
      all.flatMap { case (key, stats) => lasting(key, stats, footer.sessionBound.get(key)).map(key -> _) }
    )
  }

  /** What holds in every session: nulls do as long as the column is the same, bounds when no calendar can move them. */
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
