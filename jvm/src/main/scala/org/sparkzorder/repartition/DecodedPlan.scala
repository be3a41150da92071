package org.sparkzorder.repartition

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral, JavaCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, ObjectType}

import org.sparkzorder.write.rows.RowPlan

/** The [[RowPlan]] that a subquery returns as bytes. Never null. */
final case class DecodedPlan(child: Expression) extends UnaryExpression {
  @transient private var decoded: RowPlan = _

  override def dataType: DataType = ObjectType(classOf[RowPlan])
  override def nullable: Boolean = false
  override def foldable: Boolean = false

  override def eval(input: InternalRow): Any = {
    if (decoded == null) decoded = PlanBytes.plan(child.eval(input).asInstanceOf[Array[Byte]])
    decoded
  }

  /**
   * A field of the generated class keeps the plan, so that it is decoded once in a task, not once
   * for each row.
   */
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val bytes = child.genCode(ctx)
    val field = ctx.addMutableState(classOf[RowPlan].getName, "rowPlan", forceInline = true)
    ExprCode(
      code"""
        if ($field == null) {
          ${bytes.code}
          $field = ${PlanBytes.getClass.getName.stripSuffix("$")}.plan(${bytes.value});
        }""",
      FalseLiteral,
      JavaCode.global(field, classOf[RowPlan])
    )
  }

  override protected def withNewChildInternal(newChild: Expression): DecodedPlan = copy(newChild)
}
