package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

import org.sparkzorder.stats._

/** Rows in memory, with their exact statistics. */
final case class ModelFile(schema: StructType, rows: Seq[InternalRow]) {

  def exact: FileStats = FileStats(rows.size.toLong, columns(schema, Nil, rows.map(Option(_))).toMap)

  private def columns(
      struct: StructType,
      parents: Seq[String],
      of: Seq[Option[InternalRow]]
  ): Seq[(ColumnKey, ColumnStats)] = struct.fields.toSeq.zipWithIndex.flatMap { case (field, i) =>
    val path = parents :+ field.name
    val values = of.map(_.filterNot(_.isNullAt(i)).map(_.get(i, field.dataType)))
    val nested = (field.dataType: DataType) match {
      case s: StructType => columns(s, path, values.map(_.map(_.asInstanceOf[InternalRow])))
      case _             => Nil
    }
    (ColumnKey(path, field.dataType) -> ModelFile.stats(field.dataType, values)) +: nested
  }
}

object ModelFile {

  def stats(dataType: DataType, values: Seq[Option[Any]]): ColumnStats = {
    val nulls = values.count(_.isEmpty).toLong
    if (OrderedValue.encoding(dataType).isEmpty) ColumnStats(null, null, nulls, 0L)
    else {
      val (nans, others) = values.flatten.partition(isNaN)
      val sorted = others.map(OrderedValue.encode(dataType, _)).sorted(encoded)
      ColumnStats(sorted.headOption.orNull, sorted.lastOption.orNull, nulls, nans.size.toLong)
    }
  }

  val encoded: Ordering[Any] = (x: Any, y: Any) =>
    (x, y) match {
      case (a: Long, b: Long)               => a.compare(b)
      case (a: Array[Byte], b: Array[Byte]) => OrderedValue.compare(a, b)
      case _                                => throw new IllegalArgumentException(s"$x, $y")
    }

  private def isNaN(value: Any) = value match {
    case d: Double => d.isNaN
    case f: Float  => f.isNaN
    case _         => false
  }
}
