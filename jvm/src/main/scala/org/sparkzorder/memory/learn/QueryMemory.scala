package org.sparkzorder.memory.learn

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

import org.sparkzorder.memory.{FilterKey, ReaderSettings, RememberedFiles}

/**
 * What the memory says to one query. The first answer holds for all of its scans, so that scans with the same filter
 * read the same files, and Spark can reuse their exchanges. Other queries may teach meanwhile.
 */
private[sparkzorder] final class QueryMemory {
  private val answers = new ConcurrentHashMap[FilterKey, Option[RememberedFiles]]

  /**
   * The files that are known to hold no row of a scan.
   *
   * @param conjuncts of its filter that can be evaluated now, but for those about partitions alone
   */
  def filesWithout(
      l: LogicalRelation,
      relation: HadoopFsRelation,
      conjuncts: Seq[Expression]
  ): Option[RememberedFiles] =
    if (conjuncts.isEmpty || !MemoryPlanning.knows(l, relation)) None
    else
      FilterKey.known(l, relation, conjuncts).flatMap { filter =>
        def now = ReaderSettings.of(relation).contains(filter.settings)
        answers.computeIfAbsent(filter, PendingScans.filesWithout(_, () => now))
      }
}
