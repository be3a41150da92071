package org.sparkzorder.skipping

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.predicate.{Evaluation, StatsPredicate}
import org.sparkzorder.table.RelativePath

/** Says of files whether they may hold a row that satisfies a predicate. Unseen or changed: yes. */
final class FileKeeper(names: RelativePath, snapshot: Option[IndexSnapshot], predicate: StatsPredicate) {

  private lazy val kept: Option[(IndexSnapshot, java.util.BitSet)] =
    snapshot.map(s => s -> Evaluation.keep(predicate, s))

  def keeps(file: FileStatus): Boolean = kept.forall { case (s, keep) =>
    !names.isBelow(file.getPath) || {
      val ordinal = s.ordinalOf(names.of(file.getPath), file.getLen, file.getModificationTime)
      ordinal < 0 || keep.get(ordinal)
    }
  }
}
