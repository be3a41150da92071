package org.sparkzorder.write.task

import java.io.FileNotFoundException

import scala.collection.mutable.ArrayBuffer
import scala.util.Using
import scala.util.control.NonFatal

import org.apache.hadoop.fs.{ChecksumFileSystem, Path}
import org.apache.hadoop.mapreduce.{JobID, TaskAttemptID, TaskID, TaskType}
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.datasources.OutputWriterFactory
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration
import org.slf4j.LoggerFactory

import org.sparkzorder.commit.{FileNames, OpenUpload, WrittenNames}
import org.sparkzorder.stats.{FileStats, IndexedColumns, StatsCollector}
import org.sparkzorder.write.check.{ReadBack, ReadBackRows}
import org.sparkzorder.write.encode.{FloatDictionaries, OwnEncodings}

/**
 * A file that a task has written and closed.
 *
 * @param modificationTime 0 if it is no file yet
 * @param upload set when the file is an upload that was left open
 * @param readBack set unless rows are not hashed
 * @param isColumnwise whether it was written column by column
 */
private[write] final case class WrittenFile(
    path: String,
    length: Long,
    modificationTime: Long,
    stats: FileStats,
    upload: Option[OpenUpload] = None,
    readBack: Option[ReadBackRows] = None,
    isColumnwise: Boolean = false
)

/**
 * What the tasks of a rewrite need.
 *
 * @param directories URI of the folder to write to, for each slot
 * @param schema of the file; rows may have more fields after these, see [[LeadingFields]]
 * @param keepEmpty slots that get a file even when they have no rows
 * @param limits set when files have a limit of rows
 * @param uploads set when the folders are such that S3A leaves uploads open there, see [[StagedUpload$]]
 * @param readBack set to read the files back
 * @param zone of the driver, if it matters
 * @param columnwise set to write Parquet files column by column where they can be, with our own dictionaries
 */
private[write] final case class FileTaskSpec(
    factory: OutputWriterFactory,
    conf: SerializableConfiguration,
    directories: IndexedSeq[String],
    jobId: String,
    schema: StructType,
    indexed: IndexedColumns,
    keepEmpty: Set[Int],
    limits: Option[SlotLimits],
    uploads: Option[OpenUploads],
    readBack: Option[ReadBack],
    zone: Option[String],
    columnwise: Option[FloatDictionaries]
)

/**
 * Writes the rows of one slot to one file, or to several when there is a limit, and collects their
 * statistics meanwhile. A slot without rows gets no file.
 *
 * The name of the file contains the attempt, and only files that a task reports to the driver
 * count. So no step mistakes the files of an attempt that was retried or overtaken for outputs.
 */
