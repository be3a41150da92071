package org.sparkzorder.write.encode

import java.util.Arrays

import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.column.{ColumnDescriptor, Encoding, ParquetProperties}
import org.apache.parquet.column.page.DictionaryPage
import org.apache.parquet.column.values.ValuesWriter
import org.apache.parquet.column.values.fallback.FallbackValuesWriter
import org.apache.parquet.column.values.factory.ValuesWriterFactory
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

/**
 * Makes writers of values that look for many values of a column in its dictionary at once.
 *
 * Rows come one after the other, and each value is looked for in the dictionary of its column. The dictionaries of a wide
 * table do not fit into the processor's cache together. So values are kept until there are some of a column. What is
 * written is the same, byte by byte: a writer gets the same values in the same order, and all of them before it is asked
 * for anything.
 */
private[encode] final class BatchedFactory(of: ValuesWriterFactory) extends ValuesWriterFactory {

  override def initialize(properties: ParquetProperties): Unit = of.initialize(properties)

  override def newValuesWriter(column: ColumnDescriptor): ValuesWriter = of.newValuesWriter(column) match {
    case dictionary: FallbackValuesWriter[_, _] =>
      column.getPrimitiveType.getPrimitiveTypeName match {
        case INT32                                 => new BatchedInts(dictionary)
        case INT64                                 => new BatchedLongs(dictionary)
        case FLOAT                                 => new BatchedFloats(dictionary)
        case DOUBLE                                => new BatchedDoubles(dictionary)
        case BINARY | FIXED_LEN_BYTE_ARRAY | INT96 => new BatchedBytes(dictionary)
        case _                                     => dictionary
      }
    case other => other
  }
}

/**
 * Values that wait for their writer. Each primitive type has its own array and its own loop: a shared one would box values,
 * or call a method for each.
 */
private[encode] abstract class BatchedValues(to: ValuesWriter) extends ValuesWriter {

  /** How many values wait. */
  protected var count = 0

  /** Gives the waiting values to the writer. */
  protected def drain(): Unit

  private def drained: ValuesWriter = {
    if (count > 0) drain()
    to
  }

  override def getBufferedSize: Long = drained.getBufferedSize
  override def getBytes: BytesInput = drained.getBytes
  override def getEncoding: Encoding = drained.getEncoding
  override def reset(): Unit = drained.reset()
  override def close(): Unit = drained.close()
  override def toDictPageAndClose(): DictionaryPage = drained.toDictPageAndClose()
  override def resetDictionary(): Unit = drained.resetDictionary()
  override def getAllocatedSize: Long = drained.getAllocatedSize
  override def memUsageString(prefix: String): String = drained.memUsageString(prefix)
}

private[encode] object BatchedValues {

  /** As many values of all columns of a wide table fit into the cache nearly, and their dictionaries do not. */
  val Most = 1024
}

private final class BatchedInts(to: ValuesWriter) extends BatchedValues(to) {
  private val values = new Array[Int](BatchedValues.Most)

  override def writeInteger(v: Int): Unit = {
    values(count) = v
    count += 1
    if (count == values.length) drain()
  }

  override protected def drain(): Unit = {
    var i = 0
    while (i < count) {
      to.writeInteger(values(i))
      i += 1
    }
    count = 0
  }
}

private final class BatchedLongs(to: ValuesWriter) extends BatchedValues(to) {
  private val values = new Array[Long](BatchedValues.Most)

  override def writeLong(v: Long): Unit = {
    values(count) = v
    count += 1
    if (count == values.length) drain()
  }

  override protected def drain(): Unit = {
    var i = 0
    while (i < count) {
      to.writeLong(values(i))
      i += 1
    }
    count = 0
  }
}

private final class BatchedFloats(to: ValuesWriter) extends BatchedValues(to) {
  private val values = new Array[Float](BatchedValues.Most)

  override def writeFloat(v: Float): Unit = {
    values(count) = v
    count += 1
    if (count == values.length) drain()
  }

  override protected def drain(): Unit = {
    var i = 0
    while (i < count) {
      to.writeFloat(values(i))
      i += 1
    }
    count = 0
  }
}

private final class BatchedDoubles(to: ValuesWriter) extends BatchedValues(to) {
  private val values = new Array[Double](BatchedValues.Most)

  override def writeDouble(v: Double): Unit = {
    values(count) = v
    count += 1
    if (count == values.length) drain()
  }

  override protected def drain(): Unit = {
    var i = 0
    while (i < count) {
      to.writeDouble(values(i))
      i += 1
    }
    count = 0
  }
}

/** Their bytes are copied one after the other, since the caller may use its array again. */
private final class BatchedBytes(to: ValuesWriter) extends BatchedValues(to) {
  private var bytes = new Array[Byte](BatchedValues.Most * 16)
  private val ends = new Array[Int](BatchedValues.Most)

  override def writeBytes(v: Binary): Unit = {
    val start = if (count == 0) 0 else ends(count - 1)
    val length = v.length
    if (length > BatchedBytes.Longest) {
      if (count > 0) drain()
      to.writeBytes(v)
    } else {
      if (start + length > bytes.length) bytes = Arrays.copyOf(bytes, math.max(2 * bytes.length, start + length))
      v.toByteBuffer.get(bytes, start, length)
      ends(count) = start + length
      count += 1
      if (count == ends.length || start + length >= BatchedBytes.MostBytes) drain()
    }
  }

  override protected def drain(): Unit = {
    var i = 0
    var start = 0
    while (i < count) {
      to.writeBytes(Binary.fromReusedByteArray(bytes, start, ends(i) - start))
      start = ends(i)
      i += 1
    }
    count = 0
  }
}

private object BatchedBytes {

  /** Longer values are not kept. */
  val Longest: Int = 4 << 10

  val MostBytes: Int = 64 << 10
}
