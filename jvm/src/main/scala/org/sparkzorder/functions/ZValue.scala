package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.expressions.{
  Coalesce,
  Expression,
  InheritAnalysisRules,
  Literal,
  RuntimeReplaceable
}

/**
 * The SQL function `zvalue`: the interleaved bits of the ordered bytes of its arguments. Null
 * counts as the smallest value of its type.
 *
 * @param columns the arguments
 */
final case class ZValue(columns: Seq[Expression], replacement: Expression)
    extends RuntimeReplaceable with InheritAnalysisRules {

  def this(columns: Seq[Expression]) = this(columns, InterleaveBits(columns.map(ZValue.orSmallest)))

  override def prettyName: String = "zvalue"

  override def parameters: Seq[Expression] = columns

  override protected def withNewChildInternal(newChild: Expression): ZValue = copy(replacement = newChild)
}

object ZValue {

  private def orSmallest(column: Expression): Expression = {
    val bytes = OrderedBytes(column)
    if (column.nullable) Coalesce(Seq(bytes, Literal(OrderedBytes.smallest(column.dataType)))) else bytes
  }
}
