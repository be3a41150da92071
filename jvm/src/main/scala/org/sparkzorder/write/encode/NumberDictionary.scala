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

  /** The values by their numbers, and a hash table of numbers, plus one. */
  private var values = new Array[Long](32)
  private var table = new Array[Int](64)
  private var last = -1

  protected final def value(number: Int): Long = values(number)

  /** @return whether the value is written. If not, it has to be written plain. */
  protected final def isWritten(bits: Long): Boolean = {
    rawBytes += width
    if (isPlain) false
    else if (last >= 0 && values(last) == bits) {
      add(last)
      true
    } else {
      var at = place(bits)
      while (table(at) != 0 && values(table(at) - 1) != bits) at = (at + 1) & (table.length - 1)
      if (table(at) != 0) last = table(at) - 1
      else if (hasRoomFor(width)) {
        last = size
        insert(bits, at)
      }
      if (!isPlain) add(last)
      !isPlain
    }
  }

  /** The upper bits of a product depend on all bits of the number, also if many of the lower ones are zero. */
  private def place(bits: Long): Int =
    ((bits * 0x9e3779b97f4a7c15L) >>> (numberOfLeadingZeros(table.length.toLong) + 1)).toInt

  private def insert(bits: Long, at: Int): Unit = {
    if (size == values.length) values = Arrays.copyOf(values, DictionaryValues.grown(size, size + 1))
    values(size) = bits
    size += 1
    table(at) = size
    if (2 * size > table.length) {
      table = new Array[Int](2 * table.length)
      var i = 0
      while (i < size) {
        var free = place(values(i))
        while (table(free) != 0) free = (free + 1) & (table.length - 1)
        table(free) = i + 1
        i += 1
      }
    }
  }

  override protected def clear(): Unit = {
    size = 0
    last = -1
    values = new Array[Long](32)
    table = new Array[Int](64)
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
