package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{DataTypeMismatch, TypeCheckFailure}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.util.toPrettySQL
import org.apache.spark.sql.types.DataType

/** What is wrong with an argument of a function, in the words of Spark's own functions. */
private[functions] object WrongArgument {

  /** The types of values that have an order, as an error lists them. */
  val OrderedTypes: String =
    Seq("NUMERIC", "STRING", "BINARY", "BOOLEAN", "DATE", "TIME", "TIMESTAMP", "INTERVAL")
      .map(quoted)
      .mkString("(", " or ", ")")

  def nameOf(dataType: DataType): String = quoted(dataType.sql)

  /**
   * @param place such as `first`
   * @param required the types that the argument may have
   */
  def hasType(place: String, required: String, argument: Expression): TypeCheckResult = DataTypeMismatch(
    "UNEXPECTED_INPUT_TYPE",
    Map(
      "paramIndex" -> place,
      "requiredType" -> required,
      "inputSql" -> sql(argument),
      "inputType" -> nameOf(argument.dataType)
    )
  )

  def notConstant(name: String, argument: Expression): TypeCheckResult = DataTypeMismatch(
    "NON_FOLDABLE_INPUT",
    Map("inputName" -> quoted(name), "inputType" -> nameOf(argument.dataType), "inputExpr" -> sql(argument))
  )

  def isNull(name: String): TypeCheckResult = DataTypeMismatch("UNEXPECTED_NULL", Map("exprName" -> name))

  def outOfRange(name: String, least: Int, most: Int, argument: Expression): TypeCheckResult = DataTypeMismatch(
    "VALUE_OUT_OF_RANGE",
    Map("exprName" -> name, "valueRange" -> s"[$least, $most]", "currentValue" -> sql(argument))
  )

  /** @param sentence a whole one. Spark's message adds the full stop. */
  def because(sentence: String): TypeCheckResult = TypeCheckFailure(sentence)

  private def sql(argument: Expression): String = quoted(toPrettySQL(argument))

  private def quoted(text: String): String = "\"" + text + "\""
}
