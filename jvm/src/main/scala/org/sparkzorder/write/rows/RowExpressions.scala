package org.sparkzorder.write.rows

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, LeafExpression, QuaternaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral, JavaCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, IntegerType, LongType, ObjectType}

import org.sparkzorder.layout.UnitLayout
import org.sparkzorder.stats.KeyEncoding

/**
 * A row's value of the curve, in the layout of the unit that the row's file belongs to. Never null.
 *
 * @param plan a [[RowPlan]]
 */
final case class CurveValue(plan: Expression, file: Expression, keys: Seq[Expression]) extends Expression {
  @transient private lazy val encodings = keys.map(k => new KeyEncoding(k.dataType)).toArray

  override def children: Seq[Expression] = plan +: file +: keys
  override def dataType: DataType = LongType
  override def nullable: Boolean = false
  override def foldable: Boolean = false

  override def eval(input: InternalRow): Any = {
    val unit = plan.eval(input).asInstanceOf[RowPlan].layout.ofFile(file.eval(input).asInstanceOf[Int])
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
    val rowPlan = plan.genCode(ctx)
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
        ${rowPlan.code}
        ${of.code}
        $unitClass $unit = ${rowPlan.value}.layout().ofFile(${of.value});
        long ${ev.value} = 0L;
        ${parts.mkString("\n")}
        ${ev.value} = $unit.value(${ev.value});""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): CurveValue =
    copy(newChildren(0), newChildren(1), newChildren.drop(2))
}

/**
 * The value to partition a row by, so that the row gets to its file's partition; see [[RowPlan.slotKey]]. Never null.
 *
 * @param plan a [[RowPlan]]
 */
final case class SlotKey(plan: Expression, file: Expression, z: Expression, tie: Expression)
    extends QuaternaryExpression {
  override def first: Expression = plan
  override def second: Expression = file
  override def third: Expression = z
  override def fourth: Expression = tie
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def foldable: Boolean = false

  override protected def nullSafeEval(plan: Any, file: Any, z: Any, tie: Any): Any =
    plan.asInstanceOf[RowPlan].slotKey(file.asInstanceOf[Int], z.asInstanceOf[Long], tie.asInstanceOf[Long])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, (plan, file, z, tie) => s"$plan.slotKey($file, $z, $tie)")

  override protected def withNewChildrenInternal(
      plan: Expression,
      file: Expression,
      z: Expression,
      tie: Expression
  ): SlotKey = copy(plan, file, z, tie)
}

/** The plan that the driver has made and broadcast. */
final case class BroadcastPlan(plan: Broadcast[RowPlan]) extends LeafExpression {
  override def dataType: DataType = ObjectType(classOf[RowPlan])
  override def nullable: Boolean = false
  override def foldable: Boolean = false

  override def eval(input: InternalRow): Any = plan.value

  /** A field of the generated class holds the plan, so it is fetched once a task instead of once a row. */
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val broadcast = ctx.addReferenceObj("rowPlan", plan, classOf[Broadcast[_]].getName)
    val planClass = classOf[RowPlan].getName
    val field =
      ctx.addMutableState(planClass, "rowPlan", f => s"$f = ($planClass) $broadcast.value();", forceInline = true)
    ExprCode(FalseLiteral, JavaCode.global(field, classOf[RowPlan]))
  }
}
