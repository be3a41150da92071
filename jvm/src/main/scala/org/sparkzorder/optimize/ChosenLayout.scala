package org.sparkzorder.optimize

import java.util.Locale

import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIfNeeded

import org.sparkzorder.commit.Record
import org.sparkzorder.compat._
import org.sparkzorder.layout.{JoinSpec, LayoutSpec}
import org.sparkzorder.optimize.join.DimensionJoin
import org.sparkzorder.stats.ColumnKey
import org.sparkzorder.write.KeyColumn

/**
 * The layout that an OPTIMIZE writes, with its key columns as the table and its dimensions have them.
 *
 * @param joins with the dimensions that have some of the keys
 */
private[sparkzorder] final case class ChosenLayout(
    spec: LayoutSpec,
    keys: Seq[KeyColumn],
    joins: Seq[DimensionJoin] = Nil
) {

  def columns: IndexedSeq[ColumnKey] = ChosenLayout.columnsOf(keys)
}

private[sparkzorder] object ChosenLayout {

  def columnsOf(keys: Seq[KeyColumn]): IndexedSeq[ColumnKey] = keys.map(k => ColumnKey(k.path, k.dataType)).toIndexedSeq

  def ofFiles(keys: Seq[KeyColumn]): IndexedSeq[ColumnKey] = columnsOf(keys.filter(_.isOfFiles))

  def sql(spec: LayoutSpec): String = {
    val columns = spec.columns.map { case (path, w) => name(path) + (if (w == 1) "" else s" WEIGHT ${number(w)}") }
    (spec.joins.map(join) :+ s"${spec.curve.toUpperCase(Locale.ROOT)} BY ${columns.mkString("(", ", ", ")")}")
      .mkString(" ")
  }

  def join(spec: JoinSpec): String = s"JOIN ${name(spec.dimension)} ON ${name(spec.column)} = ${name(spec.key)}"

  def name(path: Seq[String]): String = JoinSpec.shown(path).map(quoteIfNeeded).mkString(".")

  private def number(w: Double): String = if (w == math.rint(w)) w.toLong.toString else w.toString
}

/** The layout of the last OPTIMIZE of the whole table. One with a predicate says nothing of other partitions. */
private[sparkzorder] object LastLayout {

  /**
   * An OPTIMIZE takes the last layout unless it names another. So there is none before one that has none,
   * and the history need not be read further.
   *
   * @param history newest first
   */
  def of(history: Iterator[Record]): Option[LayoutSpec] =
    history.filter(_.isOfWholeTable).map(_.layout).takeWhile(_.isDefined).flatten.flatMap(LayoutSpec.parse).nextOption()
}
