package org.sparkzorder

import org.apache.spark.sql.{classic, SparkSession}

import org.sparkzorder.insert.WriteOrderRule
import org.sparkzorder.skipping.SkippingStrategy
import org.sparkzorder.skipping.join.JoinPruningRule

/** A strategy and rules for which Spark has a place in a session, and none in an extension. */
private object SessionRules {

  /** Adds them once. A session that was copied from another one has them already. */
  def addTo(session: SparkSession): Unit = {
    val methods = session.asInstanceOf[classic.SparkSession].experimental
    // Before the strategies of extensions: Delta Lake has one that plans the scans of all files, whatever their format.
    if (!SkippingStrategy.isIn(session))
      methods.extraStrategies = methods.extraStrategies :+ SkippingStrategy
    // Last in the optimizer: Spark's rule about partitions leaves joins alone that have a filter of ours.
    // After Spark's rule for writes, whose sort is made longer.
    Seq(JoinPruningRule, WriteOrderRule).filterNot(methods.extraOptimizations.contains).foreach { rule =>
      methods.extraOptimizations = methods.extraOptimizations :+ rule
    }
  }
}
