package org.sparkzorder.footer.parquet

import scala.jdk.CollectionConverters._

import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.Type.Repetition.{REPEATED, REQUIRED}
import org.apache.parquet.schema.{GroupType, PrimitiveType}
import org.apache.spark.sql.types.{ArrayType, BooleanType, DataType, DoubleType, FloatType, MapType, StructType}

import org.sparkzorder.compat._
import org.sparkzorder.footer.{Calendar, StatisticsTrust}
import org.sparkzorder.stats.{ColumnKey, ColumnStats, OrderedValue}

/**
 * One column's part of one row group.
 *
 * @param values number of values in the chunk, nulls included
 * @param rows number of rows of the row group
 * @param nulls None when the footer does not say
 * @param bounds least and greatest value as parquet-java gives them; None without values, or when
 *   the footer does not say
 */
private[footer] final case class ParquetChunk(
    values: Long,
    rows: Long,
    nulls: Option[Long],
    bounds: Option[(Any, Any)]
) {

  /** Whether no values could be described like this: then nothing that the footer says of them is believed. */
  def isContradiction: Boolean = nulls.exists(n => n < 0 || n > values || (n == values && bounds.isDefined))
}

/**
 * Merges the chunks of one leaf column that has only structs above it. A file is used or read as a
 * whole, so one doubtful chunk makes the whole column untrusted.
 */
private[footer] object ParquetChunks {

  /** @param required whether neither the leaf nor a struct above it can be null */
  def judge(
      key: ColumnKey,
      leaf: PrimitiveType,
      required: Boolean,
      chunks: Seq[ParquetChunk],
      writer: ParquetWriter
  ): StatisticsTrust = {
    val filled = chunks.filter(_.rows > 0)
    // A null struct makes the leaf null, too.
    val counts = if (key.path.length > 1) writer.belief.nullsOfFields else writer.belief.nulls
    val nulls = filled.map(nullsOf(_, required, counts))
    if (nulls.contains(None)) StatisticsTrust.Untrusted
    else {
      val nullCount = nulls.flatten.sum
      if (OrderedValue.encoding(key.dataType).isEmpty || nullCount == filled.map(_.rows).sum) {
        StatisticsTrust.Trusted(ColumnStats(null, null, nullCount, 0L))
      } else {
        val valued = filled.zip(nulls.flatten).collect { case (c, n) if n < c.rows => c.bounds }
        bounds(key.dataType, leaf, valued) match {
          case None             => StatisticsTrust.Untrusted
          case Some((min, max)) => weigh(key.dataType, leaf, ColumnStats.of(min, max, nullCount), writer)
        }
      }
    }
  }

  // Such a leaf has one value for each row, nulls included. Any other count means that we misread the footer.
  private def nullsOf(chunk: ParquetChunk, required: Boolean, counts: Boolean): Option[Long] =
    if (chunk.values != chunk.rows || chunk.isContradiction) None
    else if (required) Some(0L).filterNot(_ => chunk.nulls.exists(_ > 0))
    else chunk.nulls.filter(_ => counts)

  private def bounds(dt: DataType, leaf: PrimitiveType, chunks: Seq[Option[(Any, Any)]]): Option[(Any, Any)] =
    ParquetValues.decoder(dt, leaf).flatMap { decode =>
      def encoded(raw: Any): Option[Any] = decode(raw).map(OrderedValue.encode(dt, _))
      val each = chunks.map {
        case None                   => None
        case Some((rawMin, rawMax)) =>
          for {
            min <- encoded(rawMin)
            max <- encoded(rawMax)
            if OrderedValue.order.compare(min, max) <= 0 && !isEmpty(rawMax)
          } yield (min, max)
      }
      if (each.contains(None)) None
      else each.flatten.reduceOption((a, b) => (OrderedValue.order.min(a._1, b._1), OrderedValue.order.max(a._2, b._2)))
    }

  // An empty maximum is more likely an unset field of the writer than a column of nothing but empty strings.
  private def isEmpty(raw: Any): Boolean = raw match {
    case v: Binary => v.length == 0
    case _         => false
  }

  private def weigh(dt: DataType, leaf: PrimitiveType, stats: ColumnStats, writer: ParquetWriter): StatisticsTrust = {
    val floating = leaf.getPrimitiveTypeName == PrimitiveType.PrimitiveTypeName.FLOAT ||
      leaf.getPrimitiveTypeName == PrimitiveType.PrimitiveTypeName.DOUBLE
    if (!(if (dt == BooleanType) writer.belief.booleans else writer.belief.bounds)) StatisticsTrust.Untrusted
    else if ((dt == FloatType || dt == DoubleType) && floating && !writer.belief.excludesNaN)
      StatisticsTrust.Loose(stats.copy(nanCount = -1L))
    else if (Calendar.concerns(dt) && !writer.proleptic && !Calendar.settled(dt, stats.min.asInstanceOf[Long]))
      StatisticsTrust.Untrusted
    else StatisticsTrust.Trusted(stats)
  }
}

