package org.sparkzorder.footer.files

import java.io.FileNotFoundException
import java.util.concurrent.{Callable, ExecutionException, Executors, Future}

import com.google.common.util.concurrent.ThreadFactoryBuilder
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{EtagSource, FileStatus, Path}
import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

import org.sparkzorder.footer.{DataFormat, FileFooter, FooterReader, FooterSettings, NotDataFileException}
import org.sparkzorder.footer.orc.OrcFooter
import org.sparkzorder.footer.parquet.ParquetFooter
import org.sparkzorder.footer.traits.FileTraits
import org.sparkzorder.progress.{Phase, StatementProgress}
import org.sparkzorder.stats.ColumnKey

/** Reads the footers of many files, in order: few files by threads of the driver, many by a Spark job. */
object Footers {

  /** The driver reads up to this number of files itself. */
  val OnDriver = 512

  private val Threads = 16
  private val FilesPerTask = 256

  /**
   * @param tableSchema of the table's data columns
   * @param columns the columns to judge
   * @param options of the table; one of them makes ORC's readers find columns by position, others have keys
   * @param withTraits whether to look at what files have beside their rows, see [[FileTraits]]
   * @throws NotDataFileException for the first file, in order, that is not intact
   */
  def readAll(
      spark: SparkSession,
      files: Seq[FileStatus],
      format: DataFormat,
      tableSchema: StructType,
      columns: Seq[ColumnKey],
      options: Map[String, String] = Map.empty,
      withTraits: Boolean = false
  ): Seq[FileFooter] =
    tryAll(spark, files, format, tableSchema, columns, options, withTraits).map(_.fold(throw _, identity))

  /** Like [[readAll]], with a Left in the place of a file that is gone or damaged. Other errors are thrown. */
  def tryAll(
      spark: SparkSession,
      files: Seq[FileStatus],
      format: DataFormat,
      tableSchema: StructType,
      columns: Seq[ColumnKey],
      options: Map[String, String] = Map.empty,
      withTraits: Boolean = false
  ): Seq[Either[NotDataFileException, FileFooter]] = {
    val session = spark.asInstanceOf[ClassicSession]
    val conf = session.sessionState.newHadoopConfWithOptions(options)
    val settings = FooterSettings.of(session.sessionState.conf)
    if (files.size <= OnDriver) {
      val reader = FooterReaders.of(format, conf, tableSchema, columns, settings, withTraits)
      byThreads(files.toIndexedSeq)(tryOne(conf, reader, _))
    } else {
      // The closure holds nothing but what its tasks need.
      val asked = columns.toArray
      val shared = session.sparkContext.broadcast(new SerializableConfiguration(conf))
      val read = (_: TaskContext, group: Iterator[Array[FileStatus]]) => {
        val reader = FooterReaders.of(format, shared.value.value, tableSchema, asked.toIndexedSeq, settings, withTraits)
        val parts = new SharedParts(asked.toIndexedSeq)
        group.flatMap(_.iterator).map(tryOne(shared.value.value, reader, _).map(parts.in)).toArray
      }
      val parts = new SharedParts(columns)
      try byJob(session.sparkContext, files, read).map(_.map(parts.in))
      finally shared.destroy()
    }
  }

  private type Footer = Either[NotDataFileException, FileFooter]

  private def byThreads(files: IndexedSeq[FileStatus])(read: FileStatus => Footer): Seq[Footer] = {
    val statement = StatementProgress.current
    onDriver(files) { status =>
      val footer = read(status)
      statement.foreach(_.done(Phase.Footers, files = 1))
      footer
    }
  }

  private def byJob(
      context: SparkContext,
      files: Seq[FileStatus],
      read: (TaskContext, Iterator[Array[FileStatus]]) => Array[Footer]
  ): Seq[Footer] = {
    val tasks = files.grouped(FilesPerTask).toIndexedSeq
    val results = new Array[Array[Footer]](tasks.size)
    val statement = StatementProgress.current
    def keep(task: Int, footers: Array[Footer]): Unit = {
      results(task) = footers
      statement.foreach(_.done(Phase.Footers, footers.length.toLong))
    }
    context.runJob(context.parallelize(tasks.map(_.toArray), tasks.size), read, tasks.indices, keep _)
    results.iterator.flatten.toIndexedSeq
  }

