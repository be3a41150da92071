package org.sparkzorder.command

import org.sparkzorder.commit.Record
import org.sparkzorder.layout.LayoutSpec

/**
 * The size of files that a table's layout was asked for with. A statement that goes on with that layout and says no size
 * itself means files of the same size: else a nightly `OPTIMIZE t` would make files of the default size out of all
 * that a first statement has cut with `num-files`.
 */
private[command] object RememberedSize {

  /**
   * The options with that size where they say none.
   *
   * @param history newest first; read as far as the last operation with a layout
   */
  def of(asked: OptimizeOptions, layout: LayoutSpec, history: Iterator[Record]): OptimizeOptions =
    if (asked.saysSize) asked
    else history.find(_.layout.isDefined).filter(_.layout.contains(layout.json)).flatMap(sizeIn)
      .fold(asked)(asked.ofRememberedSize)

  /** Of a number of files, what they came to. */
  private def sizeIn(record: Record): Option[Long] = {
    val lengths = record.outputs.map(_.length)
    OptimizeOptions.targetFileSize(record.parameters).orElse(
      Option.when(OptimizeOptions.numFiles(record.parameters).isDefined && lengths.nonEmpty)(
        math.max(1L, lengths.sum / lengths.size)
      )
    )
  }
}
