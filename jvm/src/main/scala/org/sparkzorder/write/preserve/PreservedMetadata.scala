package org.sparkzorder.write.preserve

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.mapreduce.{Job, TaskAttemptContext}
import org.apache.parquet.column.Encoding
import org.apache.parquet.column.Encoding._
import org.apache.parquet.hadoop.ParquetOutputFormat
import org.apache.parquet.schema.{GroupType, MessageType, Type}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.spark.sql.execution.datasources.{OutputWriter, OutputWriterFactory}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.write.orc.{OrcFileSettings, OrcRowWriter}

/** What the new files take over from the old ones beside the rows. The job's settings carry it to the writers. */
trait PreservedMetadata extends Serializable {

  /** Must be called after Spark has prepared the job, with Spark's factory of writers. Returns the factory to use. */
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
final case class PreservedParquet(
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
    PreservedFooter(schema, keyValues).put(job.getConfiguration)
    ParquetOutputFormat.setWriteSupportClass(job, classOf[PreservedWriteSupport])
    spark
  }
}

object PreservedParquet {
  def apply(
      spark: GroupType,
      schema: Option[MessageType],
      keyValues: Map[String, String],
      dictionaries: Set[Seq[String]],
      encodings: Set[(PrimitiveTypeName, Encoding)] = Set.empty
  ): PreservedParquet =
    PreservedParquet(
      schema,
      keyValues,
      schema.fold(Map.empty[Seq[String], Seq[String]])(PreservedSchema.leaves(spark, _)),
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

/**
 * What new ORC files take over from the old ones.
 *
 * @param namesInAnyCase whether the schema spells a column differently from the table
 */
final case class PreservedOrc(file: OrcFileSettings, namesInAnyCase: Boolean) extends PreservedMetadata {

  override def install(job: Job, spark: OutputWriterFactory): OutputWriterFactory = new PreservedOrcFactory(spark, file)

  override def columns: Map[Seq[String], Seq[String]] = Map.empty
}

private final class PreservedOrcFactory(spark: OutputWriterFactory, file: OrcFileSettings) extends OutputWriterFactory {

  override def getFileExtension(context: TaskAttemptContext): String = spark.getFileExtension(context)

  override def newInstance(path: String, ofRows: StructType, context: TaskAttemptContext): OutputWriter =
    new OrcRowWriter(path, ofRows, context, file)
}

/**
 * Not every reader knows every encoding of Parquet for every type. Polars 2.1 reads differences of texts, but not of
 * fixed-length binaries. So a rewrite writes an encoding for a type only if some old file has it for the type, whatever
 * the table and the session say. All readers know plain values, dictionaries and runs.
 */
private[sparkzorder] object KnownEncodings {

  /** What parquet-java may write into pages of version 2. */
  private val OfVersion2 = Set(
    INT32 -> DELTA_BINARY_PACKED,
    INT64 -> DELTA_BINARY_PACKED,
    BINARY -> DELTA_BYTE_ARRAY,
    FIXED_LEN_BYTE_ARRAY -> DELTA_BYTE_ARRAY
  )

  private val Split = Set(FLOAT -> BYTE_STREAM_SPLIT, DOUBLE -> BYTE_STREAM_SPLIT)

  def canBeVersion2(kept: PreservedParquet): Boolean = kept.hadAll(OfVersion2)

  /**
   * Spark's vectorized reader misreads bytes that are encoded as differences where pages are not compressed. So pages
   * of version 2 are always compressed.
   *
   * @param conf of a writer of Parquet that Spark has prepared
   * @param kept None when nothing is known of the old files
   */
  def keepTo(conf: Configuration, kept: Option[PreservedParquet]): Unit = {
    val isCompressed = !"UNCOMPRESSED".equalsIgnoreCase(conf.get(ParquetOutputFormat.COMPRESSION))
    if (!isCompressed || !kept.exists(canBeVersion2)) conf.set(ParquetOutputFormat.WRITER_VERSION, "v1")
    // Not every version of parquet-java has a name for this setting.
    if (!kept.exists(_.hadAll(Split))) conf.setBoolean("parquet.enable.bytestreamsplit", false)
  }
}
