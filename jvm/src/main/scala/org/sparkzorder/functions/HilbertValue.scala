package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.{Expression, ImplicitCastInputTypes}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, IntegerType, LongType}

import org.sparkzorder.layout.HilbertCurve

/**
 * The SQL function `hilbert_value(bits, id, ..)`: the position of a point on the Hilbert curve of [[HilbertCurve]], as
 * a BIGINT from 0 until 2^(bits * ids). Only the lowest bits of an id count. The result is null when any id is null.
 *
 * @param children the number of bits, a constant, then the ids
 */
final case class HilbertValue(children: Seq[Expression]) extends Expression with ImplicitCastInputTypes {
  private def ids: Seq[Expression] = children.drop(1)
  private lazy val bits = children.head.eval().asInstanceOf[Int]

  override def dataType: DataType = LongType
  override def nullable: Boolean = ids.exists(_.nullable)
  override def foldable: Boolean = children.forall(_.foldable)
  override def prettyName: String = "hilbert_value"
  override def inputTypes: Seq[DataType] = IntegerType +: ids.map(_ => LongType)

  override def checkInputDataTypes(): TypeCheckResult = {
    val types = super.checkInputDataTypes()
    val most = HilbertValue.MaxBits / math.max(1, ids.length)
    if (types.isFailure) types
    else if (ids.isEmpty) WrongArgument.because("It takes at least one id")
    else if (most == 0) WrongArgument.because(s"It takes at most ${HilbertValue.MaxBits} ids")
    else if (!children.head.foldable) WrongArgument.notConstant("bits", children.head)
    else if (children.head.eval() == null) WrongArgument.isNull("bits")
    else if (bits < 1 || bits > most) WrongArgument.outOfRange("bits", 1, most, children.head)
    else TypeCheckResult.TypeCheckSuccess
  }

  override def eval(input: InternalRow): Any = {
    val axes = new Array[Long](ids.length)
    var i = 0
    var known = true
    while (known && i < axes.length) {
      val id = ids(i).eval(input)
      if (id == null) known = false else axes(i) = id.asInstanceOf[Long] & ((1L << bits) - 1)
      i += 1
    }
    if (known) HilbertValue.place(axes, bits) else null
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val axes = ctx.addMutableState("long[]", "axes", field => s"$field = new long[${ids.length}];", forceInline = true)
    val known = ctx.freshName("known")
    val filled = KnownInputs.code(ctx, ids, known, Nil)((i, id) => s"$axes[$i] = $id & ${(1L << bits) - 1}L;")
    val own = HilbertValue.getClass.getName.stripSuffix("$")
    ev.copy(code = code"""
      boolean $known = true;
      $filled
      boolean ${ev.isNull} = !$known;
      long ${ev.value} = $known ? $own.place($axes, $bits) : 0L;""")
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): HilbertValue = copy(newChildren)
}

object HilbertValue {

  /** The most bits of a value: it is a BIGINT and not negative. */
  val MaxBits = 63

  /**
   * The same as [[HilbertCurve.value]], under a name that generated code can call. It could not call `value`: the class
   * HilbertCurve has a method of this name, so Scala makes no static one for the object.
   */
  def place(axes: Array[Long], bits: Int): Long = HilbertCurve.value(axes, bits)
}
