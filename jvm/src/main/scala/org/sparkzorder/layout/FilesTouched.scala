package org.sparkzorder.layout

import org.sparkzorder.stats.{ColumnStats, OrderedValue}

/** The bounds of one column in one file, for point lookups. */
sealed trait FileBounds
object FileBounds {

  /** No bounds are known: every lookup reads the file. */
  case object Unknown extends FileBounds

  /** The column is null in every row, or there is no row: no lookup reads the file. */
  case object AllNull extends FileBounds

  final case class Longs(min: Long, max: Long) extends FileBounds
  final case class Bytes(min: Array[Byte], max: Array[Byte]) extends FileBounds

  /**
   * Floating-point numbers, among which there may be NaN: lookups of NaN read the file, too. NaN is above all bounds.
   *
   * @param numbers bounds of the others; None if there are no others
   * @param share of NaN in the rows that are not null, from 0 to 1; 0 if it is unknown
   */
  final case class LongsOrNaN(numbers: Option[Longs], share: Double) extends FileBounds

  def of(stats: ColumnStats, rows: Long): FileBounds = stats match {
    case ColumnStats(_, _, nulls, _) if nulls == rows                => AllNull
    case ColumnStats(min: Long, max: Long, nulls, nans) if nans != 0 =>
      LongsOrNaN(Some(Longs(min, max)), math.max(nans, 0L).toDouble / (rows - math.max(nulls, 0L)))
    case ColumnStats(null, _, nulls, nans) if nans > 0 && nans + nulls == rows => LongsOrNaN(None, 1d)
    case ColumnStats(min: Long, max: Long, _, _)                               => Longs(min, max)
    case ColumnStats(min: Array[Byte], max: Array[Byte], _, _)                 => Bytes(min, max)
    case _                                                                     => Unknown
  }
}

/** How many files a point lookup reads, if its value is drawn from the data. */
object FilesTouched {

  /**
   * The number of files whose [min, max] contains the value, as a mean over the sampled rows that
   * are not null. 0 if all sampled rows are null.
   */
  def mean(sample: ValueDistribution, files: Iterable[FileBounds]): Double = {
    val values = sample.total - sample.nulls
    if (values == 0) 0d
    else files.iterator.map(held(sample, _)).foldLeft(0d)((sum, n) => sum + n.toDouble / values)
  }

  /**
   * The mean over several samples, weighted by the rows that each stands for, such as those of a table's rewrite units.
   */
  def mean(samples: Iterable[(ValueDistribution, Long)], files: Iterable[FileBounds]): Double = {
    // Only rows that are not null can be drawn.
    val weights = samples.map { case (s, rows) =>
      if (s.total == 0) 0d else rows.toDouble * (s.total - s.nulls) / s.total
    }
    val all = weights.sum
    if (all == 0d) 0d
    else samples.zip(weights).map { case ((s, _), w) => if (w == 0d) 0d else w / all * mean(s, files) }.sum
  }

  private val onlyNaN = FileBounds.Longs(OrderedValue.ofDouble(Double.NaN), OrderedValue.ofDouble(Double.NaN))

  private def held(sample: ValueDistribution, file: FileBounds): Int = (sample, file) match {
    case (_, FileBounds.Unknown)                            => sample.total - sample.nulls
    case (_, FileBounds.AllNull)                            => 0
    case (s: LongDistribution, FileBounds.Longs(min, max))  => s.countBetween(from(s.place(min)), until(s.place(max)))
    case (s, FileBounds.LongsOrNaN(numbers, _))             => numbers.fold(0)(held(s, _)) + held(s, onlyNaN)
    case (s: BytesDistribution, FileBounds.Bytes(min, max)) => s.countBetween(from(s.place(min)), until(s.place(max)))
    case (s, b)                                             =>
      throw new IllegalArgumentException(s"bounds ${b.getClass.getSimpleName} for a ${s.getClass.getSimpleName}")
  }

  /** The first sampled value at or after a place. */
  private def from(place: Int): Int = (place - 1) / 2

  /** One more than the last sampled value at or before a place. */
  private def until(place: Int): Int = place / 2
}
