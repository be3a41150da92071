package org.sparkzorder.skipping

import java.util.BitSet

import org.apache.spark.sql.types.StructType

import org.sparkzorder.predicate.{Evaluation, StatsPredicate}
import org.sparkzorder.stats.StatsWithDefaults

/**
 * Says of files whether they may hold a row that satisfies a predicate. Unseen or changed: yes.
 *
 * @param keep the ordinals of those that may
 */
private[skipping] final class KeptFiles(val known: ListedOrdinals, private val keep: BitSet) {

  /** Takes the places of those that may not out of places of a directory's files. */
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

  /** Keeps what both keep, which are of the same files. */
  def and(other: KeptFiles): KeptFiles = changed(_.and(other.keep))

  /** Without those that the curve's intervals leave out. */
  def byCurve(predicate: StatsPredicate): KeptFiles = changed(CurvePruning.leaveOut(_, predicate, known.snapshot))

  def keepsAsMuchAs(other: KeptFiles): Boolean = keep == other.keep

  private def changed(change: BitSet => Unit): KeptFiles = {
    val own = keep.clone().asInstanceOf[BitSet]
    change(own)
    new KeptFiles(known, own)
  }
}

private[skipping] object KeptFiles {

  /**
   * By the bounds of columns.
   *
   * @param schema that the files are read by, which says what a column is that a file lacks
   */
  def apply(known: ListedOrdinals, predicate: StatsPredicate, schema: StructType): KeptFiles =
    new KeptFiles(known, Evaluation.keep(predicate, StatsWithDefaults.of(known.snapshot, schema)))
}
