package org.sparkzorder.footer

import java.io.FileNotFoundException
import java.util.concurrent.{Callable, ExecutionException, Executors, Future, ThreadFactory}
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.TaskContext
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

import org.sparkzorder.stats.ColumnKey

/** Footers of many files, in the files' order: few by threads of the driver, many by a Spark job. */
object Footers {

  /** Up to so many files the driver reads by itself. */
  val OnDriver = 512

  private val Threads = 16
  private val FilesPerTask = 256

  /**
   * @param tableSchema the data columns' schema in force
   * @param columns the columns to judge
   * @param progress is told, from any thread, how many files are done
   * @param withTraits whether to look at what files have beside their rows, see [[FileTraits]]
   * @throws NotDataFileException for the first file in order that is not intact
   */
  def readAll(
      spark: SparkSession,
      files: Seq[FileStatus],
      format: DataFormat,
      tableSchema: StructType,
      columns: Seq[ColumnKey],
      progress: Int => Unit = _ => (),
      withTraits: Boolean = false
  ): Seq[FileFooter] =
    tryAll(spark, files, format, tableSchema, columns, progress, withTraits = withTraits).map(_.fold(throw _, identity))

  /**
   * The same, with a file that is gone or damaged as a Left in its place. Other input and output errors are thrown.
   *
   * @param options of the table, since its readers may find ORC's columns by position for one of them
   */
  def tryAll(
      spark: SparkSession,
      files: Seq[FileStatus],
      format: DataFormat,
      tableSchema: StructType,
      columns: Seq[ColumnKey],
      progress: Int => Unit = _ => (),
      options: Map[String, String] = Map.empty,
      withTraits: Boolean = false
  ): Seq[Either[NotDataFileException, FileFooter]] = {
    val session = spark.asInstanceOf[ClassicSession]
    val conf = session.sessionState.newHadoopConfWithOptions(options)
    val settings = FooterSettings.of(session.sessionState.conf)
    if (files.size <= OnDriver) {
      val reader = FooterReader(format, conf, tableSchema, columns, settings, withTraits)
      val done = new AtomicInteger
      onDriver(files.toIndexedSeq) { status =>
        val footer = tryOne(reader, status)
        progress(done.incrementAndGet())
        footer
      }
    } else {
      val shared = session.sparkContext.broadcast(new SerializableConfiguration(conf))
      val asked = columns.toArray
      val tasks = files.grouped(FilesPerTask).toIndexedSeq
      val results = new Array[Array[Either[NotDataFileException, FileFooter]]](tasks.size)
      val done = new AtomicInteger
      val rdd = session.sparkContext.parallelize(tasks.map(_.toArray), tasks.size)
      val read = (_: TaskContext, group: Iterator[Array[FileStatus]]) => {
        val reader = FooterReader(format, shared.value.value, tableSchema, asked.toIndexedSeq, settings, withTraits)
        val interned = new Interned(asked.toIndexedSeq)
        group.flatMap(_.iterator).map(status => tryOne(reader, status).map(interned.apply)).toArray
      }
      try {
        session.sparkContext.runJob(
          rdd,
          read,
          tasks.indices,
          (i: Int, part: Array[Either[NotDataFileException, FileFooter]]) => {
            results(i) = part
            progress(done.addAndGet(part.length))
          }
        )
      } finally shared.destroy()
      val interned = new Interned(columns)
      results.iterator.flatten.map(_.map(interned.apply)).toIndexedSeq
    }
  }

  private def tryOne(reader: FooterReader, status: FileStatus): Either[NotDataFileException, FileFooter] =
    try Right(reader.read(status))
    catch {
      case e: NotDataFileException => Left(e)
      // Local file systems say it of files that may not be read, too.
      case e: FileNotFoundException if Option(e.getMessage).exists(_.contains("Permission denied")) =>
        Left(new NotDataFileException(status.getPath.toString, "the permission to read it is missing", e))
      case e: FileNotFoundException =>
        Left(new NotDataFileException(status.getPath.toString, "it is not there any more", e, isGone = true))
    }

  /** Runs `work` on each item in a pool of threads, in order of the items; the first error is thrown after all threads have stopped. */
  private[footer] def onDriver[A, B](items: IndexedSeq[A])(work: A => B): IndexedSeq[B] =
    if (items.isEmpty) IndexedSeq.empty
    else {
      val loader = Thread.currentThread.getContextClassLoader
      val pool = Executors.newFixedThreadPool(
        math.min(Threads, items.size),
        new ThreadFactory {
          override def newThread(r: Runnable): Thread = {
            val thread = new Thread(r, "zorder-footers")
            thread.setDaemon(true)
            thread.setContextClassLoader(loader)
            thread
          }
        }
      )
      try {
        val futures: IndexedSeq[Future[B]] =
          items.map(item => pool.submit(new Callable[B] { override def call(): B = work(item) }))
        futures.map(_.get())
      } catch { case e: ExecutionException => throw e.getCause }
      finally pool.shutdownNow()
    }

  /** Lets the footers of many files share their equal parts: a million files have a handful of schemas. */
  private final class Interned(columns: Seq[ColumnKey]) {
    private val schemas = scala.collection.mutable.Map.empty[StructType, StructType]
    private val keys = columns.map(k => k -> k).toMap
    private val traits = scala.collection.mutable.Map.empty[FileTraits, FileTraits]
    private val sets = scala.collection.mutable.Map.empty[Set[ColumnKey], Set[ColumnKey]]

    private def set(s: Set[ColumnKey]): Set[ColumnKey] = sets.getOrElseUpdate(s, s.map(k => keys.getOrElse(k, k)))

    def apply(f: FileFooter): FileFooter = f.copy(
      schema = schemas.getOrElseUpdate(f.schema, f.schema),
      stats = f.stats.map { case (k, v) => keys.getOrElse(k, k) -> v },
      untrusted = set(f.untrusted),
      missing = set(f.missing),
      traits = f.traits.map(t => traits.getOrElseUpdate(t, t))
    )
  }
}
