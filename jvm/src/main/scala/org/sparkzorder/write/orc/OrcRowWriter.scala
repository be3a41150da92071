package org.sparkzorder.write.orc

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch
import org.apache.hadoop.mapreduce.TaskAttemptContext
import org.apache.orc.{OrcConf, OrcFile, PhysicalWriter, TypeDescription, Writer}
import org.apache.orc.mapred.OrcOutputFormat
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.OutputWriter
import org.apache.spark.sql.execution.datasources.orc.OrcUtils
import org.apache.spark.sql.types.StructType

/**
 * How an ORC file is written.
 *
 * @param proleptic whether dates and times are in the proleptic Gregorian calendar; None for what
 *   the writer's settings say
 * @param userMetadata values with one character for each byte
 * @param batchSize number of rows that the writer takes at once
 */
final case class OrcFileSettings(
    schema: TypeDescription,
    proleptic: Option[Boolean],
    userMetadata: Map[String, String],
    batchSize: Int
)

/**
 * Writes rows to an ORC file through the batches of ORC's own library, with a schema that may say more than Spark's.
 *
 * Spark's own writer makes a sorted map of every map, so it loses their order, and all but one of the values of a key
 * that a map has twice.
 *
 * @param ofRows Spark's types of the rows, column by column those of the schema to write
 */
private[write] final class OrcRowWriter(
    override val path: String,
    ofRows: StructType,
    context: TaskAttemptContext,
    settings: OrcFileSettings
) extends OutputWriter {

  private val (writer, proleptic) = open()
  private val batch: VectorizedRowBatch = settings.schema.createRowBatch(settings.batchSize)
  private val columns = new OrcColumns(proleptic).of(ofRows, settings.schema, batch.cols)
  private val children = new OrcChildren(batch)
  private val mostChildren = OrcConf.ROW_BATCH_CHILD_LIMIT.getInt(context.getConfiguration)

  override def write(row: InternalRow): Unit = {
    if (batch.size == batch.getMaxSize || children.most >= mostChildren) flush()
    val i = batch.size
    var c = 0
    while (c < columns.length) {
      columns(c).set(row, c, i)
      c += 1
    }
    batch.size = i + 1
  }

  // After an error the file is of no use, but its stream has to be closed all the same.
  override def close(): Unit =
    try if (batch.size > 0) flush()
    finally writer.close()

  private def flush(): Unit = {
    writer.addRowBatch(batch)
    batch.reset()
  }

  /** The file, and whether its calendar is the proleptic one. */
  private def open(): (Writer, Boolean) = {
    val file = new Path(path)
    val options = OrcOutputFormat.buildOptions(context.getConfiguration).setSchema(settings.schema)
    settings.proleptic.foreach(options.setProlepticGregorian)
    val physical = withStatistics(file, options)
    val writer =
      try OrcFile.createWriter(file, options)
      catch {
        case NonFatal(e) =>
          physical.foreach(_.close())
          throw e
      }
    settings.userMetadata.foreach { case (key, value) =>
      writer.addUserMetadata(key, ByteBuffer.wrap(value.getBytes(StandardCharsets.ISO_8859_1)))
    }
    OrcUtils.addSparkVersionMetadata(writer)
    (writer, options.getProlepticGregorian)
  }

  /**
   * Only ORC's own code can write encrypted columns. Such a file gets no index if it has structs or floating-point
   * columns, whose index would be wrong.
   */
  private def withStatistics(file: Path, options: OrcFile.WriterOptions): Option[PhysicalWriter] =
    if (!OrcStatisticsWriter.concern(settings.schema)) None
    else if (Option(options.getEncryption).exists(_.nonEmpty)) {
      if (OrcStatisticsWriter.hasStructs(settings.schema) || OrcFloats.areIn(settings.schema)) options.rowIndexStride(0)
      None
    } else {
      val fs = file.getFileSystem(context.getConfiguration)
      val physical = new OrcStatisticsWriter(fs, file, options.fileSystem(fs))
      options.physicalWriter(physical)
      Some(physical)
    }
}
