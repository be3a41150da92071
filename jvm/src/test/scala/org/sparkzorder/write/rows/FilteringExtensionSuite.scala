package org.sparkzorder.write.rows

import java.io.File

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.expressions.{GreaterThanOrEqual, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.memory.MemoryTables

/** Puts a filter above each scan of a table with a column `filtered`, as extensions for rights do. */
class FilteringExtension extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit =
    extensions.injectOptimizerRule { session =>
      new Rule[LogicalPlan] {
        override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
          case l: LogicalRelation if l.getTagValue(FilteringExtension.Seen).isEmpty =>
            l.setTagValue(FilteringExtension.Seen, ())
            l.output.find(_.name == "filtered").fold[LogicalPlan](l) { column =>
              Filter(GreaterThanOrEqual(column, Literal(session.conf.get("test.least", "0").toLong)), l)
            }
        }
      }
    }
}

object FilteringExtension {
  private val Seen = TreeNodeTag[Unit]("test.filtered")
}

class FilteringExtensionSuite extends AnyFunSuite with MemoryTables {

  override protected def settings: Map[String, String] = super.settings +
    ("spark.sql.extensions" -> "org.sparkzorder.write.rows.FilteringExtension,org.sparkzorder.ZOrderSparkExtension")

  test("a filter of another extension that passes all rows changes no rewrite, and another one refuses it", InRest) {
    val path = new File(dir, "t").toString
    spark.range(0, 800, 1, 4).selectExpr("id AS filtered", "id % 7 AS k").write.parquet(path)
    def rows = spark.read.parquet(path).collect().map(_.toString).toSeq.sorted
    val before = rows
    val words = s"OPTIMIZE parquet.`$path` FULL ZORDER BY (k, filtered) OPTIONS ('num-files' = '3')"
    spark.sql(words)
    def files = spark.read.parquet(path).inputFiles.toSet
    assert(rows == before && files.size == 3)
    val written = files
    withSettings("test.least" -> "100") {
      val (error, kept) = (intercept[Exception](spark.sql(words)), files)
      assert(error.getMessage.contains("ZORDER_VERIFICATION_FAILED"), error.getMessage)
      assert(kept == written)
    }
    assert(rows == before)
  }
}
