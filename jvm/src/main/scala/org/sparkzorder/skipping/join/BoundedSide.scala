package org.sparkzorder.skipping.join

import java.time.LocalDate
import java.util.BitSet

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.types._

import org.sparkzorder.compat._
import org.sparkzorder.skipping.answer.{AnswerableScan, IndexFacts}
import org.sparkzorder.stats.{LongStatsColumn, OrderedValue}

/**
 * A side of a join whose keys are within bounds that the index has, after the side's own filter. They are known before
 * anything runs, also if Spark does not broadcast the side. See S. Kandula et al., Pushing Data-Induced Predicates Through
 * Joins in Big-Data Clusters, VLDB 2019.
 *
 * The bounds are those of the files as they are now. So a plan that uses them must read just these files, see
 * [[asPlanned]].
 *
 * @param plan a scan with filters and projections
 * @param kept the files that its filter does not rule out, by their ordinals in the index
 * @param ranges of the keys in these files
 */
private final class BoundedSide private (
    plan: LogicalPlan,
    scan: AnswerableScan,
    facts: IndexFacts,
    kept: BitSet,
    val ranges: Seq[(Long, Long)],
    dataType: DataType
) {

  /** Whether a key of the join's other side is within the bounds. */
  def condition(key: Expression): Expression = {
    def literal(v: Long) = Literal(OrderedValue.decode(dataType, v), dataType)
    ranges.map { case (low, high) =>
      if (low == high) EqualTo(key, literal(low))
      else And(GreaterThanOrEqual(key, literal(low)), LessThanOrEqual(key, literal(high)))
    }.reduce[Expression](Or(_, _))
  }

  /**
   * The side, which reads the files that the bounds are of, as they are now, or fails. None if there are others, or if
   * some are not as the index knows them.
   */
  def asPlanned: Option[LogicalPlan] = {
    def listed = facts.listed.flatMap(_.files)
    def areKnown = facts.ordinals.forall(_.forall(o => o >= 0 && kept.get(o)))
    Option.when(!scan.isMoved && areKnown && scan.changed(listed.map(_.fileStatus)).isEmpty) {
      val read = BoundedFiles.of(scan, facts.listed).in(scan.scan)
      read.setTagValue(BoundedSide.Tag, ())
      plan.transformUp { case l if l eq scan.scan => read }
    }
  }
}

private object BoundedSide {

  /** Of a scan whose bounds are used. */
  private val Tag = TreeNodeTag[Unit]("zorder.bounds")

  def isOne(plan: LogicalPlan): Boolean = plan.getTagValue(Tag).isDefined

  /** More ranges would take longer for each row, and leave out few more files. */
  private val MostRanges = 8

  /** None if the index does not bound the key, or if the side's filter rules out no file. Nothing is read. */
  def of(plan: LogicalPlan, key: Expression): Option[BoundedSide] = plan match {
    case PhysicalOperation(list, filters, l: LogicalRelation) if filters.nonEmpty =>
      for {
        scan <- AnswerableScan.of(l, list, filters)
        column <- scan.ofScan(list)(key) match {
          case a: AttributeReference if isUsable(a.dataType) => scan.dataColumn(a)
          case _                                             => None
        }
        facts = new IndexFacts(scan)
        bounds <- facts.bounds(column)
        kept = facts.kept
        ranges <- rangesOf(bounds, kept, facts, column.dataType == DateType) if kept.cardinality < facts.files
      } yield new BoundedSide(plan, scan, facts, kept, ranges, column.dataType)
    case _ => None
  }

  /** Types whose bounds are exact, in files of any format. */
  private def isUsable(dt: DataType): Boolean = dt match {
    case ByteType | ShortType | IntegerType | LongType | DateType | _: DecimalType => true
    case _                                                                         => false
  }

  /** None if a file has keys without bounds, or if no file has a key. */
  private def rangesOf(
      bounds: LongStatsColumn,
      kept: BitSet,
      facts: IndexFacts,
      isDate: Boolean
  ): Option[Seq[(Long, Long)]] = {
    val files = Iterator.iterate(kept.nextSetBit(0))(i => kept.nextSetBit(i + 1)).takeWhile(_ >= 0).toVector
    val (bounded, others) = files.partition(bounds.bounded.get)
    val ranges = bounded.map(i => (bounds.min(i), bounds.max(i)))
    if (ranges.isEmpty || !others.forall(facts.isNull(bounds, _)) || isDate && ranges.exists(endsInGap)) None
    else Some(fewer(merged(ranges.sorted)))
  }

  /** Spark tells Parquet's reader another day in place of one that the old calendar lacks. */
  private def endsInGap(range: (Long, Long)): Boolean =
    Seq(range._1, range._2).exists(day => day >= FirstOfGap && day < FirstOfGap + 10)

  private val FirstOfGap = LocalDate.of(1582, 10, 5).toEpochDay

  private def merged(ranges: Seq[(Long, Long)]): Vector[(Long, Long)] =
    ranges.foldLeft(Vector.empty[(Long, Long)]) {
      case (before :+ ((low, high)), (from, to)) if from <= high => before :+ (low -> math.max(high, to))
      case (before, range)                                       => before :+ range
    }

  /** Closes the narrowest gaps. */
  private def fewer(ranges: Vector[(Long, Long)]): Vector[(Long, Long)] =
    if (ranges.size <= MostRanges) ranges
    else {
      val widest =
        (1 until ranges.size).sortBy(i => ranges(i - 1)._2.toDouble - ranges(i)._1).take(MostRanges - 1).sorted
      val starts = 0 +: widest
      starts.zip(widest :+ ranges.size).map { case (from, until) => ranges(from)._1 -> ranges(until - 1)._2 }.toVector
    }
}
