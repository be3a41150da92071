package org.sparkzorder.skipping

import java.util.BitSet

import org.apache.spark.sql.types.StructType

import org.sparkzorder.predicate.{Evaluation, StatsPredicate}
import org.sparkzorder.stats.StatsWithDefaults

/**
 * The files that may hold a row for which a predicate is true. Files that the index does not know are kept.
 *
 * @param keep bits of these files, by their ordinals in the index
 */
private[skipping] final class SelectedFiles(val known: ListedOrdinals, private val keep: BitSet) {

  /** Clears the bits of a directory's files that cannot match. */
  def leaveOut(places: BitSet, directory: ListedFiles): Unit = {
    val ordinals = directory.ordinals
    val words = new Array[Long]((ordinals.length + 63) >> 6)
    var i = 0
    while (i < ordinals.length) {
      val ordinal = ordinals(i)
      if (ordinal < 0 || keep.get(ordinal)) words(i >> 6) |= 1L << i
      i += 1
    }
    places.and(BitSet.valueOf(words))
  }

  /** The files that both keep. Both must be about the same files. */
  def and(other: SelectedFiles): SelectedFiles = changed(_.and(other.keep))

  /** Without the files that [[CurvePruning]] rules out. */
  def byCurve(predicate: StatsPredicate): SelectedFiles = changed(CurvePruning.leaveOut(_, predicate, known.snapshot))

  def keepsAsMuchAs(other: SelectedFiles): Boolean = keep == other.keep

  private def changed(change: BitSet => Unit): SelectedFiles = {
    val own = keep.clone().asInstanceOf[BitSet]
    change(own)
    new SelectedFiles(known, own)
  }
}

private[skipping] object SelectedFiles {

  /**
   * The files that the bounds of columns do not rule out.
   *
   * @param schema that the files are read with: it says what a column is in a file that lacks it
   */
  def apply(known: ListedOrdinals, predicate: StatsPredicate, schema: StructType): SelectedFiles =
    new SelectedFiles(known, Evaluation.keep(predicate, StatsWithDefaults.of(known.snapshot, schema)))
}
