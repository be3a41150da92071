package org.sparkzorder.optimize.auto

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.types.DataType

import org.sparkzorder.compat._
import org.sparkzorder.conf.ByteSizes
import org.sparkzorder.indexing.TableIndex
import org.sparkzorder.layout.{JoinSpec, ValueDistribution}
import org.sparkzorder.optimize.join.{DimensionJoin, DimensionRows, JoinedTables}
import org.sparkzorder.predicate.Column
import org.sparkzorder.stats.ColumnKey
import org.sparkzorder.table.{PlainTable, TableSideFolder}
import org.sparkzorder.workload.{ColumnAxes, ConstrainedColumn, RankAxis}
import org.sparkzorder.write.{Dimension, KeyColumn}

/**
 * The dimensions by whose attributes AUTO may lay out a table. One that cannot be joined is left out, and does not fail
 * the statement, which does not name it.
 *
 * @param opened joins as they were recorded, with the same as the table and the dimension have them now
 * @param leftOut the others, with the reasons
 */
private[auto] final class AutoDimensions private (
    table: PlainTable,
    opened: Map[JoinSpec, JoinSpec],
    joined: JoinedTables,
    leftOut: Seq[(JoinSpec, String)]
) {
  def has(recorded: JoinSpec): Boolean = opened.contains(recorded)

  def joins: Seq[DimensionJoin] = joined.joins

  /** The type of an attribute; None if no dimension has it, if its values have no order, or if it is excluded there. */
  def typeOf(path: Seq[String]): Option[DataType] =
    try
      joins.find(j => j.spec.has(path) && !j.dimension.isExcluded(path.drop(JoinSpec.Before)))
        .map(_ => joined.known(Seq(path)).head).collect { case (now, dataType) if now == path => dataType }
    catch { case _: AnalysisException => None }

  /** Reads the rows of the dimensions that have some of the keys. Those that cannot be read are left out as well. */
  def read(keys: Seq[KeyColumn]): (Seq[Dimension], AutoDimensions) = {
    val columns = keys.map(k => ColumnKey(k.path, k.dataType))
    val found = joins.filter(j => keys.exists(k => j.spec.has(k.path))).map { join =>
      try Right(DimensionRows.read(table, join, columns))
      catch { case e: AnalysisException => Left(join.spec -> AutoDimensions.reason(e)) }
    }
    val failed = found.flatMap(_.left.toOption)
    val unreadable = failed.map(_._1).toSet
    val rest = opened.filterNot { case (_, spec) => unreadable(spec) }
    (found.flatMap(_.toOption), AutoDimensions.ofOpened(table, rest, leftOut ++ failed))
  }

  /** What is left out and why, as further sentences without the last full stop; empty for nothing. */
  def leftOutText: String = leftOut
    .map { case (spec, why) => s". ${quoteNameParts(spec.dimension)} is left out. ${why.stripSuffix(".")}" }
    .distinct.mkString

  /** Tells also of attributes that were recorded, and can be no key now. */
  def without(attributes: Seq[Seq[String]]): AutoDimensions = {
    val lost = attributes.flatMap(path => joins.find(_.spec.has(path)).map(_.spec -> path.drop(JoinSpec.Before)))
    val told = lost.map { case (spec, column) =>
      spec -> s"It has no column ${quoteNameParts(column)} that can be a key, or the column is excluded."
    }
    new AutoDimensions(table, opened, joined, leftOut ++ told)
  }
}

private[auto] object AutoDimensions {

  /** @param specs the most important first. Of several with the same name, a layout has only one. No job runs */
  def of(table: PlainTable, specs: Seq[JoinSpec]): AutoDimensions = {
    val tried = specs.map(spec => spec -> open(table, spec))
    val usable = tried.collect { case (spec, Right(now)) => spec -> now }
    val named = usable.map(_._2).distinctBy(_.name.toLowerCase(java.util.Locale.ROOT)).toSet
    val (first, others) = usable.partition { case (_, now) => named(now) }
    val leftOut = tried.collect { case (spec, Left(why)) => spec -> why } ++ others.map(_._1 -> OfSameName)
    ofOpened(table, first.toMap, leftOut)
  }

  private val OfSameName = "A table of the same name is joined more often, or in another way."

  /** A layout reads all rows of a dimension. A table above this is a large one, which only a filter made small. */
  private val MostBytes = 1L << 30

  private def ofOpened(
      table: PlainTable,
      opened: Map[JoinSpec, JoinSpec],
      leftOut: Seq[(JoinSpec, String)]
  ): AutoDimensions = {
    val joined = JoinedTables.ofSpec(table, opened.values.toSeq.distinct.sortBy(_.toString))
    new AutoDimensions(table, opened, joined, leftOut)
  }

  private def open(table: PlainTable, spec: JoinSpec): Either[String, JoinSpec] =
    try {
      val join = JoinedTables.ofSpec(table, Seq(spec)).joins.head
      if (join.dimension.sizeInBytes(table.session) <= MostBytes) Right(join.spec)
      else Left(s"It has more than ${ByteSizes.rounded(MostBytes)}.")
    } catch { case e: AnalysisException => Left(reason(e)) }

  /** The sentences of an error, without the names of its condition and its state. */
  private def reason(e: AnalysisException): String =
    e.getMessage.linesIterator.next().replaceFirst("^\\[[^]]*\\] ", "").replaceFirst(" SQLSTATE: .*$", "")
}

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
