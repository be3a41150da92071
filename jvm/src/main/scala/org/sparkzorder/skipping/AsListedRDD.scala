package org.sparkzorder.skipping

import java.io.FileNotFoundException

import scala.reflect.ClassTag

import org.apache.spark.{Partition, TaskContext}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}
import org.apache.spark.util.SerializableConfiguration

import org.sparkzorder.errors.ZOrderErrors

/**
 * The rows of files as they were when the query was planned by what the index says of them, or of others. A task fails if
 * one of its files has changed or is gone: the plan and its rows would be of two states. It looks at them before it reads
 * the first one and when it has ended, since another program may replace one meanwhile.
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
