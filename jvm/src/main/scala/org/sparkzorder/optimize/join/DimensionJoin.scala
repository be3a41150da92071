package org.sparkzorder.optimize.join

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, EqualTo, Expression}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinHint, LocalRelation}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.types.StructField

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.layout.JoinSpec
import org.sparkzorder.table.PlainTable
import org.sparkzorder.write.ColumnOf

/**
 * The join of a table with a dimension, by an equality as Spark understands it.
 *
 * @param input stands for the table's column
 * @param compared this column, cast to a type that both sides have
 * @param key the dimension's column, cast to the same type
 */
private[sparkzorder] final class DimensionJoin private (
    val spec: JoinSpec,
    private[optimize] val dimension: DimensionTable,
    private[join] val input: Attribute,
    private[join] val compared: Expression,
    private[join] val key: Expression
) {

  /** The statistics of the dimension's files; None if it has no skipping index. */
  lazy val statistics: Option[IndexSnapshot] = dimension.statistics
}

private[join] object DimensionJoin {

  /**
   * @param column fields from a column of the table down to the field of a struct
   * @param key the same of the dimension
   * @throws org.apache.spark.sql.AnalysisException when their values cannot be compared
   */
  def of(
      fact: PlainTable,
      dimension: DimensionTable,
      column: Seq[StructField],
      key: Seq[StructField]
  ): DimensionJoin = {
    val spec = JoinSpec(dimension.parts, column.map(_.name), key.map(_.name))
    val field = column.last
    val input = AttributeReference(field.name, field.dataType, nullable = true, field.metadata)()
    val equal = EqualTo(input, ColumnOf(dimension.plan.output, spec.key).get)
    val join = Join(LocalRelation(input), dimension.plan, LeftOuter, Some(equal), JoinHint.NONE)
    def incomparable = ZOrderErrors.joinCondition(
      dimension.parts,
      s"The column ${quoteNameParts(spec.column)} of type ${field.dataType.sql} cannot be compared with " +
        s"${quoteNameParts(spec.key)} of type ${key.last.dataType.sql}"
    )
    val analyzed =
      try {
        val query = fact.session.sessionState.executePlan(join)
        query.assertAnalyzed()
        query.analyzed
      } catch { case _: AnalysisException => throw incomparable }
    analyzed match {
      case Join(_, _, _, Some(EqualTo(compared, k)), _) => new DimensionJoin(spec, dimension, input, compared, k)
      case _                                            => throw incomparable
    }
  }
}
