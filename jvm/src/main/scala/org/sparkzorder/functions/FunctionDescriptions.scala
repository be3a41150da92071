package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}

/** The SQL functions that the extension adds, each as `SparkSessionExtensions.injectFunction` takes it. */
object FunctionDescriptions {

  /** Name, description for `DESCRIBE FUNCTION EXTENDED`, and builder of each function. */
  val all: Seq[(FunctionIdentifier, ExpressionInfo, Seq[Expression] => Expression)] = Seq(
    describe(
      "interleave_bits",
      classOf[InterleaveBits],
      usage = "_FUNC_(binary, ...) - Returns the bits of its arguments in turns, from the most significant bit on. " +
        "An argument that has no bits left drops out of the turns. Returns NULL if any argument is NULL.",
      arguments = """
    Arguments:
      * binary - the bytes whose bits are interleaved; the first argument has the most significant bit
  """,
      examples = """
    Examples:
      > SELECT hex(_FUNC_(X'D6', X'61'));
       B629
      > SELECT hex(_FUNC_(X'FF', X'0000'));
       AAAA00
  """,
      build = InterleaveBits(_)
    )
  )

  private def describe(
      name: String,
      implementation: Class[_],
      usage: String,
      arguments: String,
      examples: String,
      build: Seq[Expression] => Expression
  ): (FunctionIdentifier, ExpressionInfo, Seq[Expression] => Expression) = {
    val info = new ExpressionInfo(
      implementation.getName,
      null,
      name,
      usage,
      arguments,
      examples,
      "",
      "misc_funcs",
      "0.1.0",
      "",
      "scala_udf"
    )
    (FunctionIdentifier(name), info, build)
  }
}
