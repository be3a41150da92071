package org.sparkzorder.footer.parquet

import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType
import org.apache.spark.sql.types.{BooleanType, DataType, DoubleType, FloatType}

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
