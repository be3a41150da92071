package org.sparkzorder.insert

import java.util.concurrent.atomic.AtomicLong

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.command.CreateDataSourceTableAsSelectCommand
import org.apache.spark.sql.execution.datasources.{InsertIntoHadoopFsRelationCommand, V1WriteCommand, WriteFiles}

/**
 * Sorts the rows that a statement writes to a table that asks for it (`docs/order-on-write.md`). Each task sorts its own
 * rows, without a shuffle.
 *
 * It is one of the optimizer's last rules. So it comes after Spark's rule for writes, and its order follows the one that
 * Spark needs: partition columns, bucket, and the bucket's sort columns. Spark puts no sort of its own above. Whatever
 * goes wrong here, the write goes on.
 */
object WriteOrderRule extends Rule[LogicalPlan] {

  /** How often a table was written in Spark's own order since ours failed, in this JVM. */
  private val failures = new AtomicLong
  def errors: Long = failures.get

  private val Done = TreeNodeTag[Unit]("zorder.write-order")

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    // It runs a write whose plan does not know the properties of a table that is new.
    case c: CreateDataSourceTableAsSelectCommand
        if !c.query.isInstanceOf[OrderedTable] && WriteOrder.of(c.table) == WriteOrder.Local =>
      c.copy(query = OrderedTable(c.table, c.query))
    // Spark calls its last rules until nothing changes.
    case i: InsertIntoHadoopFsRelationCommand if i.getTagValue(Done).isEmpty =>
      val table = i.query.collectFirst { case o: OrderedTable => o.table }.orElse(i.catalogTable)
      val own = i.transformUp { case o: OrderedTable => o.child }.asInstanceOf[InsertIntoHadoopFsRelationCommand]
      val after = table.filter(WriteOrder.of(_) == WriteOrder.Local).fold(own: LogicalPlan)(ordered(own, _))
      after.setTagValue(Done, ())
      after
    // FROM .. INSERT .. INSERT ..
    case u: Union => u.mapChildren(apply)
    case other    => other
  }

  private def ordered(command: InsertIntoHadoopFsRelationCommand, table: CatalogTable): LogicalPlan =
    try command.query match {
        case files: WriteFiles =>
          val (required, input) = withoutOrderOf(command, files)
          command.getTagValue(OwnOrder.Tag) match {
            case Some(what) =>
              leaveOut(table, s"the statement has $what of its own")
              command
            case None =>
              val output = input.output.zip(command.outputColumnNames)
              val curve = CurveOrder.of(SparkSession.active, table, output, isNew = command.catalogTable.isEmpty)
              command.withNewChildren(Seq(files.withNewChildren(Seq(curve.sorted(required, input)))))
          }
        case _ =>
          leaveOut(table, "spark.sql.optimizer.plannedWrite.enabled is false")
          command
      }
    catch {
      case NonFatal(e) =>
        logWarning(
          s"${table.identifier.quotedString} is written in Spark's own order, not in that of its properties",
          e
        )
        failures.incrementAndGet()
        command
    }

  /** The order that Spark's own writer needs, and the plan below a sort that Spark has made for it. */
  private def withoutOrderOf(command: V1WriteCommand, files: WriteFiles): (Seq[SortOrder], LogicalPlan) = {
    def needs(s: Sort) = s.order.nonEmpty && s.order.length == command.requiredOrdering.length && s.order
      .zip(command.requiredOrdering).forall { case (one, other) => one.child.semanticEquals(other.child) }
    files.child match {
      case s: Sort if !s.global && needs(s) => (s.order, s.child)
      // Spark has a writer for each partition, up to a number.
      case input => (files.partitionColumns.map((a: Attribute) => SortOrder(a, Ascending)), input)
    }
  }

  private def leaveOut(table: CatalogTable, why: String): Unit =
    logInfo(s"${table.identifier.quotedString} is not written in the order of its properties: $why")
}
