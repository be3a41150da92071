package org.sparkzorder.skipping.answer

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan, SparkStrategy}

import org.sparkzorder.skipping.{AnsweredNode, AnsweredScan, SkippingReport}

/** Rows that the index has answered. Like Spark's scan of local rows it runs no job if nothing is above it. */
final case class IndexAnswerExec(
    output: Seq[Attribute],
    @transient rows: Seq[InternalRow],
    @transient answered: AnsweredScan
) extends LeafExecNode
    with AnsweredNode {

  @transient private lazy val unsafe: Array[InternalRow] = {
    val projection = UnsafeProjection.create(output, output)
    rows.map(r => projection(r).copy(): InternalRow).toArray
  }

  override protected def doExecute(): RDD[InternalRow] = sparkContext.parallelize(unsafe.toSeq, 1)
  override def executeCollect(): Array[InternalRow] = unsafe
  override def executeTake(limit: Int): Array[InternalRow] = unsafe.take(limit)
  override def executeTail(limit: Int): Array[InternalRow] = unsafe.takeRight(limit)
  // Two equal answers need not have been found in the same way.
  override protected def doCanonicalize(): SparkPlan = super.doCanonicalize() match {
    case exec: IndexAnswerExec => exec.copy(answered = answered.copy(report = SkippingReport.none))
    case other                 => other
  }

  override def simpleString(maxFields: Int): String =
    s"$nodeName ${output.mkString("[", ", ", "]")} Skipping: ${answered.report.text}"
}

/** Plans the rows that the index has answered. */
object AnswerStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case local: LocalRelation =>
      local.getTagValue(AnsweredScan.Tag).map(IndexAnswerExec(local.output, local.data, _)).toSeq
    case _ => Nil
  }
}
