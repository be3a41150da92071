package org.sparkzorder.skipping

import java.io.FileNotFoundException
import java.util.IdentityHashMap

import scala.reflect.ClassTag

import org.apache.spark.{Partition, TaskContext}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.memory.{ReadFile, RememberedFiles}

/**
 * The partitions of a scan without files in which there is no row. If empty partitions stay, each row is in the
 * partition in which it would be without memory, since samples, `zip` and ids of rows depend on that.
 *
 * @param without files without rows
 * @param schema of the partitions' values
 * @param policy the value of `spark.sql.legacy.timeParserPolicy` that tasks must have, if the filter reads texts as
 *   times: they do it by the value of each run, and the files were chosen by that of the first one
 */
private[skipping] final class PrunedScanRDD[T: ClassTag](
    rows: RDD[T],
    @transient without: Set[ReadFile],
    @transient schema: StructType,
    policy: Option[String],
    keepsEmpty: Boolean
) extends RDD[T](rows) {

  override protected def getPartitions: Array[Partition] = {
    val texts = new IdentityHashMap[InternalRow, String]
    def values(f: PartitionedFile) = texts.computeIfAbsent(f.partitionValues, v => RememberedFiles.valuesOf(v, schema))
    def isRead(f: PartitionedFile) = !without(ReadFile(f.toPath, f.fileSize, f.modificationTime, values(f)))
    val read = rows.partitions.map {
      case p: FilePartition => FilePartition(p.index, p.files.filter(isRead))
      case other            => other
    }
    def isEmpty(p: Partition) = p match {
      case of: FilePartition => of.files.isEmpty
      case _                 => false
    }
    if (keepsEmpty || !read.forall(_.isInstanceOf[FilePartition])) read
    else read.filterNot(isEmpty).zipWithIndex.map { case (p: FilePartition, i) => p.copy(index = i); case (p, _) => p }
  }

  /** Those with all files, if no partition went: `coalesce` groups partitions by them. */
  override protected def getPreferredLocations(split: Partition): Seq[String] =
    rows.preferredLocations(if (keepsEmpty) rows.partitions(split.index) else split)

  override def compute(split: Partition, context: TaskContext): Iterator[T] = {
    policy.foreach { p =>
      val now = SQLConf.get.legacyTimeParserPolicy.toString
      if (now != p) throw ZOrderErrors.settingChanged(SQLConf.LEGACY_TIME_PARSER_POLICY.key, p, now)
    }
    rows.iterator(split, context)
  }
}

/**
 * The rows of files as they were when the query was planned by what the index says of them, or of others. A task fails
 * if one of its files has changed or is gone: the plan and its rows would be of two states. It looks at them before it
 * reads the first one and when it has ended, since another program may replace one meanwhile.
 *
 * @param rows of a scan of files
 */
private[skipping] final class AsListedRDD[T: ClassTag](rows: RDD[T], conf: Broadcast[SerializableConfiguration])
    extends RDD[T](rows) {

  override protected def getPartitions: Array[Partition] = rows.partitions

  override protected def getPreferredLocations(split: Partition): Seq[String] = rows.preferredLocations(split)

  override def compute(split: Partition, context: TaskContext): Iterator[T] = {
    split match {
      case p: FilePartition =>
        refuseChanged(p)
        context.addTaskCompletionListener[Unit](ended => if (!ended.isFailed()) refuseChanged(p))
      case _ => ()
    }
    rows.iterator(split, context)
  }

  private def refuseChanged(p: FilePartition): Unit =
    p.files.find(!isAsListed(_)).foreach(f => throw ZOrderErrors.fileChanged(f.toPath.toString))

  private def isAsListed(f: PartitionedFile): Boolean =
    try {
      val now = f.toPath.getFileSystem(conf.value.value).getFileStatus(f.toPath)
      now.getLen == f.fileSize && now.getModificationTime == f.modificationTime
    } catch { case _: FileNotFoundException => false }
}
