package org.sparkzorder.skipping.answer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.execution.datasources.PartitionDirectory

import org.sparkzorder.predicate.{Column, Comparison, Evaluation, IsNull, Operator, Or, Outcomes, StatsPredicate, Value}
import org.sparkzorder.skipping.{FileOrdinals, ScanPredicates, ScannedTable}
import org.sparkzorder.stats._

/** What the index knows about the files of a scan, by their ordinals in the index. */
private[skipping] final class FileFacts(scan: AnswerableScan) {
  private val view = scan.planned.views.head
  private val snapshot = view.snapshot.get
  private val ofFiles = StatsWithDefaults.of(snapshot, scan.relation.dataSchema)

  /** The files that are not left out. */
  lazy val listed: Seq[PartitionDirectory] = scan.location.listFiles(scan.onPartitions, scan.onData)

  private lazy val scanned = {
    val known = FileOrdinals.of(scan.planned.base, view.root, snapshot, scan.scan.catalogTable.isDefined)
    ScannedTable(listed, Seq(known), scan.relation)
  }

  /** The ordinals of the listed files; negative for files that the index does not know. */
  lazy val ordinals: Seq[Seq[Int]] = scanned.ordinals.head

  lazy val table: StatsTable = new StatsWithPartitions(ofFiles, scan.relation.partitionSchema, scanned.partitions.head)

  private def known = if (ScanPredicates.isAboutPartitions(scan.relation, scan.predicate)) table else ofFiles

  private lazy val outcomes = Evaluation.outcomes(scan.predicate, known)

  /** Whether the index may answer for some file: it has rows, and all of them pass the filter. */
  def mayAnswer: Boolean = outcomes.contains(Outcomes.True.toByte)

  /** Whether all rows of a file pass the filter. */
  def isSure(ordinal: Int): Boolean =
    ordinal >= 0 && table.rows(ordinal) >= 0 && (outcomes(ordinal) & ~Outcomes.True) == 0

  /** The rows of files that show which files may hold the first rows in an order. */
  final class CandidatesOf(column: AttributeReference, order: TopKCandidates.Order) {
    private val near = scan.dataColumn(column).map(new RowsAtBound(known, _, isLeast = order.ascending))
    private lazy val nearOutcomes = near.map(Evaluation.outcomes(scan.predicate, _))

    /** Whether there may be any; told without a listing. */
    def mayBe: Boolean = mayAnswer || nearOutcomes.exists(_.contains(Outcomes.True.toByte))

    /**
     * One row is at the near bound, if that is a value of the file, and passes the filter if all rows with this value
     * do. The others are not behind the far bound, and pass if all rows of the file do.
     *
     * @param partition the values of the file's partition
     */
    def of(file: Int, ordinal: Int, partition: InternalRow): Seq[TopKCandidate] =
      if (ordinal < 0) Nil
      else {
        val far = if (isSure(ordinal)) farCandidate(file, ordinal, partition, column, order) else None
        val first = for {
          rows <- near
          value <- rows.value(ordinal)
          if nearOutcomes.exists(_(ordinal) == Outcomes.True)
        } yield TopKCandidate(file, 1, Some(value))
        first.toSeq ++ far.map(f => f.copy(rows = f.rows - first.size))
      }
  }

  private def farCandidate(
      file: Int,
      ordinal: Int,
      partition: InternalRow,
      column: AttributeReference,
      order: TopKCandidates.Order
  ): Option[TopKCandidate] = {
    val rows = table.rows(ordinal)
    val ofPartition = scan.partitionColumn(column).map(partition.get(_, column.dataType)).map { value =>
      val bound = Option(value).map(Value.of(column.dataType, _))
      def allIf(are: Boolean) = if (are) rows else 0L
      TopKCandidates.of(file, rows, allIf(value == null), allIf(OrderedValue.isNaN(value)), bound, order)
    }
    def ofData = for (c <- scan.dataColumn(column); s <- table.column(c.path, c.dataType)) yield {
      val bound = s match {
        case _ if !s.bounded.get(ordinal) => None
        case l: LongStatsColumn           => Some(if (order.ascending) l.max(ordinal) else l.min(ordinal))
        case b: BytesStatsColumn          => Some(if (order.ascending) b.max(ordinal) else b.min(ordinal))
      }
      val nans = if (!OrderedValue.hasNaN(c.dataType)) 0L else if (s.nanCounts == null) -1L else s.nanCounts(ordinal)
      TopKCandidates.of(file, rows, s.nullCounts(ordinal), nans, bound.map(Value.encoded), order)
    }
    ofPartition.orElse(ofData).flatten
  }

  /**
   * Whether a file may hold a row that does not come after a value in some order; by its ordinal and its partition's
   * values.
   *
   * @param value None if only nulls do not come after it
   */
  def notAfter(
      value: Option[Value],
      column: AttributeReference,
      order: TopKCandidates.Order
  ): (Int, InternalRow) => Boolean =
    scan.partitionColumn(column) match {
      case Some(i) => (_, partition) =>
          partition.get(i, column.dataType) match {
            case null => order.nullsFirst
            case own  => value.exists { v =>
                val compared = Value.ordering.compare(Value.of(column.dataType, own), v)
                if (order.ascending) compared <= 0 else compared >= 0
              }
          }
      case None =>
        val own = Column(Seq(column.name), column.dataType)
        val operator = if (order.ascending) Operator.LessOrEqual else Operator.GreaterOrEqual
        val within = value.map(Comparison(own, operator, _))
        val predicate =
          if (order.nullsFirst) within.fold[StatsPredicate](IsNull(own))(Or(IsNull(own), _)) else within.get
        val keep = Evaluation.keep(predicate, table)
        (ordinal, _) => ordinal < 0 || keep.get(ordinal)
    }
}
