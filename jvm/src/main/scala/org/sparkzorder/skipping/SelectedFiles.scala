package org.sparkzorder.skipping

import java.util.BitSet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.HadoopFsRelation

import org.sparkzorder.predicate.{Evaluation, MembershipEvaluation, StatsPredicate}
import org.sparkzorder.stats.{StatsTable, StatsWithDefaults, StatsWithPartitions}

/**
 * The files that may hold a row for which a predicate is true. Files that the index does not know are kept.
 *
 * @param keep bits of these files, by their ordinals in the index
 * @param assumed the values of each file's partition, if the predicate is about partition columns; null where they were
 *   not known
 */
private[skipping] final class SelectedFiles(
    val known: ListedOrdinals,
    private val keep: BitSet,
    private val assumed: Option[Array[InternalRow]]
) {

  /**
   * Clears the bits of a directory's files that cannot match.
   *
   * @param values of the directory's partition: a catalog may have given it others meanwhile
   */
  def leaveOut(places: BitSet, directory: ListedFiles, values: InternalRow): Unit = {
    def isOther(ordinal: Int) = assumed.exists(a => a(ordinal) != null && a(ordinal) != values)
    val ordinals = directory.ordinals
    val words = new Array[Long]((ordinals.length + 63) >> 6)
    var i = 0
    while (i < ordinals.length) {
      val ordinal = ordinals(i)
      if (ordinal < 0 || keep.get(ordinal) || isOther(ordinal)) words(i >> 6) |= 1L << i
      i += 1
    }
    places.and(BitSet.valueOf(words))
  }

  /** The files that both keep. Both must be about the same files. */
  def and(other: SelectedFiles): SelectedFiles =
    changed(_.and(other.keep), if (assumed.isDefined) assumed else other.assumed)

  /** Without the files that [[CurvePruning]] rules out. */
  def byCurve(predicate: StatsPredicate, relation: HadoopFsRelation): SelectedFiles =
    changed(CurvePruning.leaveOut(_, predicate, known.snapshot, relation.partitionSchema.fieldNames.toSet), assumed)

  /**
   * Without those of some files that the values of their columns rule out.
   *
   * @param predicate one of those that have selected these files
   */
  def byMembers(predicate: StatsPredicate, relation: HadoopFsRelation, files: BitSet): SelectedFiles =
    if (known.snapshot.memberColumns.isEmpty) this
    else {
      val asked = files.clone().asInstanceOf[BitSet]
      asked.and(keep)
      val ofFiles = StatsWithDefaults.of(known.snapshot, relation.dataSchema)
      val table = assumed.fold[StatsTable](ofFiles)(new StatsWithPartitions(ofFiles, relation.partitionSchema, _))
      val found = MembershipEvaluation.keep(predicate, table, asked)
      asked.andNot(found)
      if (asked.isEmpty) this else changed(_.andNot(asked), assumed)
    }

  /** The files that this one keeps, and those that `before` does not keep either. */
  def orNot(before: SelectedFiles): SelectedFiles = changed(
    { own =>
      val out = new BitSet
      out.set(0, known.snapshot.files)
      out.andNot(before.keep)
      own.or(out)
    },
    assumed
  )

  def keepsAsMuchAs(other: SelectedFiles): Boolean = keep == other.keep

  private def changed(change: BitSet => Unit, assumed: Option[Array[InternalRow]]): SelectedFiles = {
    val own = keep.clone().asInstanceOf[BitSet]
    change(own)
    new SelectedFiles(known, own, assumed)
  }
}

private[skipping] object SelectedFiles {

  /**
   * The files that the bounds of columns do not rule out.
   *
   * @param relation that the files are read with: its schema says what a column is in a file that lacks it
   * @param partitions the values of each file's partition, by its ordinal
   */
  def apply(
      known: ListedOrdinals,
      predicate: StatsPredicate,
      relation: HadoopFsRelation,
      partitions: => Array[InternalRow]
  ): SelectedFiles = {
    val table = StatsWithDefaults.of(known.snapshot, relation.dataSchema)
    if (!ScanPredicates.isAboutPartitions(relation, predicate))
      new SelectedFiles(known, Evaluation.keep(predicate, table), None)
    else {
      val values = partitions
      val all = new StatsWithPartitions(table, relation.partitionSchema, values)
      new SelectedFiles(known, Evaluation.keep(predicate, all), Some(values))
    }
  }
}
