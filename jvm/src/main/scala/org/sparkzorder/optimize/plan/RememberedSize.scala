package org.sparkzorder.optimize.plan

import org.sparkzorder.commit.Record
import org.sparkzorder.compat._
import org.sparkzorder.layout.LayoutSpec
import org.sparkzorder.optimize.options.OptimizeOptions

/**
 * Remembers the size, or the number, of files that an earlier statement with the same layout set, for one that sets
 * neither. Otherwise a nightly `OPTIMIZE t` would write files of the default size into a table whose first statement
 * had set `num-files`. A number is meant for the folders of its statement, so it counts only for the same predicate,
 * whatever came in between.
 */
private[sparkzorder] object RememberedSize {

  /**
   * The options, with the remembered size or number if they set neither.
   *
   * @param predicate the statement's predicate, empty if it has none
   * @param bytes of the folders that the statement is about
   * @param history newest first; no more of it is read than [[MostOperations]]
   */
  def of(
      asked: OptimizeOptions,
      layout: Option[LayoutSpec],
      predicate: String,
      bytes: Long,
      history: Iterator[Record]
  ): OptimizeOptions =
    if (asked.saysSize) asked
    else {
      val operations = LazyList.from(history.take(MostOperations))
        .filter(r => r.operation == "OPTIMIZE" && r.layout.isDefined == layout.isDefined)
      def isSamePredicate(record: Record) = record.parameters.getOrElse("predicate", "") == predicate
      operations.find(isSamePredicate).orElse(operations.headOption).filter(_.layout == layout.map(_.json)).flatMap {
        last =>
          val number = OptimizeOptions.numFiles(last.parameters)
          def size = OptimizeOptions.targetFileSize(last.parameters).map(asked.ofRememberedSize)
          if (number.isEmpty) size
          else number.filter(_ => isSamePredicate(last)).map(asked.ofRememberedNumber(_, bytes))
      }.getOrElse(asked)
    }

  /** How far back an operation with the same predicate is looked for. */
  private val MostOperations = 100
}
