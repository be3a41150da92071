package org.sparkzorder.skipping.answer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Max, Min, Sum}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.skipping.{AnsweredScan, ScanExplanation}

/**
 * Answers `count`, `min` and `max` from the index, for files in which a filter is true of every row. The others are
 * read. Without groups, the answers are values beside the aggregate of those. With groups, a union below a last
 * aggregate puts the parts together. If no file is left, the plan is local rows.
 */
object AggregateRule extends AnswerRule(ZOrderConf.aggregatesEnabled) {

  // Spark merges subqueries of one table to one scan, which is better than a scan of a part for each.
  override protected def answered(node: LogicalPlan, inSubquery: Boolean): Option[LogicalPlan] = node match {
    case aggregate: Aggregate =>
      for {
        asked <- AnswerableAggregate.of(aggregate)
        answers <- FileAnswers.of(asked) if answers.remaining.isEmpty || !inSubquery
      } yield
        if (answers.remaining.isEmpty) whole(asked, answers)
        else if (asked.groups.isEmpty) beside(asked, answers)
        else together(asked, answers)
    case _ => None
  }

  /**
   * The columns of the answers: the groups' and then the measures'. A group keeps its id. So no alias is needed, which
   * Spark would remove from one of two equal aggregates. Their exchange would not be reused then.
   */
  private def columns(asked: AnswerableAggregate): (Seq[AttributeReference], Seq[AttributeReference]) = {
    val groups = asked.groups.zip(asked.aggregate.groupingExpressions).map { case (i, grouping) =>
      val f = asked.scan.relation.partitionSchema(i)
      val id = Some(grouping).collect { case a: Attribute => a.exprId }.getOrElse(NamedExpression.newExprId)
      AttributeReference(f.name, f.dataType, nullable = true, f.metadata)(id)
    }
    val measures = asked.measures.zipWithIndex.map { case (measure, i) =>
      AttributeReference(s"answer_$i", measure.dataType, nullable = measure.empty == null)()
    }
    (groups, measures)
  }

  private def whole(asked: AnswerableAggregate, answers: FileAnswers): LogicalPlan = {
    val (groups, measures) = columns(asked)
    val rows = if (groups.isEmpty && answers.rows.isEmpty) Seq(asked.measures.map(_.empty)) else answers.rows
    val named = asked.aggregate.aggregateExpressions.map(named => replaced(asked, groups, named)((i, _) => measures(i)))
    // As Spark folds a projection into local rows.
    val projection = new InterpretedMutableProjection(named, groups ++ measures)
    projection.initialize(0)
    val made = LocalRelation(
      named.map(_.toAttribute),
      rows.map(row => projection(InternalRow.fromSeq(row)).copy().asInstanceOf[InternalRow])
    )
    val relation = ScanExplanation.name(asked.scan.scan, asked.scan.relation)
    made.setTagValue(AnsweredScan.Tag, AnsweredScan(relation, answers.report))
    made
  }

  /** What is below the aggregate, with only the files that are read. */
  private def rest(asked: AnswerableAggregate, answers: FileAnswers): LogicalPlan = {
    val read = new RemainingFiles(asked.scan, answers.remaining, answers.report, areChosen = false)
    val below = read.in(asked.aggregate.child)
    val files = answers.remaining.flatMap(_.files)
    val openCost = SQLConf.get.filesOpenCostInBytes
    val isLittle =
      files.iterator.map(_.getLen).sum <= openCost && files.size * openCost <= SQLConf.get.filesMaxPartitionBytes
    // A second task is not worth its start then. One task needs no exchange either.
    if (isLittle) Repartition(1, shuffle = false, below) else below
  }

  private def beside(asked: AnswerableAggregate, answers: FileAnswers): LogicalPlan = {
    val known = answers.rows.headOption.getOrElse(asked.measures.map(_.empty))
    val named = asked.aggregate.aggregateExpressions.map(replaced(asked, Nil, _) { (i, measure) =>
      val value = Literal(known(i), measure.dataType)
      (measure, asked.functions(i)) match {
        case (_: Count, read)                 => Add(read, value)
        case (_, read) if value.value == null => read
        case (e: MinOrMax, read) if e.isMin   => Least(Seq(read, value))
        case (_, read)                        => Greatest(Seq(read, value))
      }
    })
    asked.aggregate.copy(aggregateExpressions = named, child = rest(asked, answers))
  }

  private def together(asked: AnswerableAggregate, answers: FileAnswers): LogicalPlan = {
    val (groups, measures) = columns(asked)
    val ofGroups = asked.aggregate.groupingExpressions.zip(groups).map {
      case (g: Attribute, _) => g
      case (g, a)            => Alias(g, a.name)()
    }
    val ofMeasures = asked.functions.zip(measures).map { case (f, a) => Alias(f, a.name)() }
    val read = asked.aggregate.copy(aggregateExpressions = ofGroups ++ ofMeasures, child = rest(asked, answers))
    // Spark looks for partitions to prune below the first part of a union.
    val known = LocalRelation(groups ++ measures, answers.rows.map(InternalRow.fromSeq(_)))
    val union = Union(Seq(read, Repartition(1, shuffle = false, known)))
    val (unionGroups, unionSlots) = union.output.splitAt(groups.size)
    val named = asked.aggregate.aggregateExpressions.map(replaced(asked, unionGroups, _) { (i, measure) =>
      val column = unionSlots(i)
      measure match {
        case _: Count    => Coalesce(Seq(new Sum(column).toAggregateExpression(), Literal(0L)))
        case e: MinOrMax => (if (e.isMin) Min(column) else Max(column)).toAggregateExpression()
      }
    })
    Aggregate(unionGroups, named, union)
  }

  /** A named expression of the aggregate with other columns for its groups and functions, under the same id. */
  private def replaced(asked: AnswerableAggregate, groups: Seq[Attribute], named: NamedExpression)(
      of: (Int, AggregateValue) => Expression
  ): NamedExpression = {
    val grouping = asked.aggregate.groupingExpressions
    // What comes in place of a function is not looked at again.
    def made(e: Expression): Expression = e match {
      case f: AggregateExpression =>
        val i = asked.functions.indexWhere(_.canonicalized == f.canonicalized)
        of(i, asked.measures(i))
      case g if grouping.exists(_.semanticEquals(g)) => groups(grouping.indexWhere(_.semanticEquals(g)))
      case other                                     => other.mapChildren(made)
    }
    made(named) match {
      case same: NamedExpression if same.exprId == named.exprId => same
      case other => Alias(other, named.name)(named.exprId, named.qualifier)
    }
  }
}
