package org.sparkzorder.write.check

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.{FileFormat, PartitionedFile}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

import org.sparkzorder.write.RewriteSession

/**
 * What was found when a new file was read back. See [[RowHash]] for what counts as the same.
 *
 * @param found the rows that are in the file
 * @param millis how long reading took
 */
final case class ReadBackRows(found: RowSum, millis: Long)

final class ReadBackException(val path: String, cause: Throwable) extends RuntimeException(path, cause)

/**
 * Reads each new file back with the reader that queries use, in the task that wrote it. So a file
 * that does not hold what was read is noticed before it is visible.
 *
 * @param read the reader of the format, made for whole rows of the schema
 * @param hash of these rows
 */
private[write] final class ReadBack(read: PartitionedFile => Iterator[InternalRow], hash: RowHash)
    extends Serializable {

  def of(path: Path, conf: Configuration): ReadBackRows =
    try {
      val began = System.nanoTime()
      val status = path.getFileSystem(conf).getFileStatus(path)
      val file = PartitionedFile(
        InternalRow.empty,
        SparkPath.fromPath(path),
        0,
        status.getLen,
        Array.empty[String],
        status.getModificationTime,
        status.getLen
      )
      val found = RowSum.of(sums(read(file)))
      ReadBackRows(found, (System.nanoTime() - began) / 1000000)
    } catch { case NonFatal(e) => throw new ReadBackException(path.toString, e) }

  /** A reader of batches says that they are rows, since Java does not know the difference. */
  private def sums(read: Iterator[_]): Iterator[RowSum] = {
    def one(row: InternalRow) = RowSum(1, hash.of(row))
    read.flatMap {
      case batch: ColumnarBatch if hash.takesBatches => Iterator.single(hash.sum(batch))
      case batch: ColumnarBatch                      => batch.rowIterator.asScala.map(one)
      case row                                       => Iterator.single(one(row.asInstanceOf[InternalRow]))
    }
  }
}

private[write] object ReadBack {

  /**
   * Columns and settings are those that the rewrite reads its inputs with. Where the format can, it
   * reads in batches, as queries do, however many columns there are, and however old files are read.
   *
   * @param options of the relation
   */
  def of(
      caller: SparkSession,
      settings: Map[String, String],
      format: FileFormat,
      schema: StructType,
      options: Map[String, String]
  ): ReadBack = {
    val vectorized = SQLConf.PARQUET_VECTORIZED_READER_ENABLED
    val ofCaller = vectorized.key -> caller.sessionState.conf.getConf(vectorized).toString
    val session = RewriteSession.of(caller, settings ++ inBatches + ofCaller)
    RewriteSession.active(session) {
      val safe = RewriteSession.safeReadOptions(options)
      val batches = FileFormat.OPTION_RETURNING_BATCH -> format.supportBatch(session, schema).toString
      val reader = format.buildReaderWithPartitionValues(
        session,
        dataSchema = schema,
        partitionSchema = new StructType,
        requiredSchema = schema,
        filters = Nil,
        safe + batches,
        session.sessionState.newHadoopConfWithOptions(safe)
      )
      new ReadBack(reader, RowHash.of(format, schema))
    }
  }

  private val inBatches = Map(
    SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> "true",
    SQLConf.WHOLESTAGE_MAX_NUM_FIELDS.key -> Int.MaxValue.toString
  )
}
