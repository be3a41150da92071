package org.sparkzorder.optimize

import org.sparkzorder.commit.Record
import org.sparkzorder.layout.LayoutSpec

/**
 * The size, or the number, of files that a table's layout was asked for with. A statement that goes on with that layout
 * and says neither means the same: else a nightly `OPTIMIZE t` would make files of the default size out of all that a
 * first statement has cut with `num-files`.
 *
 * A number stays a number while the table grows. It is meant for the folders that the statement was about, so it counts for
 * statements with the same predicate.
 */
private[sparkzorder] object RememberedSize {

  /**
   * The options with that where they say none.
   *
   * @param predicate of the statement, empty for none
   * @param bytes of the folders that it is about
   * @param history newest first; read as far as the last operation with a layout
   */
  def of(
      asked: OptimizeOptions,
      layout: LayoutSpec,
      predicate: String,
      bytes: Long,
      history: Iterator[Record]
  ): OptimizeOptions =
    if (asked.saysSize) asked
    else
      history.find(_.layout.isDefined).filter(_.layout.contains(layout.json)).map(_.parameters).flatMap { last =>
        val number = OptimizeOptions.numFiles(last)
        def size = OptimizeOptions.targetFileSize(last).map(asked.ofRememberedSize)
        if (number.isEmpty) size
        else number.filter(_ => last.getOrElse("predicate", "") == predicate).map(asked.ofRememberedNumber(_, bytes))
      }.getOrElse(asked)
}
