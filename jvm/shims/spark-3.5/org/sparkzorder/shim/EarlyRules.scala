package org.sparkzorder.shim

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedWith}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Rules that see a plan before names are resolved. Spark 3.5 has no place for them. So they see what the parser made of a
 * text. Plans that were not parsed come to them while Spark resolves names, when hints are still in the plan.
 */
object EarlyRules {
  def inject(extensions: SparkSessionExtensions, rule: SparkSession => Rule[LogicalPlan]): Unit = {
    extensions.injectParser((session, next) => new RuleAfterParser(next, rule(session)))
    extensions.injectResolutionRule(rule(_))
  }

  private final class RuleAfterParser(val delegate: ParserInterface, rule: Rule[LogicalPlan]) extends ParserShim {
    override protected def parseOr(sql: String, next: String => LogicalPlan): LogicalPlan = everywhere(next(sql))

    /** With the queries of WITH and of expressions, which are no children of the plan. */
    private def everywhere(plan: LogicalPlan): LogicalPlan = rule(plan.resolveOperatorsUp { case node =>
      val named = node match {
        case w: UnresolvedWith =>
          w.copy(cteRelations = w.cteRelations.map { case (name, query) =>
            name -> query.copy(child = everywhere(query.child))
          })
        case other => other
      }
      named.transformExpressions { case query: SubqueryExpression => query.withNewPlan(everywhere(query.plan)) }
    })
  }
}
