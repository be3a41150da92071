package org.sparkzorder.skipping

import java.util.BitSet

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.predicate.{Evaluation, StatsPredicate}
import org.sparkzorder.table.RelativePath

/** Says of files whether they may hold a row that satisfies a predicate. Unseen or changed: yes. */
final class FileKeeper(names: RelativePath, snapshot: Option[IndexSnapshot], predicate: StatsPredicate) {

  /** The files to keep by bounds alone, and by the curve's intervals as well. */
  private lazy val kept: Option[(IndexSnapshot, BitSet, BitSet)] = snapshot.map { s =>
    val byBounds = Evaluation.keep(predicate, s)
    val keep = byBounds.clone().asInstanceOf[BitSet]
    CurvePruning.leaveOut(keep, predicate, s)
    (s, byBounds, keep)
  }

  /** Whether the curve's intervals leave out files that the bounds keep. */
  def curveLeavesOut: Boolean = kept.exists { case (_, byBounds, keep) => byBounds != keep }

  def keeps(file: FileStatus): Boolean = kept.forall { case (s, _, keep) => holds(s, keep, file) }

  /** Whether the columns' bounds alone keep it. */
  def keepsByBounds(file: FileStatus): Boolean = kept.forall { case (s, byBounds, _) => holds(s, byBounds, file) }

  private def holds(s: IndexSnapshot, keep: BitSet, file: FileStatus): Boolean =
    !names.isBelow(file.getPath) || {
      val ordinal = s.ordinalOf(names.of(file.getPath), file.getLen, file.getModificationTime)
      ordinal < 0 || keep.get(ordinal)
    }
}
