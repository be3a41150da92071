package org.sparkzorder.optimize

import org.sparkzorder.commit.Record
import org.sparkzorder.compat._
import org.sparkzorder.layout.LayoutSpec

/** The layout of the last OPTIMIZE of the whole table. One with a predicate says nothing of other partitions. */
private[sparkzorder] object LastLayout {

  /**
   * An OPTIMIZE takes the last layout unless it names another. So there is none before one that has none,
   * and the history need not be read further.
   *
   * @param history newest first
   */
  def of(history: Iterator[Record]): Option[LayoutSpec] =
    history.filter(_.isOfWholeTable).map(_.layout).takeWhile(_.isDefined).flatten.flatMap(LayoutSpec.parse)
      .nextOption()
}
