package org.sparkzorder.parser

import org.apache.spark.sql.catalyst.analysis.Parameter
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.PARAMETER

import org.sparkzorder.statement.{OptimizeStatement, Predicate}

/**
 * A statement with parameters in its WHERE, such as `:day` or `?`. Spark's analyzer replaces them by
 * their values where its parser has not done so: before Spark 4.1, and for old settings later. An
 * unbound parameter stays, and Spark refuses it by its name.
 *
 * Only the parameters are expressions of this plan. Spark would look for the columns of the predicate
 * among the variables of the session.
 */
final case class ParameterizedStatement(values: Seq[Expression], statement: OptimizeStatement)(
    val plan: OptimizeStatement => LogicalPlan
) extends LeafNode {
  override def output: Seq[Attribute] = Nil
  override lazy val resolved: Boolean = false
  override protected def otherCopyArgs: Seq[AnyRef] = plan :: Nil
}

object ParameterizedStatement {

  /** The plan of a statement, at once or when its parameters have values. */
  def planned(statement: OptimizeStatement, plan: OptimizeStatement => LogicalPlan): LogicalPlan =
    statement.where.map(where => where -> parameters(where.condition)) match {
      case Some((where, Nil)) => plan(withCondition(statement, where, where.condition))
      case Some((_, found))   => ParameterizedStatement(found, statement)(plan)
      case None               => plan(statement)
    }

  private def parameters(condition: Expression): Seq[Parameter] = condition.collect { case p: Parameter => p }

  private def withCondition(statement: OptimizeStatement, where: Predicate, condition: Expression): OptimizeStatement =
    statement.copy(where = Some(PredicateParser.shown(where, condition)))

  /** Gives a statement its plan when all of its parameters have values. */
  object Bind extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
      case s: ParameterizedStatement if !s.values.exists(_.containsPattern(PARAMETER)) => s.plan(bound(s))
    }

    private def bound(s: ParameterizedStatement): OptimizeStatement = s.statement.where.fold(s.statement) { where =>
      val values = s.values.iterator
      withCondition(s.statement, where, where.condition.transform { case _: Parameter => values.next() })
    }
  }
}
