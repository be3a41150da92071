package org.sparkzorder.write.orc

import scala.jdk.CollectionConverters._

import org.apache.hadoop.hive.common.`type`.HiveDecimal
import org.apache.hadoop.hive.ql.exec.vector._
import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.Category
import org.apache.spark.sql.catalyst.util.RebaseDateTime
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Makes the columns of a batch, each for Spark's type and ORC's.
 *
 * @param proleptic whether dates and times are stored in the proleptic Gregorian calendar
 */
private[orc] final class OrcColumns(proleptic: Boolean) {

  def of(struct: StructType, schema: TypeDescription, vectors: Array[ColumnVector]): Array[OrcColumn] = {
    val types = schema.getChildren.asScala
    require(struct.length == types.length, s"${struct.catalogString} as $schema")
    Array.tabulate(struct.length)(f => of(struct(f).dataType, types(f), vectors(f)))
  }

  private def of(dataType: DataType, orc: TypeDescription, vector: ColumnVector): OrcColumn = {
    def inner(t: DataType, child: Int, vector: ColumnVector) = of(t, orc.getChildren.get(child), vector)
    (dataType, vector) match {
      case (udt: UserDefinedType[_], _)           => of(udt.sqlType, orc, vector)
      case (s: StructType, v: StructColumnVector) => new OrcColumn(v, new OrcStruct(s.length, of(s, orc, v.fields)))
      case (a: ArrayType, v: ListColumnVector)    => new OrcColumn(v, new OrcList(v, inner(a.elementType, 0, v.child)))
      case (m: MapType, v: MapColumnVector)       =>
        new OrcColumn(v, new OrcMap(v, inner(m.keyType, 0, v.keys), inner(m.valueType, 1, v.values)))
      case _ => new OrcColumn(vector, OrcScalars.of(dataType, orc, vector, proleptic))
    }
  }
}

/** How values that contain no others get into the vectors of ORC. */
private[orc] object OrcScalars {

  def of(dataType: DataType, orc: TypeDescription, vector: ColumnVector, proleptic: Boolean): OrcPut =
    (orc.getCategory, dataType, vector) match {
      case (Category.BOOLEAN, BooleanType, v: LongColumnVector) =>
        (values, at, i) => v.vector(i) = if (values.getBoolean(at)) 1L else 0L
      case (Category.BYTE, ByteType, v: LongColumnVector) => (values, at, i) => v.vector(i) = values.getByte(at).toLong
      case (Category.SHORT, ShortType, v: LongColumnVector) =>
        (values, at, i) => v.vector(i) = values.getShort(at).toLong
      case (Category.INT, IntegerType | _: YearMonthIntervalType, v: LongColumnVector) =>
        (values, at, i) => v.vector(i) = values.getInt(at).toLong
      case (Category.LONG, t, v: LongColumnVector) if isLong(t) => (values, at, i) => v.vector(i) = values.getLong(at)
      case (Category.FLOAT, FloatType, v: DoubleColumnVector)   =>
        (values, at, i) => v.vector(i) = values.getFloat(at).toDouble
      case (Category.DOUBLE, DoubleType, v: DoubleColumnVector) => (values, at, i) => v.vector(i) = values.getDouble(at)
      case (Category.STRING, _: StringType, v: BytesColumnVector) =>
        (values, at, i) => put(v, i, values.getUTF8String(at).getBytes)
      case (Category.CHAR | Category.VARCHAR, _: StringType, v: BytesColumnVector) => limitedText(v, orc)
      case (Category.BINARY, BinaryType, v: BytesColumnVector) => (values, at, i) => put(v, i, values.getBinary(at))
      case (Category.DATE, DateType, v: DateColumnVector)      => date(v, proleptic)
      case (Category.TIMESTAMP | Category.TIMESTAMP_INSTANT, TimestampType, v: TimestampColumnVector) => timestamp(v)
      case (Category.DECIMAL, d: DecimalType, v: DecimalColumnVector)                                 => decimal(v, d)
      case _ => throw new IllegalArgumentException(s"Spark's type ${dataType.catalogString} cannot be stored as $orc")
    }

  /** TIME has a class of its own only in newer Sparks. */
  private def isLong(t: DataType): Boolean = t match {
    case LongType | TimestampNTZType | _: DayTimeIntervalType => true
    case other                                                => other.typeName.matches("time(\\(\\d\\))?")
  }

  /** The bytes are copied, since a row's memory is used again for the next row. */
  private def put(vector: BytesColumnVector, i: Int, bytes: Array[Byte]): Unit =
    vector.setRef(i, bytes, 0, bytes.length)

  private val Space = UTF8String.fromString(" ")

  /**
   * CHAR or VARCHAR. ORC pads or cuts values in silence, and readers take off the spaces at the end
   * of CHAR. Values of files with this type are never changed by that.
   */
  private def limitedText(vector: BytesColumnVector, orc: TypeDescription): OrcPut = {
    val most = orc.getMaxLength
    val isChar = orc.getCategory == Category.CHAR
    def refuse(what: String): Nothing = throw new IllegalStateException(s"a text $what cannot be stored as $orc")
    (values, at, i) => {
      val text = values.getUTF8String(at)
      if (text.numChars > most) refuse(s"of ${text.numChars} characters")
      if (isChar && text.endsWith(Space)) refuse("with a space at its end")
      put(vector, i, text.getBytes)
    }
  }

  private def decimal(vector: DecimalColumnVector, t: DecimalType): OrcPut = {
    val isLong = t.precision <= Decimal.MAX_LONG_DIGITS
    (values, at, i) => {
      val decimal = values.getDecimal(at, t.precision, t.scale)
      if (isLong) vector.vector(i).setFromLongAndScale(decimal.toUnscaledLong, t.scale)
      else vector.vector(i).set(HiveDecimal.create(decimal.toJavaBigDecimal))
    }
  }

  /**
   * Days. Spark's days are in the proleptic Gregorian calendar. In the other calendar of ORC, Julian days come before
   * 1582-10-15, and Spark's readers take that calendar for granted: ORC converts for them.
   */
  private def date(vector: DateColumnVector, proleptic: Boolean): OrcPut = {
    vector.changeCalendar(proleptic, false)
    (values, at, i) => {
      val days = values.getInt(at)
      vector.vector(i) = (if (proleptic) days else RebaseDateTime.rebaseGregorianToJulianDays(days)).toLong
    }
  }

  /**
   * Instants, for both of ORC's types: ORC makes wall clocks of them where the type is TIMESTAMP.
   *
   * They are always given in the calendar with Julian days, which is what Spark takes from ORC.
   * Where the file has the other one, ORC converts the wall clock, just as it does when it reads.
   */
  private def timestamp(vector: TimestampColumnVector): OrcPut = (values, at, i) => {
    // After a batch was converted, the vector takes itself for one of the other calendar.
    vector.changeCalendar(false, false)
    val micros = RebaseDateTime.rebaseGregorianToJulianMicros(values.getLong(at))
    val millis = Math.floorDiv(micros, 1000L)
    // ORC stores the second rounded towards zero, so the fractions of this second are read as those of the next one.
    if (millis < 0 && millis > -1000)
      throw new IllegalStateException("ORC cannot store a fraction of the last second before 1970")
    vector.time(i) = millis
    vector.nanos(i) = Math.floorMod(micros, 1000000L).toInt * 1000
  }
}
