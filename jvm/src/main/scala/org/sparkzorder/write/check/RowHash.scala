package org.sparkzorder.write.check

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow.isFixedLength
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.Platform

import org.sparkzorder.compat._
import org.sparkzorder.write.ByteWords

/**
 * The number of rows, and the sum of their hashes modulo 2^64, which does not depend on their
 * order. Two different sets of rows have the same sum only with a probability of about 1 in 2^64.
 */
final case class RowSum(rows: Long, hash: Long) {
  def +(other: RowSum): RowSum = RowSum(rows + other.rows, hash + other.hash)

  def hex: String = f"$hash%016x"
}

object RowSum {
  val none: RowSum = RowSum(0, 0)

  def of(sums: IterableOnce[RowSum]): RowSum = sums.iterator.foldLeft(none)(_ + _)
}

/**
 * A 64-bit hash of the first fields of a row, of their values as they are stored: -0.0 is not 0.0, but each NaN is the
 * same one, see [[ValueHashes]]. Later fields do not matter: a row has the same hash before the shuffle and after its
 * key was taken off.
 *
 * Each value becomes 64 bits, which are mixed with a number of its column. A null has no bits. The sum of a row's bits
 * is mixed once more. So the hashes of many rows can be made column by column, see [[sum]]. The steps and the last
 * mixing are those of xxHash64 (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md).
 *
 * An unsafe row has a null bit for each field, then a word for each field, then the bytes of all values longer than a
 * word, whose words have their offsets and lengths.
 *
 * @param schema of the fields to hash, with which rows begin
 * @param oneZero whether -0.0 is 0.0
 */
private[write] final class RowHash(schema: StructType, oneZero: Boolean) extends Serializable {
  import RowHash._

  private val fields = schema.length
  private val seeds = Array.tabulate(fields)(i => avalanche((i + 1) * Prime3))
  private val values = schema.fields.map(f => new ValueHashes(oneZero).of(f.dataType))
  private val kinds = schema.fields.zip(values).map { case (f, value) => kindOf(f.dataType, value.isDefined) }

  @transient private lazy val projection = UnsafeProjection.create(schema)

  /** Whether there is a sum of batches. */
  val takesBatches: Boolean = values.forall(_.isDefined)

  def of(row: InternalRow): Long = row match {
    case unsafe: UnsafeRow => hash(unsafe)
    case other             => hash(projection(other))
  }

  private def hash(row: UnsafeRow): Long = {
    val base = row.getBaseObject
    val start = row.getBaseOffset
    val words = start + UnsafeRow.calculateBitSetWidthInBytes(row.numFields)
    var h = 0L
    var nulls = 0L
    var i = 0
    while (i < fields) {
      if ((i & 63) == 0) nulls = Platform.getLong(base, start + i / 8)
      if ((nulls >>> i & 1) == 0) {
        val word = Platform.getLong(base, words + 8L * i)
        val bits =
          if (kinds(i) == Word) word
          else if (kinds(i) == Bytes) ByteWords.hash(base, start + (word >>> 32), word.toInt)
          else values(i).get.of(row, i)
        h += ValueHash.mix(bits, seeds(i))
      }
      i += 1
    }
    avalanche(h)
  }

  def sum(batch: ColumnarBatch): RowSum = {
    val ofRows = new Array[Long](batch.numRows)
    var c = 0
    while (c < fields) {
      values(c).get.addAll(batch.column(c), seeds(c), ofRows)
      c += 1
    }
    var all = 0L
    var i = 0
    while (i < ofRows.length) {
      all += avalanche(ofRows(i))
      i += 1
    }
    RowSum(ofRows.length.toLong, all)
  }
}

private[write] object RowHash {

  def of(format: FileFormat, schema: StructType): RowHash =
    new RowHash(schema, oneZero = format.isInstanceOf[OrcFileFormat])

  /** How the bits of a field in an unsafe row are found. */
  private final val Word = 0
  private final val Bytes = 1
  private final val OfType = 2

  private def kindOf(dataType: DataType, isKnown: Boolean): Int = dataType match {
    case FloatType | DoubleType                      => OfType
    case u: UserDefinedType[_]                       => kindOf(u.sqlType, isKnown)
    case _ if isFixedLength(dataType)                => Word
    case _: StringType | BinaryType | _: DecimalType => Bytes
    case _                                           => if (isKnown) OfType else Bytes
  }

  private val Prime2 = 0xc2b2ae3d27d4eb4fL
  private val Prime3 = 0x165667b19e3779f9L

  private def avalanche(bits: Long): Long = {
    var h = (bits ^ bits >>> 33) * Prime2
    h = (h ^ h >>> 29) * Prime3
    h ^ h >>> 32
  }
}
