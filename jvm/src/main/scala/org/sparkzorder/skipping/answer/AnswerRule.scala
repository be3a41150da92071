package org.sparkzorder.skipping.answer

import scala.util.control.NonFatal

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, Subquery}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan, SparkStrategy}
import org.apache.spark.sql.zorder.SparkOwn.ConfigEntry

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.skipping.{AnsweredNode, AnsweredScan, SkippingErrors, SkippingReport, SkippingStrategy}

/** A rule that asks the index about whole files. If it cannot tell, or fails, the plan is Spark's own. */
abstract class AnswerRule(enabled: ConfigEntry[Boolean]) extends Rule[LogicalPlan] {

  final override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    // Spark makes a join of it, looks at it for what it gives without rows, and then optimizes it again.
    case s: Subquery if s.correlated                                              => plan
    case _ if !conf.getConf(ZOrderConf.skippingEnabled) || !conf.getConf(enabled) => plan
    // Only our strategy reads the chosen files as they were listed, and with all their rows.
    case _ if !SkippingStrategy.isIn(SparkSession.active) => plan
    case _ => plan.transformUp { case node => orSame(node)(answered(node, plan.isInstanceOf[Subquery])) }
  }

  /** What comes in place of a node, which may be a part of a scalar subquery or a similar one; None if it stays. */
  protected def answered(node: LogicalPlan, inSubquery: Boolean): Option[LogicalPlan]

  private def orSame(node: LogicalPlan)(made: => Option[LogicalPlan]): LogicalPlan =
    try made.getOrElse(node)
    catch {
      case NonFatal(e) =>
        val relations = node.collectLeaves().collect { case l: LogicalRelation => l.relation }
        SkippingErrors.warn(relations.collect { case r: HadoopFsRelation => r.location.rootPaths }.flatten, e)
        node
    }
}

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
