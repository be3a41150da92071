package org.sparkzorder.skipping

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.planning.ScanOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.datasources.{FileSourceStrategy, LogicalRelation}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.memory.MemoryTables

/** Plans all scans of files, as Delta Lake's strategy does. */
class GreedyExtension extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = extensions.injectPlannerStrategy { _ =>
    new SparkStrategy {
      override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
        case ScanOperation(_, _, _, _: LogicalRelation) => FileSourceStrategy(plan)
        case _                                          => Nil
      }
    }
  }
}

class OtherStrategySuite extends AnyFunSuite with MemoryTables {

  override protected def settings: Map[String, String] = super.settings +
    ("spark.sql.extensions" -> "org.sparkzorder.skipping.GreedyExtension,org.sparkzorder.ZOrderSparkExtension")

  test("files are left out by bounds and by memory, though another extension plans all scans") {
    val path = withIndex(folder(), "id")
    assertReads(8, 1)(table(path).where("upper(name) = 'N250'"))
    for (session <- Seq(spark, spark.newSession()))
      assert(filesRead(session.read.parquet(path).where("id = 250")) == 1)
  }
}