private[write] final class FileTask(spec: FileTaskSpec) extends Serializable {
  import spec._

  def write(task: TaskContext, rows: Iterator[InternalRow]): Seq[WrittenFile] = {
    val slot = task.partitionId()
    zone.foreach(OrcZone.refuseOther)
    if (!rows.hasNext && !keepEmpty(slot)) Nil
    else {
      val files = new ArrayBuffer[WrittenFile]
      var complete = false
      try {
        val parts = limits.fold(Iterator(rows))(_.filesOf(slot, rows))
        parts.foreach(part => files += writeFile(slot, files.length, task, part))
        complete = true
        files.toVector
      } finally if (!complete) files.foreach(f => discard(new Path(f.path)))
    }
  }

  private def writeFile(slot: Int, part: Int, task: TaskContext, rows: Iterator[InternalRow]): WrittenFile = {
    val context = attempt(slot, task)
    val path = pathOf(slot, part, task, factory.getFileExtension(context))
    val collector = new StatsCollector(schema, indexed)
    var wasColumnwise = false
    var complete = false
    // An open upload cannot be read.
    val local = uploads.filter(_ => readBack.isDefined).map(_ => new LocalFirst(conf.value))
    try {
      val at = local.fold(path)(_.path)
      val file = factory.newInstance(at.toString, schema, context)
      // The writer is closed after an error, too. An error of closing is then added to the first
      // one instead of hiding it.
      Using.resource(new AutoCloseable { def close(): Unit = file.close() }) { _ =>
        val writer = OwnEncodings.of(file, schema, columnwise)
        wasColumnwise = writer.isColumnwise
        val leading = new LeadingFields(schema)
        rows.foreach { row =>
          val data = leading.of(row)
          writer.write(data)
          collector.add(data)
        }
        writer.end()
      }
      val stats = collector.result()
      val back = readBack.map(_.of(at, conf.value))
      local.foreach(_.copyTo(path))
      val written = uploads.fold(stored(path, stats))(uploaded(_, path, stats))
      complete = true
      written.copy(readBack = back, isColumnwise = wasColumnwise)
    } finally {
      local.foreach(_.delete())
      if (!complete) discard(path)
    }
  }

  private def stored(path: Path, stats: FileStats): WrittenFile = {
    dropChecksum(path)
    val status = path.getFileSystem(conf.value).getFileStatus(path)
    WrittenFile(path.toString, status.getLen, status.getModificationTime, stats)
  }

  private def uploaded(open: OpenUploads, path: Path, stats: FileStats): WrittenFile = {
    val (upload, length) = StagedUpload.read(path, open.read(path.getFileSystem(conf.value), _))
    WrittenFile(path.toString, length, 0L, stats, Some(upload))
  }

  private def pathOf(slot: Int, part: Int, task: TaskContext, extension: String): Path = {
    val suffix = if (uploads.isDefined) "" else FileNames.StagedSuffix
    val name = WrittenNames.of(slot, part, jobId, task.taskAttemptId(), extension) + suffix
    val path = new Path(directories(slot), name)
    // A lost executor that comes back must not create the folder again. An object store has none.
    if (uploads.isEmpty && !path.getFileSystem(conf.value).exists(path.getParent))
      throw new FileNotFoundException(
        s"${path.getParent} is gone: the operation has ended, or the folder was overwritten"
      )
    path
  }

  /**
   * Hadoop writes a checksum file beside each file on a local disk. Data files have checksums of
   * their own, so it is removed.
   */
  private def dropChecksum(path: Path): Unit = path.getFileSystem(conf.value) match {
    case checked: ChecksumFileSystem =>
      checked.getRawFileSystem.delete(checked.getChecksumFile(path), false)
      ()
    case _ => ()
  }

  private def discard(path: Path): Unit =
    try path.getFileSystem(conf.value).delete(path, false)
    catch {
      // The task's own error is reported. The files left over are removed with the staging folder.
      case NonFatal(e) => FileTask.log.warn(s"could not remove the unfinished file $path", e)
    }

  private def attempt(slot: Int, task: TaskContext): TaskAttemptContextImpl = {
    val job = new JobID(jobId, task.stageId())
    val id = new TaskAttemptID(new TaskID(job, TaskType.MAP, slot), task.taskAttemptId().toInt & Int.MaxValue)
    val own = new org.apache.hadoop.conf.Configuration(conf.value)
    own.set("mapreduce.job.id", job.toString)
    own.set("mapreduce.task.id", id.getTaskID.toString)
    own.set("mapreduce.task.attempt.id", id.toString)
    own.setBoolean("mapreduce.task.ismap", true)
    own.setInt("mapreduce.task.partition", slot)
    new TaskAttemptContextImpl(own, id)
  }
}

private object FileTask {
  private val log = LoggerFactory.getLogger(classOf[FileTask])
}

/**
 * Takes the last fields off rows: those that rows were placed and sorted by. An unsafe row begins with a null bit for
 * each field, rounded up to words. If these take as many words without the last fields, the shorter row is a view of
 * the same memory, which avoids a projection.
 *
 * @param schema of the fields to keep
 */
private[write] final class LeadingFields(schema: StructType) {
  private val fields = schema.length
  private val view = new UnsafeRow(fields)
  private lazy val copy =
    UnsafeProjection.create(schema.zipWithIndex.map { case (f, i) => BoundReference(i, f.dataType, nullable = true) })

  /** The result is valid until the next call. */
  def of(row: InternalRow): InternalRow = row match {
    case u: UnsafeRow if u.numFields == fields                       => u
    case u: UnsafeRow if LeadingFields.possible(fields, u.numFields) =>
      view.pointTo(u.getBaseObject, u.getBaseOffset, u.getSizeInBytes)
      view
    case _ => copy(row)
  }
}

private[write] object LeadingFields {

  /** Whether the first `fields` of `all` fields can be a view of the same memory. */
  def possible(fields: Int, all: Int): Boolean =
    UnsafeRow.calculateBitSetWidthInBytes(fields) == UnsafeRow.calculateBitSetWidthInBytes(all)
}
