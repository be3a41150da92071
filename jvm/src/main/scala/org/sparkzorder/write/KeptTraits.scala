package org.sparkzorder.write

import scala.jdk.CollectionConverters._

import org.apache.hadoop.mapreduce.Job
import org.apache.parquet.hadoop.ParquetOutputFormat
import org.apache.parquet.schema.{GroupType, MessageType, Type}
import org.apache.spark.sql.execution.datasources.OutputWriterFactory

/** What the new files take over from the old ones beside the rows. The settings of the job tell its writers. */
trait KeptTraits extends Serializable {

  /** To be called after Spark prepared the job, with its factory of writers. Returns the factory to use. */
  def install(job: Job, spark: OutputWriterFactory): OutputWriterFactory

  /** Paths of leaves in the new files by those in Spark's schema in lower case. */
  def columns: Map[Seq[String], Seq[String]]

  /** Whether a column or field has another spelling than in the table. */
  def namesInAnyCase: Boolean
}

/**
 * @param schema of the new files; None for Spark's own
 * @param keyValues beside those that Spark writes
 */
final case class KeptParquet(
    schema: Option[MessageType],
    keyValues: Map[String, String],
    columns: Map[Seq[String], Seq[String]],
    namesInAnyCase: Boolean
) extends KeptTraits {

  override def install(job: Job, spark: OutputWriterFactory): OutputWriterFactory = {
    KeptFooter(schema, keyValues).put(job.getConfiguration)
    ParquetOutputFormat.setWriteSupportClass(job, classOf[KeptWriteSupport])
    spark
  }
}

object KeptParquet {
  def apply(spark: GroupType, schema: Option[MessageType], keyValues: Map[String, String]): KeptParquet =
    KeptParquet(
      schema,
      keyValues,
      schema.fold(Map.empty[Seq[String], Seq[String]])(KeptSchema.leaves(spark, _)),
      schema.exists(respells(spark, _))
    )

  /** Names inside of lists and maps are Parquet's own: readers go by places there. */
  private def respells(spark: GroupType, kept: GroupType): Boolean =
    spark.getFields.asScala.zip(kept.getFields.asScala).exists { case (a, b) =>
      a.getName != b.getName || (isStruct(a) && isStruct(b) && respells(a.asGroupType, b.asGroupType))
    }

  private def isStruct(t: Type): Boolean = !t.isPrimitive && t.getLogicalTypeAnnotation == null
}
