package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateMutableProjection
import org.apache.spark.sql.types.DataType
import org.scalatest.Assertions

/** Evaluates an expression interpreted and by generated code. Both must give the same. */
private object BothWays extends Assertions {
  def input(ordinal: Int, dataType: DataType): Expression = BoundReference(ordinal, dataType, nullable = true)

  def apply(e: Expression, values: Any*): Any = {
    assert(e.checkInputDataTypes().isSuccess, e)
    val row = InternalRow.fromSeq(values)
    val interpreted = e.eval(row)
    val generated = GenerateMutableProjection.generate(Seq(e)).apply(row).get(0, e.dataType)
    assert(shown(interpreted) == shown(generated), s"$e of $values")
    interpreted
  }

  /** A form in which byte arrays are compared by their bytes. */
  def shown(value: Any): Any = value match {
    case bytes: Array[Byte] => bytes.toSeq
    case other              => other
  }
}
