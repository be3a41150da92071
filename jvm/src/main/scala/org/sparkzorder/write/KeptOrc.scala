package org.sparkzorder.write

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets

import org.apache.hadoop.fs.Path
import org.apache.hadoop.io.NullWritable
import org.apache.hadoop.mapreduce.{Job, TaskAttemptContext}
import org.apache.orc.OrcFile
import org.apache.orc.mapred.{OrcOutputFormat, OrcStruct}
import org.apache.orc.mapreduce.OrcMapreduceRecordWriter
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.{OutputWriter, OutputWriterFactory}
import org.apache.spark.sql.execution.datasources.orc.{OrcSerializer, OrcUtils}
import org.apache.spark.sql.types.StructType

/**
 * What new ORC files take over from the old ones.
 *
 * @param schema of the table, with the names that the files have
 * @param userMetadata values with one character for each byte
 * @param batchSize number of rows that the writer takes at once
 * @param namesInAnyCase whether the schema spells a column differently from the table
 */
final case class KeptOrc(
    schema: StructType,
    userMetadata: Map[String, String],
    batchSize: Int,
    namesInAnyCase: Boolean
) extends KeptTraits {

  override def install(job: Job, spark: OutputWriterFactory): OutputWriterFactory =
    new KeptOrcFactory(spark, schema, userMetadata, batchSize)

  override def columns: Map[Seq[String], Seq[String]] = Map.empty
}

private final class KeptOrcFactory(
    spark: OutputWriterFactory,
    schema: StructType,
    userMetadata: Map[String, String],
    batchSize: Int
) extends OutputWriterFactory {

  override def getFileExtension(context: TaskAttemptContext): String = spark.getFileExtension(context)

  override def newInstance(path: String, ofTable: StructType, context: TaskAttemptContext): OutputWriter =
    if (userMetadata.isEmpty) spark.newInstance(path, schema, context)
    else new KeptOrcWriter(path, schema, context, userMetadata, batchSize)
}

/** Like Spark's own writer, which gives no access to the file's user metadata. */
private final class KeptOrcWriter(
    override val path: String,
    schema: StructType,
    context: TaskAttemptContext,
    userMetadata: Map[String, String],
    batchSize: Int
) extends OutputWriter {

  private val serializer = new OrcSerializer(schema)
  private val records = {
    val options = OrcOutputFormat.buildOptions(context.getConfiguration).setSchema(OrcUtils.orcTypeDescription(schema))
    val writer = OrcFile.createWriter(new Path(path), options)
    userMetadata.foreach { case (key, value) =>
      writer.addUserMetadata(key, ByteBuffer.wrap(value.getBytes(StandardCharsets.ISO_8859_1)))
    }
    OrcUtils.addSparkVersionMetadata(writer)
    new OrcMapreduceRecordWriter[OrcStruct](writer, batchSize)
  }

  override def write(row: InternalRow): Unit = records.write(NullWritable.get(), serializer.serialize(row))

  override def close(): Unit = records.close(context)
}
