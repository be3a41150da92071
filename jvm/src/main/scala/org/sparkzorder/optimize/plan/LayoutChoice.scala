package org.sparkzorder.optimize.plan

import org.apache.spark.sql.types.DataType

import org.sparkzorder.codec.Json
import org.sparkzorder.commit.Record
import org.sparkzorder.compat._
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.{JoinSpec, LayoutSpec}
import org.sparkzorder.optimize.{ChosenLayout, LastLayout}
import org.sparkzorder.optimize.join.JoinedTables
import org.sparkzorder.optimize.options.{OptimizeOptions, OptionsOfTable}
import org.sparkzorder.statement.{JoinClause, LayoutClause, WeightedColumn}
import org.sparkzorder.table.{KeyColumns, PlainTable}
import org.sparkzorder.write.KeyColumn

/**
 * Chooses the layout of an OPTIMIZE. If the statement names none, it is the layout of the table's
 * last OPTIMIZE. If there was none, it is the columns of Spark's CLUSTER BY.
 */
private[sparkzorder] object LayoutChoice {

  /** The table property in which Spark keeps the columns of CLUSTER BY. */
  private val clusteringProperty = "clusteringColumns"

  /**
   * @param history newest first
   * @param joins of the statement
   * @param auto the choice of AUTO, if the statement asks for it
   * @return None if small files are to be packed, without a layout
   */
  def of(
      table: PlainTable,
      clause: Option[LayoutClause],
      options: OptimizeOptions,
      history: => Seq[Record],
      joins: Seq[JoinClause] = Nil,
      auto: Option[ChosenLayout] = None
  ): Option[ChosenLayout] = {
    val chosen = withoutMapping(table, clause, options.alignedCuts, history, joins, auto)
    if (chosen.isEmpty) options.ofLayout.foreach(o => throw ZOrderErrors.optionOfLayout(o))
    chosen.map(c => c.copy(spec = options.mapping.of(c.spec)))
  }

  /** Throws an error if the layout is wrong, as far as this can be told without the history. */
  def check(
      table: PlainTable,
      clause: Option[LayoutClause],
      options: OptimizeOptions,
      joins: Seq[JoinClause]
  ): Unit = {
    val namesColumns = clause.exists(_.isInstanceOf[LayoutClause.By])
    joins.headOption.filterNot(_ => namesColumns).foreach(j => throw ZOrderErrors.joinWithoutLayout(j.dimension))
    clause match {
      case Some(LayoutClause.Auto) => ()
      case Some(_)                 => of(table, clause, options, Nil, joins); ()
      case None                    => withoutMapping(table, clause, options.alignedCuts, Nil); ()
    }
  }

  /**
   * The layout that an OPTIMIZE without any words takes. Its keys are those that the files have, and no dimension
   * is looked at, which may be gone.
   */
  def withoutDimensions(table: PlainTable, options: OptimizeOptions, history: => Seq[Record]): Option[ChosenLayout] =
    LastLayout.of(history.iterator).filter(_.joins.nonEmpty) match {
      case None       => of(table, None, options, history)
      case Some(last) =>
        val columns = last.columns.filterNot { case (path, _) => JoinSpec.isAttribute(path) }
        Some(ChosenLayout(last, keysOf(columns, KeyColumns.resolveAll(table, columns.map(_._1)))))
    }

  private def withoutMapping(
      table: PlainTable,
      clause: Option[LayoutClause],
      alignedCuts: Option[Boolean],
      history: => Seq[Record],
      joins: Seq[JoinClause] = Nil,
      auto: Option[ChosenLayout] = None
  ): Option[ChosenLayout] =
    clause match {
      case Some(LayoutClause.Auto)               => auto
      case Some(LayoutClause.By(curve, columns)) => Some(resolved(table, curve, columns, alignedCuts, joins))
      case None                                  =>
        lastLayout(table, alignedCuts, history)
          .orElse(OptionsOfTable.layout(table).map(by => resolved(table, by.curve, by.columns, alignedCuts)))
          .orElse(clusteredBy(table).map(columns => resolved(table, LayoutSpec.ZOrder, columns, alignedCuts)))
    }

  private def lastLayout(
      table: PlainTable,
      alignedCuts: Option[Boolean],
      history: => Seq[Record]
  ): Option[ChosenLayout] =
    LastLayout.of(history.iterator).map { last =>
      val spec = alignedCuts.fold(last)(aligned => last.copy(cuts = cutsOf(aligned)))
      val joined = JoinedTables.ofSpec(table, spec.joins)
      ChosenLayout(spec, keysOf(spec.columns, joined.known(spec.columns.map(_._1))), joined.joins)
    }

  private def keysOf(columns: Seq[(Seq[String], Double)], found: Seq[(Seq[String], DataType)]): Seq[KeyColumn] =
    found.zip(columns).map { case ((path, dataType), (_, w)) => KeyColumn(path, dataType, w) }

  private def cutsOf(aligned: Boolean): String = if (aligned) LayoutSpec.AlignedCuts else LayoutSpec.EqualCuts

  private def resolved(
      table: PlainTable,
      curve: String,
      columns: Seq[WeightedColumn],
      alignedCuts: Option[Boolean],
      joins: Seq[JoinClause] = Nil
  ): ChosenLayout = {
    if (curve == LayoutSpec.Order)
      columns.find(_.weight.isDefined).foreach(c => throw ZOrderErrors.weightInSort(c.parts))
    val weights = columns.map(weight)
    val joined = JoinedTables.of(table, joins)
    val paths = joined.resolveAll(columns.map(_.parts))
    if (columns.size > LayoutSpec.MostColumns)
      throw ZOrderErrors.tooManyColumns(columns.size, LayoutSpec.MostColumns)
    val cuts = cutsOf(alignedCuts.getOrElse(true))
    val weighted = paths.map(_._1).zip(weights)
    ChosenLayout(
      LayoutSpec(curve, LayoutSpec.RangeMapping, cuts, weighted, joins = joined.joins.map(_.spec)),
      keysOf(weighted, paths),
      joined.joins
    )
  }

  private def weight(column: WeightedColumn): Double = column.weight.fold(1.0) { text =>
    text.toDoubleOption.filter(w => w > 0 && w <= 1e6).getOrElse(throw ZOrderErrors.invalidWeight(column.parts, text))
  }

  private def clusteredBy(table: PlainTable): Option[Seq[WeightedColumn]] =
    table.catalogTable.flatMap(_.properties.get(clusteringProperty)).flatMap { json =>
      val columns = Json.parse(json).toSeq.flatMap(Json.elements).map(c => WeightedColumn(Json.texts(c), None))
      if (columns.isEmpty || columns.exists(_.parts.isEmpty)) None else Some(columns)
    }
}
