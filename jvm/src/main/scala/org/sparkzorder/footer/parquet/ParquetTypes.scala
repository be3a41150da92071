package org.sparkzorder.footer.parquet

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT96
import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType, Type}
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.datasources.parquet.ParquetToSparkSchemaConverter
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import org.sparkzorder.footer.{CalendarColumn, TimePrecision, TimestampKind, Unreadable}

/** A Parquet file's schema in Spark's types, column by column, so that one unknown type does not hide the others. */
private[footer] final class ParquetTypes(conf: Configuration) {

  private val converter = {
    val own = new Configuration(conf)
    // The file's own types, whatever the session's settings make of them.
    own.setBoolean(SQLConf.PARQUET_BINARY_AS_STRING.key, false)
    own.setBoolean(SQLConf.PARQUET_INT96_AS_TIMESTAMP.key, true)
    own.setBoolean(SQLConf.CASE_SENSITIVE.key, true)
    own.setBoolean(SQLConf.PARQUET_INFER_TIMESTAMP_NTZ_ENABLED.key, true)
    own.setBoolean(SQLConf.LEGACY_PARQUET_NANOS_AS_LONG.key, true)
    own.setBoolean(SQLConf.PARQUET_FIELD_ID_READ_ENABLED.key, false)
    new ParquetToSparkSchemaConverter(own)
  }

  def of(schema: MessageType): (StructType, Seq[Unreadable]) = {
    val converted = schema.getFields.asScala.toVector.map { field =>
      try Right(converter.convert(new MessageType(schema.getName, field)).fields.toSeq)
      catch {
        // Spark has several classes for what it cannot read: an unknown type, or a place on no known globe.
        case _: SparkThrowable => Left(Unreadable(Seq(field.getName), Unreadable.NoType))
      }
    }
    val fields = converted.collect { case Right(f) => f }.flatten
    (StructType(fields), converted.collect { case Left(u) => u } ++ ParquetTypes.inexact(schema, Nil))
  }
}

private[footer] object ParquetTypes {

  def timestamps(schema: MessageType): Option[TimestampKind] = TimestampKind.widest(leaves(schema, Nil).flatMap {
    case (_, leaf) =>
      leaf.getLogicalTypeAnnotation match {
        case t: TimestampLogicalTypeAnnotation if t.isAdjustedToUTC && t.getUnit == TimeUnit.MICROS =>
          Some(TimestampKind.Micros)
        case t: TimestampLogicalTypeAnnotation if t.isAdjustedToUTC && t.getUnit == TimeUnit.MILLIS =>
          Some(TimestampKind.Millis)
        case null if leaf.getPrimitiveTypeName == INT96 => Some(TimestampKind.Int96)
        case _                                          => None
      }
  })

  /** Leaves that Spark can read but cannot write back as they were. */
  def inexact(schema: MessageType, parents: List[String]): Seq[Unreadable] = leaves(schema, parents).flatMap {
    case (path, leaf) =>
      leaf.getLogicalTypeAnnotation match {
        case i: IntLogicalTypeAnnotation if !i.isSigned && i.getBitWidth == 64 =>
          Some(Unreadable(path, Unreadable.Unsigned))
        case t: TimestampLogicalTypeAnnotation if t.getUnit == TimeUnit.NANOS =>
          Some(Unreadable(path, Unreadable.Nanoseconds))
        case _ => None
      }
  }

  /** What `spark.sql.parquet.int96TimestampConversion` moves, but would not in the rewritten files of parquet-java. */
  def int96(schema: MessageType): Seq[Unreadable] = int96Columns(schema).map(Unreadable(_, Unreadable.Int96Moved))

  /** Leaves of dates and instants, whose old values differ between the two calendars. */
  def ofCalendar(schema: MessageType): Seq[CalendarColumn] = leaves(schema, Nil).flatMap { case (path, leaf) =>
    leaf.getLogicalTypeAnnotation match {
      case _: DateLogicalTypeAnnotation                           => Some(CalendarColumn(path, isInt96 = false))
      case t: TimestampLogicalTypeAnnotation if t.isAdjustedToUTC => Some(CalendarColumn(path, isInt96 = false))
      case _ if leaf.getPrimitiveTypeName == INT96                => Some(CalendarColumn(path, isInt96 = true))
      case _                                                      => None
    }
  }

  /** Leaves of the type INT96, which holds nanoseconds. */
  def int96Columns(schema: MessageType): Seq[Seq[String]] = leaves(schema, Nil).collect {
    case (path, leaf) if leaf.getPrimitiveTypeName == INT96 => path
  }

  private def leaves(group: GroupType, parents: List[String]): Seq[(Seq[String], PrimitiveType)] =
    group.getFields.asScala.toVector.flatMap { (field: Type) =>
      val path = field.getName :: parents
      if (field.isPrimitive) Seq((path.reverse, field.asPrimitiveType)) else leaves(field.asGroupType, path)
    }
}

/**
 * Types that Spark wrote into a Parquet file and that the Parquet schema does not show. `TIME(0)` is stored in
 * microseconds like `TIME(6)`, and `VOID` as a boolean. Spark notes the types of its rows in the key-value metadata.
 */
private[footer] object SparkRowTypes {

  val key = "org.apache.spark.sql.parquet.row.metadata"

  /** The types by the Parquet schema, with those of Spark's note in the file, which is JSON. */
  def refine(file: StructType, noted: String): StructType =
    if (!noted.contains("\"time(") && !noted.contains("\"void\"")) file
    else {
      val types =
        try DataType.fromJson(noted)
        // Anyone may have written something else under this key.
        catch { case NonFatal(_) => file }
      refined(file, types).asInstanceOf[StructType]
    }

  private def refined(file: DataType, noted: DataType): DataType = (file, noted) match {
    case (f: StructType, n: StructType) =>
      val byName = n.groupBy(_.name)
      StructType(f.map { field =>
        byName.getOrElse(field.name, Nil) match {
          case Seq(one) => field.copy(dataType = refined(field.dataType, one.dataType))
          case _        => field
        }
      })
    case (f: ArrayType, n: ArrayType) => f.copy(elementType = refined(f.elementType, n.elementType))
    case (f: MapType, n: MapType)     =>
      f.copy(keyType = refined(f.keyType, n.keyType), valueType = refined(f.valueType, n.valueType))
    case (BooleanType, NullType) => NullType
    case _                       =>
      val isCoarser = TimePrecision.of(noted).exists(n => TimePrecision.of(file).exists(n < _))
      if (isCoarser) noted else file
  }
}