  /** Another file may take the place of one while it is read, and then go again, so the look comes at once. */
  private def tryOne(conf: Configuration, reader: FooterReader, status: FileStatus): Footer =
    try {
      val footer = reader.read(status)
      if (isSame(conf, status)) Right(footer)
      else
        Left(new NotDataFileException(status.getPath.toString, "it was another file when it was read", isGone = true))
    } catch {
      case e: NotDataFileException => Left(e)
      // Local file systems throw this exception for files without permission, too.
      case e: FileNotFoundException if Option(e.getMessage).exists(_.contains("Permission denied")) =>
        Left(new NotDataFileException(status.getPath.toString, "the permission to read it is missing", e))
      case e: FileNotFoundException =>
        Left(new NotDataFileException(status.getPath.toString, "it is not there any more", e, isGone = true))
    }

  /**
   * Whether a file still has its length and time stamp. A store gives each file that is put there a time of its own, so
   * a later look is enough there.
   */
  private def isSame(conf: Configuration, file: FileStatus): Boolean = file.isInstanceOf[EtagSource] || {
    val now = file.getPath.getFileSystem(conf).getFileStatus(file.getPath)
    now.getLen == file.getLen && now.getModificationTime == file.getModificationTime
  }

  /** Runs `work` on each item in a pool of threads, with results in order. Throws the first error. */
  private[footer] def onDriver[A, B](items: IndexedSeq[A])(work: A => B): IndexedSeq[B] =
    if (items.isEmpty) IndexedSeq.empty
    else {
      val threads = new ThreadFactoryBuilder().setDaemon(true).setNameFormat("zorder-footers").build()
      val pool = Executors.newFixedThreadPool(math.min(Threads, items.size), threads)
      try {
        val futures: IndexedSeq[Future[B]] =
          items.map(item => pool.submit(new Callable[B] { override def call(): B = work(item) }))
        futures.map(_.get())
      } catch { case e: ExecutionException => throw e.getCause }
      finally pool.shutdownNow()
    }

  /** Lets the footers of a million files share their equal parts. */
  private final class SharedParts(columns: Seq[ColumnKey]) {
    private val schemas = scala.collection.mutable.Map.empty[StructType, StructType]
    private val keys = columns.map(k => k -> k).toMap
    private val traits = scala.collection.mutable.Map.empty[FileTraits, FileTraits]
    private val sets = scala.collection.mutable.Map.empty[Set[ColumnKey], Set[ColumnKey]]

    private def set(s: Set[ColumnKey]): Set[ColumnKey] = sets.getOrElseUpdate(s, s.map(k => keys.getOrElse(k, k)))

    def in(f: FileFooter): FileFooter = f.copy(
      schema = schemas.getOrElseUpdate(f.schema, f.schema),
      stats = f.stats.map { case (k, v) => keys.getOrElse(k, k) -> v },
      untrusted = set(f.untrusted),
      missing = set(f.missing),
      traits = f.traits.map(t => traits.getOrElseUpdate(t, t))
    )
  }
}

object FooterReaders {

  /**
   * @param conf how to reach the files; it is copied
   * @param tableSchema the table's data columns; bounds are given in its types
   * @param columns the columns to judge
   * @param withTraits whether to look at what files have beside their rows, see [[FileTraits]]
   */
  def of(
      format: DataFormat,
      conf: Configuration,
      tableSchema: StructType,
      columns: Seq[ColumnKey],
      settings: FooterSettings,
      withTraits: Boolean = false
  ): FooterReader = format match {
    case DataFormat.Parquet => new ParquetFooter(conf, tableSchema, columns, settings, withTraits)
    case DataFormat.Orc     => new OrcFooter(conf, tableSchema, columns, settings, withTraits)
  }
}

/** Tells whether files are still as they were listed. */
object UnchangedFiles {

  /** For each file, whether it still has its length and time stamp. Each folder is listed once. */
  def of(conf: Configuration, files: Seq[FileStatus]): IndexedSeq[Boolean] = {
    val folders = files.map(_.getPath.getParent).distinct.toIndexedSeq
    val now = Footers.onDriver(folders)(listed(conf, _)).flatten.toMap
    files.map(f => now.get(f.getPath).contains((f.getLen, f.getModificationTime))).toIndexedSeq
  }

  private def listed(conf: Configuration, folder: Path): Seq[(Path, (Long, Long))] =
    try folder.getFileSystem(conf).listStatus(folder).toSeq.map(s => s.getPath -> ((s.getLen, s.getModificationTime)))
    catch { case _: FileNotFoundException => Nil }
}
