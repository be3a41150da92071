package org.sparkzorder.skipping

import java.util.BitSet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.HadoopFsRelation

import org.sparkzorder.memory.RememberedFiles
import org.sparkzorder.predicate.{Const, Evaluation, MembershipEvaluation, StatsPredicate}
import org.sparkzorder.stats.{StatsTable, StatsWithDefaults, StatsWithPartitions}

/** Files that may hold a row of a query: those that all indexes keep, and in which no earlier query found no row. */
private[skipping] final case class Selection(byIndex: Seq[SelectedFiles], memory: Option[RememberedFiles] = None) {

  def and(other: Selection): Selection = zipped(other)(_ and _)

  /** The files that this one keeps, and those that `before` does not keep either. */
  def orNot(before: Selection): Selection = zipped(before)(_ orNot _)

  private def zipped(other: Selection)(both: (SelectedFiles, SelectedFiles) => SelectedFiles): Selection =
    copy(byIndex = byIndex.zip(other.byIndex).map(both.tupled))
}

/**
 * The files of one index that may hold a row for which predicates are true. Files that the index does not know are
 * kept. Two are equal if they keep the same.
 *
 * @param keep bits of these files, by their ordinals in the index
 * @param assumed the values of each file's partition, if a predicate is about partition columns; null where they were
 *   not known
 */
private[skipping] final class SelectedFiles(
    val known: FileOrdinals,
    private val keep: BitSet,
    private val assumed: Option[Array[InternalRow]]
) {

  /**
   * Clears the bits of a directory's files that cannot match.
   *
   * @param values of the directory's partition: a catalog may have given it others meanwhile
   */
  def leaveOut(places: BitSet, directory: FilesWithOrdinals, values: InternalRow): Unit = {
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

  def orNot(before: SelectedFiles): SelectedFiles = changed { own =>
    val out = before.keep.clone().asInstanceOf[BitSet]
    out.flip(0, known.snapshot.files)
    own.or(out)
  }

  def byCurve(predicate: StatsPredicate, relation: HadoopFsRelation): SelectedFiles =
    changed(CurvePruning.leaveOut(_, predicate, known.snapshot, relation.partitionSchema.fieldNames.toSet))

  /** @param listed the ordinals of the files that are asked for */
  def byValues(predicate: StatsPredicate, relation: HadoopFsRelation, listed: BitSet): SelectedFiles =
    if (known.snapshot.memberColumns.isEmpty) this
    else {
      val asked = listed.clone().asInstanceOf[BitSet]
      asked.and(keep)
      val ofFiles = StatsWithDefaults.of(known.snapshot, relation.dataSchema)
      val table = assumed.fold[StatsTable](ofFiles)(new StatsWithPartitions(ofFiles, relation.partitionSchema, _))
      asked.andNot(MembershipEvaluation.keep(predicate, table, asked))
      changed(_.andNot(asked))
    }

  private def changed(change: BitSet => Unit, assumed: Option[Array[InternalRow]] = assumed): SelectedFiles = {
    val own = keep.clone().asInstanceOf[BitSet]
    change(own)
    new SelectedFiles(known, own, assumed)
  }

  override def equals(other: Any): Boolean = other match {
    case that: SelectedFiles => keep == that.keep
    case _                   => false
  }
  override def hashCode: Int = keep.hashCode
}

private[skipping] object SelectedFiles {

  /**
   * The files that the bounds of columns do not rule out.
   *
   * @param relation that the files are read with: its schema says what a column is in a file that lacks it
   * @param partitions the values of each file's partition, by its ordinal
   */
  def apply(
      known: FileOrdinals,
      conjuncts: Seq[StatsPredicate],
      relation: HadoopFsRelation,
      partitions: => Array[InternalRow]
  ): SelectedFiles = {
    val ofFiles = StatsWithDefaults.of(known.snapshot, relation.dataSchema)
    val assumed = if (conjuncts.exists(ScanPredicates.isAboutPartitions(relation, _))) Some(partitions) else None
    val table = assumed.fold[StatsTable](ofFiles)(new StatsWithPartitions(ofFiles, relation.partitionSchema, _))
    // Without a condition as well, files without rows are left out.
    val keep = Evaluation.keep(conjuncts.headOption.getOrElse(Const.True), table)
    conjuncts.drop(1).foreach(p => if (!keep.isEmpty) keep.and(Evaluation.keep(p, table)))
    new SelectedFiles(known, keep, assumed)
  }
}
