package org.sparkzorder.optimize.auto

import org.sparkzorder.indexing.TableIndex
import org.sparkzorder.layout.{JoinSpec, ValueDistribution}
import org.sparkzorder.optimize.join.DimensionJoin
import org.sparkzorder.predicate.Column
import org.sparkzorder.table.{PlainTable, TableSideFolder}
import org.sparkzorder.workload.{ColumnAxes, ConstrainedColumn, RankAxis}
import org.sparkzorder.write.KeyColumn

/**
 * Ranks the sampled values of keys as the queries' values were ranked when they were recorded.
 *
 * @param joins with the dimensions that have some of the keys
 */
private[auto] final class KeyAxes(table: PlainTable, joins: Seq[DimensionJoin]) {
  private lazy val index = TableIndex.of(table, TableSideFolder.of(table))

  /** The rank of each sampled value, by the statistics of its table. Without them the sample itself ranks them. */
  def ranks(key: KeyColumn, d: ValueDistribution): Array[Double] = axisOf(key) match {
    case Some(axis) => ConstrainedColumn.valuesOf(d).map(axis.rank).toArray
    case None       => Array.tabulate(d.distinct)(i => d.midCdf(2 * i + 2))
  }

  private def axisOf(key: KeyColumn): Option[RankAxis] =
    if (key.isOfFiles) index.flatMap(ColumnAxes.of(_, Column(key.path, key.dataType)))
    else
      joins.find(_.spec.has(key.path)).flatMap(_.statistics)
        .flatMap(ColumnAxes.of(_, Column(key.path.drop(JoinSpec.Before), key.dataType)))
}
