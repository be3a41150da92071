package org.sparkzorder.table

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{AnalysisException, Dataset, Row}
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{AttributeSet, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.types.{IntegerType, StructField, StructType}
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.shim.SparkShim.conditionOf
import org.sparkzorder.statement.Predicate

/** The WHERE of a statement, which chooses whole partitions. Spark itself evaluates it over the partitions' values. */
object PartitionPredicate {

  private val ordinal = "__zorder_folder"

  /**
   * The folders whose partition values satisfy the predicate.
   *
   * @throws org.apache.spark.sql.AnalysisException when it uses other columns than partition columns
   */
  def select(table: PlainTable, predicate: Predicate, folders: Seq[DataFolder]): Seq[DataFolder] = {
    check(table, predicate)
    val converter = CatalystTypeConverters.createToScalaConverter(table.partitionSchema)
    val rows = folders.zipWithIndex.map { case (folder, i) =>
      Row.fromSeq(converter(folder.values).asInstanceOf[Row].toSeq :+ i)
    }
    val schema = StructType(table.partitionSchema.fields :+ StructField(ordinal, IntegerType, nullable = false))
    val all = table.session.createDataFrame(rows.asJava, schema)
    val chosen = where(table, all.queryExecution.logical, predicate).select(ordinal).collect()
    chosen.map(_.getInt(0)).sorted.map(folders).toSeq
  }

  /** Refuses a predicate that uses other columns than partition columns. Touches no file. */
  def check(table: PlainTable, predicate: Predicate): Unit = {
    val text = predicate.text
    // Their own parameters and columns are not looked at.
    if (SubqueryExpression.hasSubquery(predicate.condition))
      throw ZOrderErrors.invalidWhere(text, "Subqueries are not supported.")
    val all = table.session.baseRelationToDataFrame(table.relation)
    val analyzed =
      try where(table, all.queryExecution.logical, predicate).queryExecution.analyzed
      catch {
        case e: AnalysisException if Option(conditionOf(e)).exists(_.startsWith("UNRESOLVED_COLUMN")) =>
          val name = UnresolvedAttribute.parseAttributeName(e.messageParameters.getOrElse("objectName", ""))
          throw ZOrderErrors.columnNotFound(name, table.relation.schema.fieldNames.toSeq.map(Seq(_)))
        case e: AnalysisException => throw ZOrderErrors.invalidWhere(text, firstLine(e))
      }
    val partitionColumns = table.partitionSchema.fieldNames.toSeq
    // Columns are compared by identity, since the predicate may spell a name in another case.
    val partition = AttributeSet(all.queryExecution.analyzed.output.filter(a => partitionColumns.contains(a.name)))
    analyzed.collect { case f: Filter => f.condition }.foreach { condition =>
      if (SubqueryExpression.hasSubquery(condition))
        throw ZOrderErrors.invalidWhere(text, "Subqueries are not supported.")
      if (!condition.deterministic) throw ZOrderErrors.invalidWhere(text, "It must be deterministic.")
      condition.references.find(!partition.contains(_)).foreach { column =>
        throw ZOrderErrors.whereOnDataColumn(column.name, partitionColumns)
      }
    }
  }

  /** Columns may be named with their table. */
  private def where(table: PlainTable, plan: LogicalPlan, predicate: Predicate): Dataset[Row] = SparkOwn.rows(
    table.session,
    Filter(predicate.condition, table.catalogTable.fold(plan)(t => SubqueryAlias(t.identifier.nameParts, plan)))
  )

  private def firstLine(e: Throwable): String =
    e.getMessage.linesIterator.map(_.trim).find(_.nonEmpty).getOrElse(e.getClass.getSimpleName)
}
