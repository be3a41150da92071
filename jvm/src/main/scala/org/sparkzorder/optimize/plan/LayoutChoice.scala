package org.sparkzorder.optimize.plan

import org.apache.spark.sql.types.DataType

import org.sparkzorder.commit.Record
import org.sparkzorder.compat._
import org.sparkzorder.errors.{ZOrderAnalysisException, ZOrderErrors}
import org.sparkzorder.layout.{JoinSpec, LayoutSpec}
import org.sparkzorder.optimize.{ChosenLayout, LastLayout}
import org.sparkzorder.optimize.join.JoinedTables
import org.sparkzorder.optimize.options.{OptimizeOptions, OptionsOfTable}
import org.sparkzorder.statement.{JoinClause, LayoutClause, WeightedColumn}
import org.sparkzorder.table.{KeyColumns, PlainTable}
import org.sparkzorder.write.KeyColumn

/**
 * Chooses the layout of an OPTIMIZE. If the statement names none, it is the one that its partitions keep, else the one
 * that is declared for the table, by its property or by Spark's CLUSTER BY, else that of the last OPTIMIZE of the whole
 * table.
 */
private[sparkzorder] object LayoutChoice {

  /**
   * @param history newest first
   * @param joins of the statement
   * @param auto the choice of AUTO, if the statement asks for it
   * @param kept the layout that all partitions of the statement keep
   * @return None if small files are to be packed, without a layout
   */
  def of(
      table: PlainTable,
      clause: Option[LayoutClause],
      options: OptimizeOptions,
      history: => Seq[Record],
      joins: Seq[JoinClause] = Nil,
      auto: Option[ChosenLayout] = None,
      kept: => Option[LayoutSpec] = None
  ): Option[ChosenLayout] = {
    val chosen = clause match {
      case None => kept.map(ofSpec(table, options.alignedCuts, _)).orElse(ofTable(table, options.alignedCuts, history))
      case Some(LayoutClause.Auto)   => auto
      case Some(by: LayoutClause.By) => Some(resolved(table, by.curve, by.columns, options.alignedCuts, joins))
    }
    if (chosen.isEmpty) options.ofLayout.foreach(o => throw ZOrderErrors.optionOfLayout(o))
    chosen.map(c => c.copy(spec = options.mapping.of(c.spec)))
  }

  /** Throws an error if the layout is wrong, as far as this can be told without the history. */
  def check(table: PlainTable, clause: Option[LayoutClause], options: OptimizeOptions, joins: Seq[JoinClause]): Unit = {
    val namesColumns = clause.exists(_.isInstanceOf[LayoutClause.By])
    joins.headOption.filterNot(_ => namesColumns).foreach(j => throw ZOrderErrors.joinWithoutLayout(j.dimension))
    clause match {
      case Some(LayoutClause.Auto) => ()
      case Some(_)                 => of(table, clause, options, Nil, joins); ()
      case None                    => declared(table, options.alignedCuts); ()
    }
  }

  /**
   * The layout that an OPTIMIZE without any words takes. Its keys are those that the files have, and no dimension
   * is looked at, which may be gone.
   */
  def withoutDimensions(table: PlainTable, options: OptimizeOptions, history: => Seq[Record]): Option[ChosenLayout] =
    LastLayout.of(history.iterator).filter(_.joins.nonEmpty && declared(table, options.alignedCuts).isEmpty) match {
      case None       => of(table, None, options, history)
      case Some(last) =>
        val columns = last.columns.filterNot { case (path, _) => JoinSpec.isAttribute(path) }
        Some(ChosenLayout(last, keysOf(columns, KeyColumns.resolveAll(table, columns.map(_._1)))))
    }

  /** The table's layout. Of the declared one the last statement may have said more than its columns. */
  private def ofTable(
      table: PlainTable,
      alignedCuts: Option[Boolean],
      history: => Seq[Record]
  ): Option[ChosenLayout] = {
    val said = declared(table, alignedCuts).map(_.spec)
    val last = LastLayout.of(history.iterator)
    last.filter(l => said.forall(s => s.curve == l.curve && s.columns == l.columns)).orElse(said)
      .map(ofSpec(table, alignedCuts, _))
  }

  /** @throws org.apache.spark.sql.AnalysisException when a property names what cannot be a key */
  private def declared(table: PlainTable, alignedCuts: Option[Boolean]): Option[ChosenLayout] = {
    def of(property: String, curve: String, columns: Seq[WeightedColumn]) =
      try resolved(table, curve, columns, alignedCuts)
      catch {
        case e: ZOrderAnalysisException if e.condition == "ZORDER_COLUMN_NOT_FOUND" =>
          val text = OptionsOfTable.text(table, property)
          throw ZOrderErrors.invalidProperty(table.name, property, text, "a layout of the table's columns")
      }
    OptionsOfTable.layout(table).map(by => of(OptionsOfTable.layoutProperty, by.curve, by.columns))
      .orElse(table.catalogTable.flatMap(t => OptionsOfTable.clusteredBy(t.properties)).map(by =>
        of(OptionsOfTable.clusteringProperty, by.curve, by.columns)
      ))
  }

  private def ofSpec(table: PlainTable, alignedCuts: Option[Boolean], layout: LayoutSpec): ChosenLayout = {
    val spec = alignedCuts.fold(layout)(aligned => layout.copy(cuts = cutsOf(aligned)))
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
}
