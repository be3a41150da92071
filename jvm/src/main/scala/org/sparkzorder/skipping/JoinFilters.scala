package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.InSubqueryExec
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types._

import org.sparkzorder.predicate.{Reason, ReasonCode}

/**
 * Filters that a join gives to a scan: a key is one of those of the other side. They rule out files, and are not
 * evaluated for rows, which the join does. Those about partition columns alone are Spark's own.
 */
private[skipping] object JoinFilters extends PredicateHelper {

  /** Whether a conjunct above a scan is such a filter, about its data. */
  def isOne(conjunct: Expression, l: LogicalRelation): Boolean = conjunct match {
    case d: DynamicPruningSubquery =>
      d.pruningKey.references.exists(a => l.output.exists(o => o.semanticEquals(a) && isData(l, o)))
    case _ => false
  }

  private def isData(l: LogicalRelation, a: Attribute): Boolean =
    !l.relation.asInstanceOf[HadoopFsRelation].partitionSchema.fieldNames.contains(a.name)

  def text(key: Expression): String = s"${key.sql} IN (keys of a join)"

  /** At a scan, why joins do not leave out files of it, by the texts of keys. */
  private val Notes = TreeNodeTag[Map[String, String]]("zorder.joins")

  /** Notes for EXPLAIN SKIPPING why a key leaves out no files of a scan. */
  def note(l: LogicalRelation, key: Expression, why: String): Unit =
    if (key.references.exists(isData(l, _)))
      l.setTagValue(Notes, l.getTagValue(Notes).getOrElse(Map.empty[String, String]) + (text(key) -> why))

  def notes(l: LogicalRelation): Seq[ConjunctReport] = l.getTagValue(Notes).toSeq.flatten.map { case (text, why) =>
    ConjunctReport(text, None, Some(Reason(ReasonCode.Join, why)))
  }

  /** A scan's projections and filters without some conjuncts. */
  def without(plan: LogicalPlan)(leftOut: Expression => Boolean): LogicalPlan = plan.transformUp { case f: Filter =>
    val (joins, others) = splitConjunctivePredicates(f.condition).partition(leftOut)
    if (joins.isEmpty) f else others.reduceOption(And(_, _)).fold(f.child)(c => f.copy(condition = c))
  }

  /** An expression over a scan with the relation's own names. */
  def named(e: Expression, l: LogicalRelation): Expression = e.transform { case a: AttributeReference =>
    l.output.find(_.semanticEquals(a)).fold(a)(o => a.withName(o.name))
  }

  /** The conditions that such filters of a physical scan have become, with their keys, if the other side is known. */
  def whenRun(dataFilters: Seq[Expression]): Seq[(Expression, Expression)] = dataFilters.collect {
    case DynamicPruningExpression(in: InSubqueryExec) => valuesOf(in).map(in.child -> condition(in.child, _))
  }.flatten

  private def condition(key: Expression, values: Array[Any]): Expression = key match {
    // Each value of the wider type is one of the column, or none.
    case c: Cast if narrow.contains(c.child.dataType) && narrow.contains(c.dataType) && isWider(c) =>
      condition(c.child, values.flatMap(v => narrow(c.child.dataType)(v.asInstanceOf[Number].longValue)))
    case _ if values.isEmpty            => Literal.FalseLiteral
    case _ if values.length > MostAlone =>
      val order = TypeUtils.getInterpretedOrdering(key.dataType)
      val (least, most) = (Literal(values.min(order), key.dataType), Literal(values.max(order), key.dataType))
      And(GreaterThanOrEqual(key, least), LessThanOrEqual(key, most))
    case _ => InSet(key, values.toSet)
  }

  private def isWider(c: Cast): Boolean = c.dataType.defaultSize >= c.child.dataType.defaultSize

  private val narrow: Map[DataType, Long => Option[Any]] = Map(
    ByteType -> (n => Some(n.toByte).filter(_ == n)),
    ShortType -> (n => Some(n.toShort).filter(_ == n)),
    IntegerType -> (n => Some(n.toInt).filter(_ == n)),
    LongType -> (n => Some(n))
  )

  /** Of more values only the least and the greatest are used: to look for each would take longer than it saves. */
  private val MostAlone = 200000

  /** None if they were not asked for. Spark keeps them in a field that has no name for others. */
  private def valuesOf(in: InSubqueryExec): Option[Array[Any]] =
    in.values().orElse(in.productIterator.collectFirst { case values: Array[_] => values.asInstanceOf[Array[Any]] })
}
