package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{BinaryType, DataType}

/**
 * The SQL function `interleave_bits`: the bits of its inputs in turns, from the most significant bit on. An input that
 * has no bits left drops out of the turns. The result is null when any input is null.
 */
final case class InterleaveBits(children: Seq[Expression]) extends Expression with ImplicitCastInputTypes {
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = children.exists(_.nullable)
  override def foldable: Boolean = children.forall(_.foldable)
  override def prettyName: String = "interleave_bits"
  override def inputTypes: Seq[DataType] = children.map(_ => BinaryType)

  override def eval(input: InternalRow): Any = {
    val inputs = new Array[Array[Byte]](children.length)
    var i = 0
    var known = true
    while (known && i < inputs.length) {
      inputs(i) = children(i).eval(input).asInstanceOf[Array[Byte]]
      known = inputs(i) != null
      i += 1
    }
    if (known) InterleaveBits.interleave(inputs) else null
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val numbers = children.map(FixedInput.of)
    if (numbers.isEmpty || numbers.exists(_.isEmpty) || numbers.length > InterleaveTables.MAX_INPUTS)
      interleaveBytes(ctx, ev)
    else interleaveNumbers(ctx, ev, numbers.flatten)
  }

  /** For a few numbers. The code has no loop, and makes no array of the numbers. */
  private def interleaveNumbers(ctx: CodegenContext, ev: ExprCode, numbers: Seq[FixedInput]): ExprCode = {
    val known = ctx.freshName("known")
    val names = numbers.map(_ => ctx.freshName("number"))
    val fills = numbers.zip(names).map { case (number, name) =>
      val code = number.value.genCode(ctx)
      val filled = s"$name = ${number.leftAligned(code.value.code)};"
      s"""
         |long $name = 0L;
         |if ($known) {
         |  ${code.code}
         |  if (!${code.isNull}) $filled
         |  ${if (number.nullIsSmallest) "" else s"else $known = false;"}
         |}""".stripMargin
    }
    val interleaved = NumberInterleaver.unrolled(ctx, numbers.map(_.width))
    ev.copy(code = code"""
      boolean $known = true;
      ${fills.mkString}
      boolean ${ev.isNull} = !$known;
      byte[] ${ev.value} = $known ? $interleaved(${names.mkString(", ")}) : null;""")
  }

  private def interleaveBytes(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val inputs = ctx.freshName("inputs")
    val known = ctx.freshName("known")
    val filled =
      KnownInputs.code(ctx, children, known, Seq("byte[][]" -> inputs))((i, value) => s"$inputs[$i] = $value;")
    val self = InterleaveBits.getClass.getName.stripSuffix("$")
    ev.copy(code = code"""
      byte[][] $inputs = new byte[${children.length}][];
      boolean $known = true;
      $filled
      boolean ${ev.isNull} = !$known;
      byte[] ${ev.value} = $known ? $self.interleave($inputs, Integer.MAX_VALUE) : null;""")
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): InterleaveBits =
    copy(children = newChildren)
}

private[functions] object KnownInputs {

  /**
   * Generated code that puts inputs somewhere, unless one of them is null. It is split into several functions if it is
   * long: else the method could become too large for the JIT compiler.
   *
   * @param known the name of a variable that is false once an input was null
   * @param more types and names of other variables that the code needs
   * @param put code that puts an input, by its number and an expression of its value
   */
  def code(ctx: CodegenContext, inputs: Seq[Expression], known: String, more: Seq[(String, String)])(
      put: (Int, String) => String
  ): String = {
    val fills = inputs.zipWithIndex.map { case (input, i) =>
      val code = input.genCode(ctx)
      s"""
         |if ($known) {
         |  ${code.code}
         |  if (${code.isNull}) $known = false;
         |  else ${put(i, code.value.code)}
         |}""".stripMargin
    }
    ctx.splitExpressionsWithCurrentInputs(
      expressions = fills,
      funcName = "knownInputs",
      extraArguments = more :+ ("boolean" -> known),
      returnType = "boolean",
      makeSplitFunction = body => s"$body\nreturn $known;",
      foldFunctions = _.map(call => s"$known = $call;").mkString("\n")
    )
  }
}

object InterleaveBits {

  /**
   * The inputs' bits in turns. 0xD6 and 0x61, in bits 11010110 and 01100001, give 1011011000101001, that is 0xB629.
   *
   * @param limit the most bytes of the result
   * @return as many bytes as the inputs have together, or `limit`
   * @throws ArithmeticException when the inputs have more bytes than an array can hold
   */
  def interleave(inputs: Array[Array[Byte]], limit: Int = Int.MaxValue): Array[Byte] = {
    var bytes = 0
    var longest = 0
    inputs.foreach { in =>
      bytes = Math.addExact(bytes, in.length)
      longest = math.max(longest, in.length)
    }
    val out = new Array[Byte](math.min(bytes, limit))
    // Each round takes one byte of each input that still has one, and makes as many bytes of the result.
    val round = new Array[Int](inputs.length)
    var at = 0
    var byte = 0
    while (byte < longest && at < out.length) {
      var n = 0
      var i = 0
      while (i < inputs.length) {
        if (byte < inputs(i).length) {
          round(n) = inputs(i)(byte) & 0xff
          n += 1
        }
        i += 1
      }
      NumberInterleaver.round(round, n, out, at)
      at += n
      byte += 1
    }
    out
  }
}

/** An input of numbers of so many bytes. Null counts as the smallest value, or makes the result null. */
private[functions] final case class FixedInput(value: Expression, width: Int, nullIsSmallest: Boolean) {

  /** A Java expression of the number, from an expression of the value. */
  def leftAligned(code: String): String = OrderedLong.leftAligned(value.dataType, code).get
}

private[functions] object FixedInput {
  def of(input: Expression): Option[FixedInput] = input match {
    case OrderedBytes(value) => made(value, nullIsSmallest = false)
    case Coalesce(Seq(OrderedBytes(value), Literal(bytes: Array[Byte], BinaryType))) =>
      made(value, nullIsSmallest = true).filter(i => bytes.length == i.width && bytes.forall(_ == 0))
    case _ => None
  }

  private def made(value: Expression, nullIsSmallest: Boolean): Option[FixedInput] =
    OrderedLong.leftAligned(value.dataType, "").flatMap(_ => OrderedBytes.width(value.dataType))
      .map(FixedInput(value, _, nullIsSmallest))
}

/**
 * The SQL function `zvalue`: the interleaved bits of the ordered bytes of its arguments. Null counts as the smallest
 * value of its type.
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
