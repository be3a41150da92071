package org.sparkzorder.write.preserve

import org.apache.hadoop.mapreduce.{Job, TaskAttemptContext}
import org.apache.spark.sql.execution.datasources.{OutputWriter, OutputWriterFactory}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.write.orc.{OrcFileSettings, OrcRowWriter}

/**
 * What new ORC files take over from the old ones.
 *
 * @param namesInAnyCase whether the schema spells a column differently from the table
 */
final case class KeptOrc(file: OrcFileSettings, namesInAnyCase: Boolean) extends PreservedMetadata {

  override def install(job: Job, spark: OutputWriterFactory): OutputWriterFactory = new KeptOrcFactory(spark, file)

  override def columns: Map[Seq[String], Seq[String]] = Map.empty
}

private final class KeptOrcFactory(spark: OutputWriterFactory, file: OrcFileSettings) extends OutputWriterFactory {

  override def getFileExtension(context: TaskAttemptContext): String = spark.getFileExtension(context)

  override def newInstance(path: String, ofRows: StructType, context: TaskAttemptContext): OutputWriter =
    new OrcRowWriter(path, ofRows, context, file)
}
