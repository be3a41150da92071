package org.sparkzorder

import org.apache.spark.metrics.source.ZOrderSource
import org.apache.spark.sql.SparkSessionExtensions

import org.sparkzorder.command.{ResolveDescribeSkippingIndex, ResolveShowOperations, StatementPlanner}
import org.sparkzorder.functions.{FunctionDescriptions, UsersFunctionsFirst}
import org.sparkzorder.parser.{ParameterizedStatement, ZOrderParser}
import org.sparkzorder.repartition.{CurveHints, ResolveRepartition}
import org.sparkzorder.scan.{HiveScans, RetryPathResolution, StaleOverwrites, V2Scans}
import org.sparkzorder.shim.EarlyRules
import org.sparkzorder.skipping.SkippingRule
import org.sparkzorder.skipping.answer.{AggregateRule, AnswerStrategy, LimitRule, TopKRule}
import org.sparkzorder.skipping.join.JoinPruningRule
import org.sparkzorder.stream.StreamRule

/**
 * To be named last in `spark.sql.extensions`: the last extension's parser is asked first, and ours hands on what is not
 * ours. Delta Lake's takes OPTIMIZE of any table.
 */
class ZOrderSparkExtension extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    SparkVersionCheck.check()
    extensions.injectParser((session, next) => new ZOrderParser(session, next, StatementPlanner.plan(_, _)))
    // Hints come before names are resolved.
    EarlyRules.inject(extensions, session => new RetryPathResolution(session))
    EarlyRules.inject(extensions, _ => CurveHints)
    EarlyRules.inject(extensions, session => new UsersFunctionsFirst(session))
    extensions.injectResolutionRule(_ => ParameterizedStatement.Bind)
    extensions.injectResolutionRule(_ => ResolveRepartition)
    extensions.injectResolutionRule(session => new ResolveDescribeSkippingIndex(session))
    extensions.injectResolutionRule(session => new ResolveShowOperations(session))
    extensions.injectResolutionRule(_ => StreamRule)
    extensions.injectPreCBORule { session =>
      // Built for a session's first query or statement: from then on there is a metrics system.
      ZOrderSource.register()
      new SkippingRule(session)
    }
    extensions.injectPreCBORule(session => new HiveScans(session))
    extensions.injectPreCBORule(_ => TopKRule)
    extensions.injectPreCBORule(_ => LimitRule)
    extensions.injectPreCBORule(_ => AggregateRule)
    extensions.injectCheckRule(session => new StaleOverwrites(session))
    extensions.injectCheckRule(session => _ => JoinPruningRule.install(session))
    extensions.injectPlannerStrategy(session => new V2Scans(session))
    extensions.injectPlannerStrategy(_ => AnswerStrategy)
    FunctionDescriptions.all.foreach(extensions.injectFunction)
  }
}
