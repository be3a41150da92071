package org.sparkzorder.optimize

import org.sparkzorder.commit.Record
import org.sparkzorder.compat._
import org.sparkzorder.layout.LayoutSpec

/** The layout of the table's last OPTIMIZE. */
private[sparkzorder] object LastLayout {

  /**
   * An OPTIMIZE takes the last layout unless it names another. So there is none before one that has none,
   * and the history need not be read further.
   *
   * @param history newest first
   */
  def of(history: Iterator[Record]): Option[LayoutSpec] =
    history.filter(_.operation == "OPTIMIZE").map(_.layout).takeWhile(_.isDefined).flatten.flatMap(LayoutSpec.parse)
      .nextOption()
}
