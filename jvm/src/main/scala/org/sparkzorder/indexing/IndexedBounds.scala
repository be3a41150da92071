package org.sparkzorder.indexing

import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.layout.FileBounds
import org.sparkzorder.stats.{ColumnKey, FileId}

/**
 * The bounds of the key columns, from the index alone. No other column is loaded, and a column that
 * the index lacks is unknown.
 */
private[sparkzorder] final class IndexedBounds(snapshot: => Option[IndexSnapshot], keys: IndexedSeq[ColumnKey]) {
  private lazy val index = snapshot

  def of(file: FileId): IndexedSeq[FileBounds] = {
    val known = index.map(s => (s, s.ordinalOf(file.path, file.length, file.modificationTime))).filter(_._2 >= 0)
    keys.map { key =>
      known.flatMap { case (s, ordinal) => s.columnStats(ordinal, key).map(FileBounds.of(_, s.rows(ordinal))) }
        .getOrElse(FileBounds.Unknown)
    }
  }
}
