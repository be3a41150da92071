package org.sparkzorder.workload

import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.layout.JoinSpec
import org.sparkzorder.predicate.StatsPredicate

/**
 * The filter of a dimension that a query joins with a table. By its attributes a layout can place the table's rows.
 *
 * @param filter over the dimension's columns
 * @param statistics of the dimension, which rank the values; None if it has no index
 * @param isExcluded whether nothing may be recorded about a column of the dimension
 */
final case class JoinedFilter(
    join: JoinSpec,
    filter: StatsPredicate,
    statistics: Option[IndexSnapshot],
    isExcluded: Seq[String] => Boolean
)
