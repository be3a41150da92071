package org.sparkzorder.write

import org.apache.hadoop.mapreduce.{Job, TaskAttemptContext}
import org.apache.orc.TypeDescription
import org.apache.spark.sql.execution.datasources.{OutputWriter, OutputWriterFactory}
import org.apache.spark.sql.types.StructType

/**
 * What new ORC files take over from the old ones.
 *
 * @param schema of the new files
 * @param proleptic whether dates and times are in the proleptic Gregorian calendar; None for what
 *   the writer's settings say
 * @param userMetadata values with one character for each byte
 * @param batchSize number of rows that the writer takes at once
 * @param namesInAnyCase whether the schema spells a column differently from the table
 */
final case class KeptOrc(
    schema: TypeDescription,
    proleptic: Option[Boolean],
    userMetadata: Map[String, String],
    batchSize: Int,
    namesInAnyCase: Boolean
) extends PreservedMetadata {

  override def install(job: Job, spark: OutputWriterFactory): OutputWriterFactory = new KeptOrcFactory(spark, this)

  override def columns: Map[Seq[String], Seq[String]] = Map.empty
}

private final class KeptOrcFactory(spark: OutputWriterFactory, kept: KeptOrc) extends OutputWriterFactory {

  override def getFileExtension(context: TaskAttemptContext): String = spark.getFileExtension(context)

  override def newInstance(path: String, ofRows: StructType, context: TaskAttemptContext): OutputWriter =
    new OrcRowWriter(path, ofRows, context, kept)
}
