package org.sparkzorder.parser

import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation, UnresolvedTable}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.statement._
import org.sparkzorder.table.Targets

/**
 * Takes statements about our tables back from Delta Lake.
 *
 * If a session has two extensions, Spark asks the parser of the last one first. If that is Delta
 * Lake's, it takes every statement that both of us have, such as OPTIMIZE, for any table. This rule
 * replaces those about our tables, before their names are resolved.
 *
 * We do not compile against Delta. Its classes are recognized by name and read by reflection. A
 * statement stays Delta's if its class looks different than expected, or if it says something that
 * our statement cannot say.
 */
class ReclaimFromDelta(session: SparkSession, planOf: TableStatement => LogicalPlan) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = statement(plan).filter(isOurs).fold(plan) {
    case s: OptimizeStatement => ParameterizedStatement.planned(s, planOf)
    case s                    => planOf(s)
  }

  private def isOurs(statement: TableStatement): Boolean = {
    val kind = Targets.kind(session, statement.target)
    Targets.isOurs(statement.target, kind) || ZOrderParser.isNobodys(statement, kind)
  }

  private def statement(plan: LogicalPlan): Option[TableStatement] =
    try
      plan.getClass.getName match {
        case "org.apache.spark.sql.delta.commands.OptimizeTableCommand"          => optimize(plan)
        case "io.delta.tables.execution.VacuumTableCommand"                      => vacuum(plan)
        case "org.apache.spark.sql.catalyst.plans.logical.RestoreTableStatement" => restore(plan)
        case "org.apache.spark.sql.delta.commands.DescribeDeltaHistory"          => history(plan)
        case _                                                                   => None
      }
    catch { case _: NoSuchMethodException => None }

  private def optimize(plan: LogicalPlan): Option[TableStatement] =
    (get(plan, "userPartitionPredicates"), get(plan, "zOrderBy"), get(get(plan, "optimizeContext"), "isFull")) match {
      case (predicates: Seq[_], columns: Seq[_], full: Boolean) if predicates.size <= 1 =>
        val keys = columns.collect { case a: UnresolvedAttribute => WeightedColumn(a.nameParts, None) }
        val layout = if (keys.isEmpty) None else Some(LayoutClause.By("zorder", keys))
        targetOf(get(plan, "child"))
          .filter(_ => keys.size == columns.size)
          .map(OptimizeStatement(_, full, predicates.headOption.map(p => predicate(p.toString)), layout, Nil))
      case _ => None
    }

  /** Delta's parser keeps the text of a predicate, with a word behind it that Spark takes for an alias. */
  private def predicate(text: String): Predicate = {
    def parse(query: String): LogicalPlan =
      session.asInstanceOf[classic.SparkSession].sessionState.sqlParser.parsePlan(query)
    new Predicate(text, PredicateParser.read(text, text, 0, parse))
  }

  private def vacuum(plan: LogicalPlan): Option[TableStatement] =
    (get(plan, "horizonHours"), get(plan, "dryRun")) match {
      case (hours: Option[_], dryRun: Boolean)
          if Seq("inventoryTable", "inventoryQuery", "vacuumType").forall(get(plan, _) == None) =>
        targetOf(get(plan, "child")).map(VacuumStatement(_, hours.map(_.toString), dryRun))
      case _ => None
    }

  private def restore(plan: LogicalPlan): Option[TableStatement] = {
    val travel = get(plan, "table")
    val point = (get(travel, "version"), get(travel, "timestamp")) match {
      case (Some(version: Long), _)                            => Some(RestorePoint.Version(version))
      case (_, Some(Literal(time: UTF8String, _: StringType))) => Some(RestorePoint.Time(time.toString))
      case _                                                   => None
    }
    point.flatMap(to => targetOf(get(travel, "relation")).map(RestoreStatement(_, to)))
  }

  private def history(plan: LogicalPlan): Option[TableStatement] =
    if (get(plan, "limit") == None) targetOf(get(plan, "child")).map(DescribeHistoryStatement) else None

  private def targetOf(child: Any): Option[Target] = child match {
    case t: UnresolvedTable    => Some(Target.ofParts(t.multipartIdentifier))
    case r: UnresolvedRelation => Some(Target.ofParts(r.multipartIdentifier))
    case other if other.getClass.getSimpleName.startsWith("UnresolvedPathBased") =>
      Some(PathTarget(get(other, "path").toString, None))
    case _ => None
  }

  private def get(from: Any, field: String): Any = from.getClass.getMethod(field).invoke(from)
}
