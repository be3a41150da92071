package org.sparkzorder.footer

import scala.reflect.ClassTag

import org.apache.hadoop.conf.Configuration
import org.apache.spark.TaskContext
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.util.SerializableConfiguration

import org.sparkzorder.compat._

/** Looks through the values of files in a Spark job. */
private[footer] object TimestampSearch {

  private val MostTasks = 10000

  /** Whether there are digits below the microsecond, which Spark's type does not hold. */
  def isFiner(nanos: Long): Boolean = nanos % 1000 != 0

  /** What `look` finds in the first file, in order, in which it finds something. No files, no job. */
  def first[F: ClassTag, T: ClassTag](spark: SparkSession, description: String, files: Seq[F])(
      look: (Configuration, F) => Option[T]
  ): Option[T] =
    if (files.isEmpty) None
    else {
      val session = spark.asInstanceOf[ClassicSession]
      val context = session.sparkContext
      val conf = context.broadcast(new SerializableConfiguration(session.sessionState.newHadoopConf()))
      val tasks = files.grouped((files.size + MostTasks - 1) / MostTasks).map(_.toArray).toIndexedSeq
      val task = (_: TaskContext, part: Iterator[Array[F]]) =>
        part.flatMap(_.iterator).flatMap(file => look(conf.value.value, file)).nextOption()
      val caller = context.getLocalProperty("spark.job.description")
      context.setJobDescription(description)
      try context.runJob(context.parallelize(tasks, tasks.size), task).iterator.flatten.nextOption()
      finally {
        context.setJobDescription(caller)
        conf.destroy()
      }
    }
}
