package org.sparkzorder.optimize

import org.sparkzorder.layout.LayoutSpec
import org.sparkzorder.stats.ColumnKey
import org.sparkzorder.write.KeyColumn

/** The layout that an OPTIMIZE writes, with its key columns as the table has them. */
private[sparkzorder] final case class ChosenLayout(spec: LayoutSpec, keys: Seq[KeyColumn]) {

  def columns: IndexedSeq[ColumnKey] = ChosenLayout.columnsOf(keys)
}

private[sparkzorder] object ChosenLayout {

  def columnsOf(keys: Seq[KeyColumn]): IndexedSeq[ColumnKey] =
    keys.map(k => ColumnKey(k.path, k.dataType)).toIndexedSeq
}
