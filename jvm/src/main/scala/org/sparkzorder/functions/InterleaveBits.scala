package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, ImplicitCastInputTypes}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{BinaryType, DataType}

/**
 * The bits of its inputs in turns, from the most significant on: the SQL function `interleave_bits`.
 * An input that has no bits left drops out of the turns. Null when any input is null.
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
    val inputs = ctx.freshName("inputs")
    val known = ctx.freshName("known")
    // A function for each few inputs where there are many, or the method would grow beyond what the JVM compiles.
    val fills = children.zipWithIndex.map { case (child, i) =>
      val code = child.genCode(ctx)
      s"""
         |if ($known) {
         |  ${code.code}
         |  if (${code.isNull}) {
         |    $known = false;
         |  } else {
         |    $inputs[$i] = ${code.value};
         |  }
         |}""".stripMargin
    }
    val filled = ctx.splitExpressionsWithCurrentInputs(
      expressions = fills,
      funcName = "interleaveInputs",
      extraArguments = Seq("byte[][]" -> inputs, "boolean" -> known),
      returnType = "boolean",
      makeSplitFunction = body => s"$body\nreturn $known;",
      foldFunctions = _.map(call => s"$known = $call;").mkString("\n")
    )
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

object InterleaveBits {

  /**
   * The inputs' bits in turns. 0xD6 and 0x61, in bits 11010110 and 01100001, give 1011011000101001, that is 0xB629.
   *
   * @param limit bytes of the result at most
   * @return as many bytes as the inputs have together
   * @throws ArithmeticException when these are more than an array can hold
   */
  def interleave(inputs: Array[Array[Byte]], limit: Int = Int.MaxValue): Array[Byte] = {
    var bytes = 0
    var longest = 0
    inputs.foreach { in =>
      bytes = Math.addExact(bytes, in.length)
      longest = math.max(longest, in.length)
    }
    val out = new Array[Byte](math.min(bytes, limit))
    val bits = out.length * 8L
    var at = 0L
    var byte = 0
    while (byte < longest && at < bits) {
      var bit = 7
      while (bit >= 0) {
        var i = 0
        while (i < inputs.length) {
          if (byte < inputs(i).length && at < bits) {
            val b = (inputs(i)(byte) >>> bit) & 1
            out((at >>> 3).toInt) = (out((at >>> 3).toInt) | (b << (7 - (at & 7).toInt))).toByte
            at += 1
          }
          i += 1
        }
        bit -= 1
      }
      byte += 1
    }
    out
  }
}
