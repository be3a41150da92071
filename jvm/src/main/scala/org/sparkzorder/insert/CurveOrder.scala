package org.sparkzorder.insert

import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Sort}
import org.apache.spark.sql.types.StringType

import org.sparkzorder.functions.{OrderedBytes, ZValue}
import org.sparkzorder.indexing.TableIndex
import org.sparkzorder.layout._
import org.sparkzorder.optimize.options.OptionsOfTable
import org.sparkzorder.statement.TableTarget
import org.sparkzorder.stats.OrderedValue
import org.sparkzorder.table.{PlainTables, TableSideFolder}
import org.sparkzorder.write.rows.{BroadcastPlan, BytesKey, CurveValue, RowPlan}

/**
 * An order of rows: by the columns themselves, or by their value of a curve.
 *
 * @param by ascending
 */
private[insert] final case class CurveOrder(by: Seq[Expression]) {

  /** The plan with its rows sorted inside each task. The values to sort by are computed once for each row. */
  def sorted(before: Seq[SortOrder], input: LogicalPlan): LogicalPlan = {
    val aliases = by.zipWithIndex.collect { case (e, i) if !e.isInstanceOf[Attribute] => e -> Alias(e, s"order_$i")() }
    val order = by.map(e => aliases.find(_._1 eq e).fold(e)(_._2.toAttribute)).map(SortOrder(_, Ascending))
    Project(input.output, Sort(before ++ order, global = false, Project(input.output ++ aliases.map(_._2), input)))
  }
}

private[insert] object CurveOrder {

  /**
   * The order of a table's layout. The boundaries of the values are those of its last OPTIMIZE. A table without an index
   * has none, and its rows are sorted by the bits of their columns in turns. So no row is read for the order.
   *
   * @param output what is written, with the names of the table's columns
   * @param isNew whether the table is not there yet
   * @throws org.apache.spark.sql.AnalysisException when there is no layout, or its columns are not there or have no order
   */
  def of(session: SparkSession, table: CatalogTable, output: Seq[(Attribute, String)], isNew: Boolean): CurveOrder = {
    val layout = OptionsOfTable.layoutOf(table)
    val columns: AttributeSeq = output.map { case (a, name) => a.withName(name) }
    val keys = layout.columns.map(c => keyOf(session, c.parts, columns))
    if (LayoutShape(layout.curve, aligned = true).isSort(keys.length)) CurveOrder(keys)
    else {
      // A bucketed table is never clustered, so it has no boundaries.
      val frame =
        if (isNew || table.bucketSpec.isDefined) None else frameOf(session, table, layout.columns.map(_.parts), keys)
      val value = frame.fold[Expression] {
        // Bits of whole values are made faster. Strings are cut.
        if (keys.forall(k => OrderedBytes.width(k.dataType).exists(_ > 0))) new ZValue(keys).replacement
        else BytesKey(keys, BytesMapping.Default)
      } { frame =>
        val unit = new UnitLayout(frame.distributions, frame.curve, Cuts.at(Nil))
        val plan = new RowPlan(new LayoutModel(Array(unit), Array(0)))
        CurveValue(BroadcastPlan(session.sparkContext.broadcast(plan)), Literal(0), keys)
      }
      CurveOrder(Seq(value))
    }
  }

  private def keyOf(session: SparkSession, parts: Seq[String], columns: AttributeSeq): Expression = {
    val resolver = session.asInstanceOf[classic.SparkSession].sessionState.conf.resolver
    val found = columns.resolve(parts, resolver).map { case Alias(field, _) => field; case column => column }
      .getOrElse(throw new IllegalArgumentException(s"the table has no column ${parts.mkString(".")}"))
    found.dataType match {
      case s: StringType if s != StringType                => Cast(found, StringType)
      case other if OrderedValue.encoding(other).isDefined => found
      case other                                           =>
        throw new IllegalArgumentException(s"${parts.mkString(".")} has the type ${other.sql}, without an order")
    }
  }

  /** The boundaries of one of the table's files by these columns. */
  private def frameOf(
      session: SparkSession,
      table: CatalogTable,
      names: Seq[Seq[String]],
      keys: Seq[Expression]
  ): Option[CurveFrame] = {
    val resolver = session.asInstanceOf[classic.SparkSession].sessionState.conf.resolver
    def isOf(frame: CurveFrame) = frame.hasBoundaries && frame.columns.length == names.length &&
      frame.columns.indices.forall { i =>
        val key = frame.columns(i).key
        key.dataType == keys(i).dataType && key.path.length == names(i).length &&
        key.path.zip(names(i)).forall { case (one, other) => resolver(one, other) }
      }
    val location = PlainTables.locate(session, TableTarget(table.identifier.database.toSeq :+ table.identifier.table))
    TableIndex.of(location, TableSideFolder.of(location)).flatMap(_.intervals).flatMap(_.frames.filter(isOf).lastOption)
  }
}
