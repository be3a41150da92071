package org.sparkzorder.write.preserve

import scala.jdk.CollectionConverters._

import org.apache.hadoop.mapreduce.Job
import org.apache.parquet.column.Encoding
import org.apache.parquet.hadoop.ParquetOutputFormat
import org.apache.parquet.schema.{GroupType, MessageType, Type}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.spark.sql.execution.datasources.OutputWriterFactory

/**
 * What the new files take over from the old ones beside the rows. The job's settings carry it to
 * the writers.
 */
trait PreservedMetadata extends Serializable {

  /**
   * Must be called after Spark has prepared the job, with Spark's factory of writers. Returns the
   * factory to use.
   */
  def install(job: Job, spark: OutputWriterFactory): OutputWriterFactory

  /** The paths of leaves in the new files, by their paths in Spark's schema in lower case. */
  def columns: Map[Seq[String], Seq[String]]

  /** Whether the new files spell a column or field differently from the table. */
  def namesInAnyCase: Boolean
}

/**
 * What new Parquet files take over from the old ones.
 *
 * @param schema of the new files; None for Spark's own
 * @param keyValues metadata to add to that of Spark
 * @param dictionaries leaves, by their paths in the old files, that are wholly in dictionaries in all of them
 * @param encodings of the old files, by the types of their columns, without those that every reader knows
 */
final case class KeptParquet(
    schema: Option[MessageType],
    keyValues: Map[String, String],
    columns: Map[Seq[String], Seq[String]],
    namesInAnyCase: Boolean,
    dictionaries: Set[Seq[String]],
    encodings: Set[(PrimitiveTypeName, Encoding)]
) extends PreservedMetadata {

  /** Whether the old files have all of these that the new ones could have. With Spark's own schema, that is each. */
  def hadAll(written: Set[(PrimitiveTypeName, Encoding)]): Boolean = {
    val types = schema.map(_.getColumns.asScala.map(_.getPrimitiveType.getPrimitiveTypeName).toSet)
    written.forall(e => encodings(e) || types.exists(!_(e._1)))
  }

  override def install(job: Job, spark: OutputWriterFactory): OutputWriterFactory = {
    KeptFooter(schema, keyValues).put(job.getConfiguration)
    ParquetOutputFormat.setWriteSupportClass(job, classOf[KeptWriteSupport])
    spark
  }
}

object KeptParquet {
  def apply(
      spark: GroupType,
      schema: Option[MessageType],
      keyValues: Map[String, String],
      dictionaries: Set[Seq[String]],
      encodings: Set[(PrimitiveTypeName, Encoding)] = Set.empty
  ): KeptParquet =
    KeptParquet(
      schema,
      keyValues,
      schema.fold(Map.empty[Seq[String], Seq[String]])(KeptSchema.leaves(spark, _)),
      schema.exists(respells(spark, _)),
      dictionaries,
      encodings
    )

  /** Names within lists and maps are Parquet's own, and readers find these fields by position. */
  private def respells(spark: GroupType, kept: GroupType): Boolean =
    spark.getFields.asScala.zip(kept.getFields.asScala).exists { case (a, b) =>
      a.getName != b.getName || (isStruct(a) && isStruct(b) && respells(a.asGroupType, b.asGroupType))
    }

  private def isStruct(t: Type): Boolean = !t.isPrimitive && t.getLogicalTypeAnnotation == null
}
