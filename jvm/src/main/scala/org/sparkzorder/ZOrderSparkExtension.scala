package org.sparkzorder

import org.apache.spark.metrics.source.ZOrderSource
import org.apache.spark.sql.SparkSessionExtensions

import org.sparkzorder.command.{ResolveDescribeSkippingIndex, ResolveShowOperations, StatementPlanner}
import org.sparkzorder.functions.{FunctionDescriptions, PreferUserFunctions}
import org.sparkzorder.insert.OwnOrder
import org.sparkzorder.parser.{ParameterizedStatement, ZOrderParser}
import org.sparkzorder.repartition.{CurveHints, ResolveRepartition}
import org.sparkzorder.scan.{HiveScans, RetryPathResolution, StaleOverwrites, V2Scans}
import org.sparkzorder.shim.EarlyRules
import org.sparkzorder.skipping.SkippingRule
import org.sparkzorder.skipping.answer.{AggregateRule, AnswerStrategy, TopKRule}
import org.sparkzorder.stream.StreamRule

/**
 * To be named last in `spark.sql.extensions`: the last extension's parser is asked first, and ours hands on what is not
 * ours. Delta Lake's takes OPTIMIZE of any table.
 */
class ZOrderSparkExtension extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    SparkVersionCheck.check()
    // Takes what we have a grammar for, and hands on all else.
    extensions.injectParser((session, next) => new ZOrderParser(session, next, StatementPlanner.plan(_, _)))

    // Before names are resolved. Spark would fail at a file of a path that was exchanged meanwhile.
    EarlyRules.inject(extensions, session => new RetryPathResolution(session))
    // Spark drops hints that it does not know at the end of this batch.
    EarlyRules.inject(extensions, _ => CurveHints)
    // Spark would take a name of ours for a function that is built in, and not look for a user's.
    EarlyRules.inject(extensions, session => new PreferUserFunctions(session))

    // With Spark's rules that resolve names. They run until nothing changes, so their order does not count.
    extensions.injectResolutionRule { session =>
      // Spark makes these rules once, for a session's first query or statement.
      SessionRules.addTo(session)
      ZOrderSource.register()
      // Parameters get their values in this batch.
      ParameterizedStatement.Bind
    }
    // Needs the types of the columns.
    extensions.injectResolutionRule(_ => ResolveRepartition)
    // These two become relations with columns, which the query around them asks for.
    extensions.injectResolutionRule(session => new ResolveDescribeSkippingIndex(session))
    extensions.injectResolutionRule(session => new ResolveShowOperations(session))
    extensions.injectResolutionRule(_ => StreamRule) // before Spark makes the source of a stream
    // When Spark has made a command of each INSERT, and before the optimizer changes its query.
    extensions.injectPostHocResolutionRule(_ => OwnOrder)
    // Refuses, before anything runs.
    extensions.injectCheckRule(session => new StaleOverwrites(session))

    // When filters are at the scans, and before joins are planned by the sizes of these. Each runs once, in this order.
    extensions.injectPreCBORule(session => new SkippingRule(session))
    // Of scans that only Hive's reader knows.
    extensions.injectPreCBORule(session => new HiveScans(session))
    // These two ask the indexes that SkippingRule gives to scans. A scan that one of them answers has another index.
    extensions.injectPreCBORule(_ => TopKRule)
    extensions.injectPreCBORule(_ => AggregateRule)

    // V2 scans do not exist before. The second one plans what AggregateRule has answered.
    extensions.injectPlannerStrategy(session => new V2Scans(session))
    extensions.injectPlannerStrategy(_ => AnswerStrategy)

    FunctionDescriptions.all.foreach(extensions.injectFunction)
  }
}
