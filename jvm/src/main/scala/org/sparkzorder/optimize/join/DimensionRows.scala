package org.sparkzorder.optimize.join

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{Count, Min}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.JoinSpec
import org.sparkzorder.stats.ColumnKey
import org.sparkzorder.table.{NamedJobs, PlainTable}
import org.sparkzorder.write.{ColumnOf, Dimension}

/**
 * Reads the rows of a dimension, once for all jobs of a statement. Spark keeps what was read, as a local checkpoint.
 * If an executor takes a part of it away, the statement fails, and nothing is read again. So the jobs see the same
 * rows, however the dimension changes meanwhile.
 */
private[sparkzorder] object DimensionRows {

  /**
   * @param columns the columns of the layout
   * @throws org.apache.spark.sql.AnalysisException when two rows have the same key, or the dimension cannot be read
   */
  def read(fact: PlainTable, join: DimensionJoin, columns: Seq[ColumnKey]): Dimension = {
    val attributes = columns.filter(c => JoinSpec.isAttribute(c.path) && c.path(1) == join.spec.name)
    val values = attributes.map(valueOf(join.dimension, _))
    val title = s"OPTIMIZE ${fact.target.title}: read ${join.spec.name}"
    val kept = NamedJobs.named(fact.session.sparkContext, title) {
      try checkpointed(fact.session, ofKeys(join, values))
      catch { case NonFatal(e) => throw ZOrderErrors.unreadableDimension(join.spec.dimension, e) }
    }
    NamedJobs.named(fact.session.sparkContext, title)(refuseDoubled(fact.session, join, kept))
    val found = kept.output(1)
    val unpacked = attributes.indices.map(i => Alias(GetStructField(found, i), s"attribute$i")())
    val rows = Project(kept.output.head +: unpacked, kept)
    Dimension(join.spec.column, join.input, join.compared, rows, attributes.map(_.path))
  }

  private def valueOf(dimension: DimensionTable, column: ColumnKey): Expression = {
    val value = ColumnOf(dimension.plan.output, column.path.drop(2)).get
    (value.dataType, column.dataType) match {
      case (_: StringType, StringType) => Cast(value, StringType) // by its bytes, whatever its collation
      case _                           => value
    }
  }

  /** One row for each key that is not null: the key, the least of its attributes, and how many rows have the key. */
  private def ofKeys(join: DimensionJoin, values: Seq[Expression]): LogicalPlan = {
    val key = Alias(join.key, "key")()
    val attributes = values.zipWithIndex.map { case (v, i) => Alias(v, s"attribute$i")() }
    val read = Filter(IsNotNull(key.toAttribute), Project(key +: attributes, join.dimension.plan))
    val least = Min(CreateStruct(attributes.map(_.toAttribute))).toAggregateExpression()
    val rows = Count(Literal(1)).toAggregateExpression()
    Aggregate(Seq(key.toAttribute), Seq(key.toAttribute, Alias(least, "attributes")(), Alias(rows, "rows")()), read)
  }

  private def checkpointed(session: SparkSession, plan: LogicalPlan): LogicalPlan =
    SparkOwn.rows(session, plan).localCheckpoint().queryExecution.analyzed

  /** @param kept the rows of [[ofKeys]] */
  private def refuseDoubled(session: SparkSession, join: DimensionJoin, kept: LogicalPlan): Unit = {
    val rows = kept.output.last
    val shown = Seq(Alias(Cast(kept.output.head, StringType), "key")(), rows)
    val doubled = Project(shown, Filter(GreaterThan(rows, Literal(1L)), kept))
    SparkOwn.rows(session, doubled).take(1).headOption.foreach { row =>
      throw ZOrderErrors.doubledKey(join.spec.dimension, join.spec.key, row.getString(0), row.getLong(1))
    }
  }
}
