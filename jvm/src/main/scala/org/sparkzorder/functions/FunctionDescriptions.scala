package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier
import org.apache.spark.sql.AnalysisException

/** The SQL functions of the extension, in the form that `SparkSessionExtensions.injectFunction` needs. */
object FunctionDescriptions {

  /** For each function its name, its description for `DESCRIBE FUNCTION EXTENDED`, and its builder. */
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
      build = atLeast("interleave_bits", 1)(InterleaveBits(_))
    ),
    describe(
      "ordered_bytes",
      classOf[OrderedBytes],
      usage = "_FUNC_(expr) - Returns bytes whose unsigned order is the sort order of `expr`. Returns NULL for NULL, " +
        "which is sorted first.",
      arguments = """
    Arguments:
      * expr - an expression of an atomic type that can be ordered
  """,
      examples = """
    Examples:
      > SELECT hex(_FUNC_(1));
       80000001
      > SELECT hex(_FUNC_(-1.5D));
       4007FFFFFFFFFFFF
      > SELECT _FUNC_(-1) < _FUNC_(0);
       true
  """,
      build = exactly("ordered_bytes", 1)(children => OrderedBytes(children.head))
    ),
    describe(
      "zvalue",
      classOf[ZValue],
      usage =
        "_FUNC_(expr, ...) - Returns the interleaved bits of the ordered bytes of its arguments, by which rows are " +
          "sorted in Z-order. NULL counts as the smallest value of its type.",
      arguments = """
    Arguments:
      * expr - an expression of an atomic type that can be ordered; the first argument has the most significant bit
  """,
      examples = """
    Examples:
      > SELECT hex(_FUNC_(1Y, 2Y));
       C006
  """,
      build = atLeast("zvalue", 1)(new ZValue(_))
    ),
    describe(
      "hilbert_value",
      classOf[HilbertValue],
      usage =
        "_FUNC_(bits, id, ...) - Returns the position of a point on the Hilbert curve. Returns NULL if any id is NULL.",
      arguments = """
    Arguments:
      * bits - how many of the lowest bits of each id count, a constant; bits times ids is at most 63
      * id - a coordinate of the point
  """,
      examples = """
    Examples:
      > SELECT _FUNC_(2, 3, 0);
       15
  """,
      build = atLeast("hilbert_value", 2)(HilbertValue(_))
    ),
    describe(
      "range_id",
      classOf[RangeId],
      usage = "_FUNC_(expr, bounds) - Returns how many of the bounds are smaller than `expr`, 0 for NULL.",
      arguments = """
    Arguments:
      * expr - an expression of an atomic type that can be ordered
      * bounds - a constant array of the same type in ascending order
  """,
      examples = """
    Examples:
      > SELECT _FUNC_(15, array(10, 20, 30));
       1
  """,
      build = exactly("range_id", 2)(children => RangeId(children.head, children.last))
    )
  )

  private type Build = Seq[Expression] => Expression

  private def exactly(name: String, expected: Int)(build: Build): Build =
    children => if (children.length == expected) build(children) else wrongNumber(name, s"$expected", children.length)

  private def atLeast(name: String, least: Int)(build: Build): Build =
    children => if (children.length >= least) build(children) else wrongNumber(name, s"> ${least - 1}", children.length)

  private def wrongNumber(name: String, expected: String, actual: Int): Nothing = throw new AnalysisException(
    "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
    Map(
      "functionName" -> quoteIdentifier(name),
      "expectedNum" -> expected,
      "actualNum" -> actual.toString,
      "docroot" -> "https://spark.apache.org/docs/latest"
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
