package org.sparkzorder.write

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, TernaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, IntegerType, LongType}

import org.sparkzorder.layout.UnitLayout

/** The value of the curve at a row's keys, in the layout of the unit that the row's file belongs to. Never null. */
final case class CurveValue(file: Expression, keys: Seq[Expression], plan: Broadcast[RowPlan]) extends Expression {
  @transient private lazy val layout = plan.value.layout
  @transient private lazy val encodings = keys.map(k => new KeyEncoding(k.dataType)).toArray

  override def children: Seq[Expression] = file +: keys
  override def dataType: DataType = LongType
  override def nullable: Boolean = false
  override def foldable: Boolean = false

  override def eval(input: InternalRow): Any = {
    val unit = layout.ofFile(file.eval(input).asInstanceOf[Int])
    var z = 0L
    var c = 0
    while (c < encodings.length) {
      val v = keys(c).eval(input)
      z |= (
        if (v == null) unit.partOfNull(c)
        else if (encodings(c).isLong) unit.part(c, encodings(c).long(v))
        else unit.part(c, encodings(c).bytes(v))
      )
      c += 1
    }
    unit.value(z)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val rowPlan = RowExpressions.planState(ctx, plan)
    val unit = ctx.freshName("unit")
    val unitClass = classOf[UnitLayout].getName
    val of = file.genCode(ctx)
    val parts = keys.zipWithIndex.map { case (key, c) =>
      val k = key.genCode(ctx)
      val part = s"$unit.part($c, ${encodings(c).code(ctx, k.value.toString)})"
      s"${k.code}\n${ev.value} |= ${k.isNull} ? $unit.partOfNull($c) : $part;"
    }
    ev.copy(
      code = code"""
        ${of.code}
        $unitClass $unit = $rowPlan.layout().ofFile(${of.value});
        long ${ev.value} = 0L;
        ${parts.mkString("\n")}
        ${ev.value} = $unit.value(${ev.value});""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): CurveValue =
    copy(file = newChildren.head, keys = newChildren.tail)
}

/** What to partition a row by so that it lands in its file's partition; see [[RowPlan.slotKey]]. Never null. */
final case class SlotKey(file: Expression, z: Expression, tie: Expression, plan: Broadcast[RowPlan])
    extends TernaryExpression {
  @transient private lazy val rowPlan = plan.value

  override def first: Expression = file
  override def second: Expression = z
  override def third: Expression = tie
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def foldable: Boolean = false

  override protected def nullSafeEval(file: Any, z: Any, tie: Any): Any =
    rowPlan.slotKey(file.asInstanceOf[Int], z.asInstanceOf[Long], tie.asInstanceOf[Long])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val state = RowExpressions.planState(ctx, plan)
    defineCodeGen(ctx, ev, (file, z, tie) => s"$state.slotKey($file, $z, $tie)")
  }

  override protected def withNewChildrenInternal(file: Expression, z: Expression, tie: Expression): SlotKey =
    copy(file = file, z = z, tie = tie)
}

private object RowExpressions {

  /** A field of the generated class that holds the plan, fetched once a task and not once a row. */
  def planState(ctx: CodegenContext, plan: Broadcast[RowPlan]): String = {
    val broadcast = ctx.addReferenceObj("rowPlan", plan, classOf[Broadcast[_]].getName)
    val planClass = classOf[RowPlan].getName
    ctx.addMutableState(planClass, "rowPlan", field => s"$field = ($planClass) $broadcast.value();", forceInline = true)
  }
}