/**
 * A leaf below an array, map or struct, by its names in the file. `alone` if all between the two is required, so both
 * are null in the same rows; `repeated` if it is in an array or map below.
 */
private[footer] final case class LeafBelow(path: Seq[String], alone: Boolean, repeated: Boolean)

/**
 * How often an array, map or struct is null, as far as the counts of its leaves prove it.
 *
 * A chunk has one entry for each value, and one for each null or empty list above it. It counts
 * the entries that have no value as nulls, whatever the level. So without nulls in one leaf, nothing
 * above it is ever null. With nulls, the level is not known, unless there is one only.
 */
private[footer] object ParquetGroups {

  /**
   * The number of rows in which the group, or a struct above it, is null; None when unknown.
   *
   * @param required whether neither the group nor a struct above it can be null

   * @param rowGroups what each row group with rows has of a leaf; None when it does not have it
   */
  def nulls(
      group: GroupType,
      path: Seq[String],
      required: Boolean,
      rowGroups: Seq[Seq[String] => Option[ParquetChunk]]
  ): Option[Long] =
    if (required) Some(0L)
    else {
      val usable = leaves(group, path, alone = true, repeated = false)
      val counts =
        rowGroups.map(chunk => usable.iterator.flatMap(leaf => chunk(leaf.path).flatMap(of(leaf, _))).nextOption())
      if (counts.contains(None)) None else Some(counts.flatten.sum)
    }

  private def of(leaf: LeafBelow, chunk: ParquetChunk): Option[Long] =
    chunk.nulls.filter(_ => !chunk.isContradiction).filter { nulls =>
      if (leaf.repeated) nulls == 0 && chunk.values >= chunk.rows
      else chunk.values == chunk.rows && (nulls == 0 || (leaf.alone && nulls > 0 && nulls <= chunk.rows))
    }

  /** The leaves that tell more come first. */
  private def leaves(group: GroupType, path: Seq[String], alone: Boolean, repeated: Boolean): Seq[LeafBelow] =
    group.getFields.asScala.toVector.flatMap { f =>
      val below = path :+ f.getName
      val inList = repeated || f.isRepetition(REPEATED)
      val still = alone && f.isRepetition(REQUIRED)
      if (f.isPrimitive) Seq(LeafBelow(below, still, inList)) else leaves(f.asGroupType, below, still, inList)
    }.sortBy(leaf => (!leaf.alone, leaf.repeated))

  /**
   * Whether Spark reads the group as null exactly where it is null in the file. Spark may read a struct as null when
   * the file lacks fields of it, so both must have the same fields, with the same spelling.
   */
  def isSame(table: DataType, file: DataType): Boolean = (table, file) match {
    case (t: StructType, f: StructType) =>
      t.fieldNames.sameElements(f.fieldNames) && t.fields.zip(f.fields).forall { case (a, b) =>
        isSame(a.dataType, b.dataType)
      }
    case (t: ArrayType, f: ArrayType) => isSame(t.elementType, f.elementType)
    case (t: MapType, f: MapType)     => isSame(t.keyType, f.keyType) && isSame(t.valueType, f.valueType)
    case (_: StructType | _: ArrayType | _: MapType, _) => false
    case (_, _: StructType | _: ArrayType | _: MapType) => false
    case _                                              => true
  }

  /** The type of a column of the file, or of a field in its structs. */
  def typeAt(file: StructType, path: Seq[String]): Option[DataType] =
    path.foldLeft[Option[DataType]](Some(file)) {
      case (Some(s: StructType), name) => s.fields.filter(_.name == name) match {
          case Array(one) => Some(one.dataType)
          case _          => None
        }
      case _ => None
    }
}
