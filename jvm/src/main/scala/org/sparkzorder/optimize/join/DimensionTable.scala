package org.sparkzorder.optimize.join

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, HiveTableRelation}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, EqualTo, Expression}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinHint, LocalRelation, LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, FileTable}
import org.apache.spark.sql.types.StructField

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.layout.JoinSpec
import org.sparkzorder.scan.PresentFiles
import org.sparkzorder.table.{ExcludedNames, KeyColumns, PlainTable}
import org.sparkzorder.write.ColumnOf

/**
 * A table or view that a statement joins with, whatever its format.
 *
 * @param parts of its name, in any session and with any current database
 * @param plan what a query of it reads
 */
private[optimize] final class DimensionTable(val parts: Seq[String], val plan: LogicalPlan) {

  def sizeInBytes(session: SparkSession): BigInt =
    session.sessionState.executePlan(plan).optimizedPlan.stats.sizeInBytes

  def isExcluded(column: Seq[String]): Boolean = plan.collect {
    case l: LogicalRelation   => l.catalogTable
    case h: HiveTableRelation => Some(h.tableMeta)
  }.exists(ExcludedNames.of(_).covers(column))

  /** The statistics of the table's files; None if it has no skipping index. */
  def statistics: Option[IndexSnapshot] =
    plan.collect { case l: LogicalRelation => (l.relation, l.catalogTable) } match {
      case Seq((r: HadoopFsRelation, table)) =>
        PresentFiles.of(r.sparkSession, r.location, r.options, r.dataSchema, table)
          .map(_.views).filter(_.size == 1).flatMap(_.head.snapshot)
      case _ => None
    }

  def find(column: Seq[String], resolver: Resolver): Option[Seq[StructField]] =
    KeyColumns.find(plan.schema, column, resolver)
}

private[join] object DimensionTable {

  /**
   * Finds a dimension. No job runs.
   *
   * @param fact the table to rewrite
   * @throws org.apache.spark.sql.AnalysisException when there is none, or none that can be joined
   */
  def open(fact: PlainTable, parts: Seq[String]): DimensionTable = {
    val plan =
      try fact.session.table(quoteNameParts(parts)).queryExecution.analyzed
      catch { case NonFatal(e) => throw ZOrderErrors.unreadableDimension(parts, e) }
    if (plan.isStreaming) throw ZOrderErrors.refusedDimension(parts, "It is a stream")
    if (reads(plan, fact))
      throw ZOrderErrors.refusedDimension(parts, s"It reads ${fact.name}, which is to be rewritten")
    new DimensionTable(qualified(fact.session, parts, plan), plan)
  }

  /** Only names of tables depend on the current database. A view of the session has no other name than its own. */
  private def qualified(session: SparkSession, parts: Seq[String], plan: LogicalPlan): Seq[String] = plan match {
    case SubqueryAlias(alias, _) if !session.sessionState.catalog.isTempView(parts) => alias.qualifier :+ alias.name
    case _                                                                          => parts
  }

  /** Whether a plan reads the table, or files in its folder. */
  private def reads(plan: LogicalPlan, fact: PlainTable): Boolean = plan.collectWithSubqueries {
    case l: LogicalRelation =>
      l.catalogTable.exists(isSame(_, fact)) || (l.relation match {
        case r: HadoopFsRelation => r.location.rootPaths.exists(isIn(_, fact))
        case _                   => false
      })
    case h: HiveTableRelation    => isSame(h.tableMeta, fact)
    case v: DataSourceV2Relation =>
      v.table match {
        case files: FileTable => files.fileIndex.rootPaths.exists(isIn(_, fact))
        case _                => false
      }
  }.contains(true)

  private def isSame(table: CatalogTable, fact: PlainTable): Boolean =
    fact.catalogTable.exists(_.identifier == table.identifier) ||
      table.storage.locationUri.exists(uri => isIn(new Path(uri), fact))

  private def isIn(path: Path, fact: PlainTable): Boolean = {
    def text(folder: Path) = folder.toString.stripSuffix("/") + "/"
    Seq(fact.root, fact.location).exists(own => text(own).startsWith(text(path)) || text(path).startsWith(text(own)))
  }
}

/**
 * The join of a table with a dimension, by an equality as Spark understands it.
 *
 * @param input stands for the table's column
 * @param compared this column, cast to a type that both sides have
 * @param key the dimension's column, cast to the same type
 */
private[sparkzorder] final class DimensionJoin private (
    val spec: JoinSpec,
    private[optimize] val dimension: DimensionTable,
    private[join] val input: Attribute,
    private[join] val compared: Expression,
    private[join] val key: Expression
) {

  lazy val statistics: Option[IndexSnapshot] = dimension.statistics
}

private[join] object DimensionJoin {

  /**
   * @param column fields from a column of the table down to the field of a struct
   * @param key the same of the dimension
   * @throws org.apache.spark.sql.AnalysisException when their values cannot be compared
   */
  def of(
      fact: PlainTable,
      dimension: DimensionTable,
      column: Seq[StructField],
      key: Seq[StructField]
  ): DimensionJoin = {
    val spec = JoinSpec(dimension.parts, column.map(_.name), key.map(_.name))
    val field = column.last
    val input = AttributeReference(field.name, field.dataType, nullable = true, field.metadata)()
    val equal = EqualTo(input, ColumnOf(dimension.plan.output, spec.key).get)
    val join = Join(LocalRelation(input), dimension.plan, LeftOuter, Some(equal), JoinHint.NONE)
    def incomparable = ZOrderErrors.joinCondition(
      dimension.parts,
      s"The column ${quoteNameParts(spec.column)} of type ${field.dataType.sql} cannot be compared with " +
        s"${quoteNameParts(spec.key)} of type ${key.last.dataType.sql}"
    )
    val analyzed =
      try {
        val query = fact.session.sessionState.executePlan(join)
        query.assertAnalyzed()
        query.analyzed
      } catch { case _: AnalysisException => throw incomparable }
    analyzed match {
      case Join(_, _, _, Some(EqualTo(compared, k)), _) => new DimensionJoin(spec, dimension, input, compared, k)
      case _                                            => throw incomparable
    }
  }
}
