package org.sparkzorder

import org.apache.spark.sql.SparkSessionExtensions

import org.sparkzorder.functions.FunctionDescriptions
import org.sparkzorder.parser.ZOrderParser
import org.sparkzorder.skipping.{SkippingRule, SkippingStrategy}

/**
 * To be named last in `spark.sql.extensions`: the last extension's parser is asked first, and ours hands on what is not ours.
 */
class ZOrderSparkExtension extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectParser((session, next) => new ZOrderParser(session, next))
    extensions.injectPreCBORule(session => new SkippingRule(session))
    extensions.injectPlannerStrategy(_ => SkippingStrategy)
    FunctionDescriptions.all.foreach(extensions.injectFunction)
  }
}
