package org.sparkzorder.write.check

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.{FileFormat, PartitionedFile}
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

import org.sparkzorder.write.RewriteSession

/**
 * What was found when a new file was read back. Every NaN counts as the same one, see [[OneNaN]], and
 * variants by their texts, see [[VariantTexts]].
 *
 * @param written the rows that the writer got
 * @param found the rows that are in the file
 * @param millis how long reading took
 */
final case class ReadBackRows(written: RowSum, found: RowSum, millis: Long) {
  def isSame: Boolean = written == found
}

/** A new file could not be read back. */
final class ReadBackException(val path: String, cause: Throwable) extends RuntimeException(path, cause)

/**
 * Reads new files back with the reader that queries use, in the task that wrote them. So a file
 * that does not hold what its writer got is noticed before it is visible.
 *
 * @param read the reader of the format, made for whole rows of the schema
 * @param schema of the files
 * @param oneZero whether the reader does not tell -0.0 from 0.0
 */
private[write] final class ReadBack(
    read: PartitionedFile => Iterator[InternalRow],
    schema: StructType,
    oneZero: Boolean
) extends Serializable {
  private val hash = new RowHash(schema)
  private val variants = new VariantTexts(schema)
  private val valueHash = if (variants.isNeeded) new RowHash(variants.texts) else hash
  private val oneNaN = new OneNaN(variants.texts, oneZero)

  /** For one file. */
  def begin(): ReadBack.OfFile = new ReadBack.OfFile(this)

  /** The hash of the row's values, where the hash of its bytes is known. */
  private def hashOf(row: UnsafeRow, ofBytes: Long): Long =
    if (variants.isNeeded) valueHash.of(oneNaN.of(variants.of(row)))
    else {
      val same = oneNaN.of(row)
      if (same eq row) ofBytes else hash.of(same)
    }

  private def sumOf(path: Path, conf: Configuration): RowSum =
    try {
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
      var rows = 0L
      var sum = 0L
      ReadBack.single(read(file)).foreach { r =>
        val row = hash.unsafe(r)
        rows += 1
        sum += hashOf(row, hash.of(row))
      }
      RowSum(rows, sum)
    } catch { case NonFatal(e) => throw new ReadBackException(path.toString, e) }
}

private[write] object ReadBack {

  /** What a writer gets, and then what is in the file. */
  final class OfFile(of: ReadBack) {
    private var rows = 0L
    private var sum = 0L

    /** @param ofBytes the row's own hash */
    def add(row: InternalRow, ofBytes: Long): Unit = {
      rows += 1
      sum += of.hashOf(of.hash.unsafe(row), ofBytes)
    }

    /** Reads the closed file. */
    def end(path: Path, conf: Configuration): ReadBackRows = {
      val began = System.nanoTime()
      val found = of.sumOf(path, conf)
      ReadBackRows(RowSum(rows, sum), found, (System.nanoTime() - began) / 1000000)
    }
  }

  /**
   * Columns and settings are those that the rewrite reads its inputs with. Where the format can, it
   * reads in batches, as queries do.
   *
   * @param options of the relation
   */
  def of(session: SparkSession, format: FileFormat, schema: StructType, options: Map[String, String]): ReadBack =
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
      new ReadBack(reader, schema, oneZero = format.isInstanceOf[OrcFileFormat])
    }

  /** A reader of batches says that they are rows, since Java does not know the difference. */
  private def single(read: Iterator[_]): Iterator[InternalRow] = read.flatMap {
    case batch: ColumnarBatch => batch.rowIterator.asScala
    case row                  => Iterator.single(row.asInstanceOf[InternalRow])
  }
}
