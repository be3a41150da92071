package org.sparkzorder.write.encode

import java.lang.Double.{doubleToRawLongBits, longBitsToDouble}
import java.lang.Float.{floatToRawIntBits, intBitsToFloat}
import java.lang.Long.numberOfLeadingZeros
import java.util.Arrays

import org.apache.parquet.column.{Encoding, ParquetProperties}
import org.apache.parquet.column.values.ValuesWriter
import org.apache.parquet.column.values.plain.PlainValuesWriter

/**
 * A dictionary of numbers, by their bits. So each NaN is a value of its own.
 *
 * @param width bytes of a number
 */
private[encode] sealed abstract class NumberDictionary(
    width: Int,
    plain: ValuesWriter,
    ofPages: Encoding,
    properties: ParquetProperties
) extends DictionaryValues(plain, ofPages, properties) {

  private var values = new Array[Long](32)

  protected final def value(number: Int): Long = values(number)

  /** @return whether the value is written. If not, it has to be written plain. */
  protected final def isWritten(bits: Long): Boolean = {
    rawBytes += width
    if (!isPlain && !(last >= 0 && values(last) == bits)) find(bits)
    if (!isPlain) add(last)
    !isPlain
  }

  private def find(bits: Long): Unit = {
    var at = place(bits)
    while (table(at) != 0 && values(table(at) - 1) != bits) at = next(at)
    if (table(at) != 0) last = table(at) - 1
    else if (hasRoomFor(width)) {
      if (size == values.length) values = Arrays.copyOf(values, DictionaryValues.grown(size, size + 1))
      values(size) = bits
      enter(at)
    }
  }

  /** The upper bits of a product depend on all bits of the number, also if many of the lower ones are zero. */
  private def place(bits: Long): Int =
    ((bits * 0x9e3779b97f4a7c15L) >>> (numberOfLeadingZeros(table.length.toLong) + 1)).toInt

  override protected def placeOf(number: Int): Int = place(values(number))

  override protected def clear(): Unit = {
    super.clear()
    values = new Array[Long](32)
  }

  override protected def pageWriter(initialBytes: Int, mostBytes: Int): ValuesWriter =
    new PlainValuesWriter(initialBytes, mostBytes, properties.getAllocator)
}

private[encode] final class IntDictionary(plain: ValuesWriter, ofPages: Encoding, properties: ParquetProperties)
    extends NumberDictionary(4, plain, ofPages, properties) {
  override def writeInteger(v: Int): Unit = if (!isWritten(v.toLong)) plain.writeInteger(v)
  override protected def writePlain(number: Int, to: ValuesWriter): Unit = to.writeInteger(value(number).toInt)
}

private[encode] final class LongDictionary(plain: ValuesWriter, ofPages: Encoding, properties: ParquetProperties)
    extends NumberDictionary(8, plain, ofPages, properties) {
  override def writeLong(v: Long): Unit = if (!isWritten(v)) plain.writeLong(v)
  override protected def writePlain(number: Int, to: ValuesWriter): Unit = to.writeLong(value(number))
}

/** @param mayHaveZero whether 0.0 may be in the dictionary; -0.0 never is, see [[FloatDictionaries]] */
private[encode] final class FloatDictionary(
    plain: ValuesWriter,
    ofPages: Encoding,
    properties: ParquetProperties,
    mayHaveZero: Boolean
) extends NumberDictionary(4, plain, ofPages, properties) {
  override def writeFloat(v: Float): Unit = {
    val bits = floatToRawIntBits(v)
    if (v == 0f && !(mayHaveZero && bits == 0)) giveUp()
    if (!isWritten(bits.toLong)) plain.writeFloat(v)
  }
  override protected def writePlain(number: Int, to: ValuesWriter): Unit =
    to.writeFloat(intBitsToFloat(value(number).toInt))
}

/** @param mayHaveZero whether 0.0 may be in the dictionary; -0.0 never is, see [[FloatDictionaries]] */
private[encode] final class DoubleDictionary(
    plain: ValuesWriter,
    ofPages: Encoding,
    properties: ParquetProperties,
    mayHaveZero: Boolean
) extends NumberDictionary(8, plain, ofPages, properties) {
  override def writeDouble(v: Double): Unit = {
    val bits = doubleToRawLongBits(v)
    if (v == 0d && !(mayHaveZero && bits == 0L)) giveUp()
    if (!isWritten(bits)) plain.writeDouble(v)
  }
  override protected def writePlain(number: Int, to: ValuesWriter): Unit =
    to.writeDouble(longBitsToDouble(value(number)))
}
