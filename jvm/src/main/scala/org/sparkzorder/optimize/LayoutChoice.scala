package org.sparkzorder.optimize

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.ObjectMapper

import org.sparkzorder.commit.Record
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.LayoutSpec
import org.sparkzorder.statement.{LayoutClause, WeightedColumn}
import org.sparkzorder.table.{KeyColumns, PlainTable}
import org.sparkzorder.write.KeyColumn

/** Which layout an OPTIMIZE is about: the one it names, else that of the table's last one, else Spark's CLUSTER BY, else none. */
private[sparkzorder] object LayoutChoice {

  private val clusteringProperty = "clusteringColumns"

  /**
   * @param history newest first
   * @param auto what AUTO has chosen, if the clause asks for it
   * @return the layout and its keys; None packs small files
   */
  def of(
      table: PlainTable,
      clause: Option[LayoutClause],
      options: OptimizeOptions,
      history: => Seq[Record],
      auto: Option[(LayoutSpec, Seq[KeyColumn])] = None
  ): Option[(LayoutSpec, Seq[KeyColumn])] = {
    val chosen = curveOf(table, clause, options.alignedCuts, history, auto)
    if (chosen.isEmpty) options.mapping.unused.foreach(o => throw ZOrderErrors.optionOfBytesMapping(o))
    chosen.map { case (spec, keys) => options.mapping.of(spec) -> keys }
  }

  /** Throws what can be told to be wrong without the history. */
  def check(table: PlainTable, clause: Option[LayoutClause], options: OptimizeOptions): Unit =
    clause match {
      case Some(LayoutClause.Auto) => ()
      case Some(_)                 => of(table, clause, options, Nil); ()
      case None                    => curveOf(table, clause, options.alignedCuts, Nil); ()
    }

  private def curveOf(
      table: PlainTable,
      clause: Option[LayoutClause],
      alignedCuts: Option[Boolean],
      history: => Seq[Record],
      auto: Option[(LayoutSpec, Seq[KeyColumn])] = None
  ): Option[(LayoutSpec, Seq[KeyColumn])] =
    clause match {
      case Some(LayoutClause.Auto)               => auto
      case Some(LayoutClause.By(curve, columns)) => Some(resolved(table, curve, columns, alignedCuts))
      case None                                  =>
        history.iterator.flatMap(_.layout).flatMap(LayoutSpec.parse).nextOption() match {
          case Some(spec) =>
            val wanted = alignedCuts.fold(spec)(aligned => spec.copy(cuts = cutsOf(aligned)))
            Some(wanted -> keys(table, wanted))
          case None => clusteredBy(table).map(columns => resolved(table, LayoutSpec.ZOrder, columns, alignedCuts))
        }
    }

  private def cutsOf(aligned: Boolean): String = if (aligned) LayoutSpec.AlignedCuts else LayoutSpec.EqualCuts

  private def resolved(
      table: PlainTable,
      curve: String,
      columns: Seq[WeightedColumn],
      alignedCuts: Option[Boolean]
  ): (LayoutSpec, Seq[KeyColumn]) = {
    if (curve == LayoutSpec.Order)
      columns.find(_.weight.isDefined).foreach(c => throw ZOrderErrors.weightInSort(c.parts))
    val weights = columns.map(weight)
    val paths = KeyColumns.resolveAll(table, columns.map(_.parts))
    if (columns.size > LayoutSpec.MostColumns)
      throw ZOrderErrors.tooManyColumns(columns.size, LayoutSpec.MostColumns)
    val spec =
      LayoutSpec(curve, LayoutSpec.RangeMapping, cutsOf(alignedCuts.getOrElse(true)), paths.map(_._1).zip(weights))
    spec -> paths.zip(weights).map { case ((path, dataType), w) => KeyColumn(path, dataType, w) }
  }

  private def keys(table: PlainTable, spec: LayoutSpec): Seq[KeyColumn] =
    KeyColumns.resolveAll(table, spec.columns.map(_._1)).zip(spec.columns).map { case ((path, dataType), (_, w)) =>
      KeyColumn(path, dataType, w)
    }

  private def weight(column: WeightedColumn): Double = column.weight.fold(1.0) { text =>
    text.toDoubleOption.filter(w => w > 0 && w <= 1e6).getOrElse(throw ZOrderErrors.invalidWeight(column.parts, text))
  }

  private def clusteredBy(table: PlainTable): Option[Seq[WeightedColumn]] =
    table.catalogTable.flatMap(_.properties.get(clusteringProperty)).flatMap { json =>
      try {
        val columns = new ObjectMapper().readTree(json).elements.asScala.map { c =>
          WeightedColumn(c.elements.asScala.map(_.asText).toSeq, None)
        }.toSeq
        if (columns.isEmpty || columns.exists(_.parts.isEmpty)) None else Some(columns)
      } catch { case _: JsonProcessingException => None }
    }
}
