package org.sparkzorder.write.orc

import scala.jdk.CollectionConverters._

import org.apache.hadoop.hive.ql.exec.vector._
import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.Category
import org.apache.spark.sql.types._

/** Makes the [[OrcColumn]]s of a batch, each for Spark's type and ORC's. */
private[write] object OrcColumns {

  /** @param proleptic whether dates and times are stored in the proleptic Gregorian calendar */
  def ofRows(
      rows: StructType,
      schema: TypeDescription,
      batch: VectorizedRowBatch,
      proleptic: Boolean
  ): Array[OrcColumn] = fields(rows, schema, batch.cols, proleptic)

  private def fields(
      struct: StructType,
      schema: TypeDescription,
      vectors: Array[ColumnVector],
      proleptic: Boolean
  ): Array[OrcColumn] = {
    val types = schema.getChildren.asScala
    require(struct.length == types.length, s"${struct.catalogString} as $schema")
    Array.tabulate(struct.length)(f => of(struct(f).dataType, types(f), vectors(f), proleptic))
  }

  private def of(dataType: DataType, orc: TypeDescription, vector: ColumnVector, proleptic: Boolean): OrcColumn = {
    def inner(t: DataType, child: Int, of: ColumnVector) = this.of(t, orc.getChildren.get(child), of, proleptic)
    (dataType, vector) match {
      case (udt: UserDefinedType[_], _)           => of(udt.sqlType, orc, vector, proleptic)
      case (s: StructType, v: StructColumnVector) =>
        new OrcStruct(s.length, v, fields(s, orc, v.fields, proleptic))
      case (a: ArrayType, v: ListColumnVector) => new OrcList(v, inner(a.elementType, 0, v.child))
      case (m: MapType, v: MapColumnVector)    =>
        new OrcMap(v, inner(m.keyType, 0, v.keys), inner(m.valueType, 1, v.values))
      case _ => scalar(dataType, orc, vector, proleptic)
    }
  }

  private def scalar(dataType: DataType, orc: TypeDescription, vector: ColumnVector, proleptic: Boolean): OrcColumn =
    (orc.getCategory, dataType, vector) match {
      case (Category.BOOLEAN, BooleanType, v: LongColumnVector)                        => new OrcBoolean(v)
      case (Category.BYTE, ByteType, v: LongColumnVector)                              => new OrcByte(v)
      case (Category.SHORT, ShortType, v: LongColumnVector)                            => new OrcShort(v)
      case (Category.INT, IntegerType | _: YearMonthIntervalType, v: LongColumnVector) => new OrcInt(v)
      case (Category.LONG, t, v: LongColumnVector) if isLong(t)                        => new OrcLong(v)
      case (Category.FLOAT, FloatType, v: DoubleColumnVector)                          => new OrcFloat(v)
      case (Category.DOUBLE, DoubleType, v: DoubleColumnVector)                        => new OrcDouble(v)
      case (Category.STRING, _: StringType, v: BytesColumnVector)                      => new OrcText(v)
      case (Category.CHAR | Category.VARCHAR, _: StringType, v: BytesColumnVector)     => new OrcLimitedText(v, orc)
      case (Category.BINARY, BinaryType, v: BytesColumnVector)                         => new OrcBinary(v)
      case (Category.DATE, DateType, v: DateColumnVector)                              => new OrcDate(v, proleptic)
      case (Category.TIMESTAMP | Category.TIMESTAMP_INSTANT, TimestampType, v: TimestampColumnVector) =>
        new OrcTimestamp(v)
      case (Category.DECIMAL, d: DecimalType, v: DecimalColumnVector) => new OrcDecimal(v, d)
      case _ => throw new IllegalArgumentException(s"Spark's type ${dataType.catalogString} cannot be stored as $orc")
    }

  /** TIME has a class of its own only in newer Sparks. */
  private def isLong(t: DataType): Boolean = t match {
    case LongType | TimestampNTZType | _: DayTimeIntervalType => true
    case other                                                => other.typeName.matches("time(\\(\\d\\))?")
  }
}
