package org.sparkzorder.skipping.answer

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.{FileIndex, FileStatusWithMetadata, PartitionDirectory}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.predicate.{Reason, ReasonCode}
import org.sparkzorder.skipping.{ConjunctReport, ReportingIndex, SkippingFileIndex, SkippingReport, StageCount}

/**
 * The files that a scan must read, of those that the index knows. They are never listed again: a file that has been
 * answered for must not come back under another name.
 *
 * @param chosen those of the partitions that the query reads
 * @param areChosen whether others are not read since these have enough rows
 */
private[skipping] final class RemainingFiles(
    scan: AnswerableScan,
    chosen: Seq[PartitionDirectory],
    reported: SkippingReport,
    override val areChosen: Boolean
) extends ReportingIndex {
  private val files = chosen.filter(_.files.nonEmpty)

  override val rootPaths: Seq[Path] = scan.planned.rootPaths
  override val partitionSchema: StructType = scan.relation.partitionSchema
  override val report: Option[SkippingReport] = Some(reported)
  override val before: FileIndex = scan.location

  /** Spark relies on an index for filters about partitions alone, also for those that it finds later. */
  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] = {
    val known = partitionFilters.filter(f => f.deterministic && !SubqueryExpression.hasSubquery(f))
    val passes = known.map { f =>
      Predicate.createInterpreted(f.transform { case a: AttributeReference =>
        val i = partitionSchema.fieldIndex(a.name)
        BoundReference(i, partitionSchema(i).dataType, nullable = true)
      })
    }
    files.filter(d => passes.forall(_.eval(d.values)))
  }

  override def mustBeAsListed: Boolean = true

  /** A plan with the scan of these files alone. */
  def in(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case leaf if leaf eq scan.scan =>
      scan.scan.copy(relation = scan.relation.copy(location = this)(scan.relation.sparkSession))
  }

  override def inputFiles: Array[String] = files.flatMap(_.files.map(_.getPath.toUri.toString)).toArray
  override def refresh(): Unit = ()
  override lazy val sizeInBytes: Long = files.iterator.flatMap(_.files).map(_.getLen).sum

  override def equals(other: Any): Boolean = other match {
    case that: RemainingFiles => rootPaths == that.rootPaths && files == that.files && areChosen == that.areChosen
    case _                    => false
  }
  override def hashCode: Int = (rootPaths, files.size).hashCode
  override def toString: String = s"RemainingFiles(${rootPaths.mkString(", ")})"
}

private[skipping] object RemainingFiles {

  /**
   * The files that are enough for a query; None if these are all, or if a file is not any more as it was listed.
   *
   * @param same the files that must be as they were listed
   * @param what the part of the query that needs no other files
   * @param begin when the choice began, as of `System.nanoTime`
   */
  def chosen(
      scan: AnswerableScan,
      listed: Seq[PartitionDirectory],
      files: Seq[PartitionDirectory],
      same: Seq[FileStatusWithMetadata],
      what: String,
      why: String,
      begin: Long
  ): Option[RemainingFiles] =
    if (number(files) == number(listed) || scan.isMoved || !scan.areAsListed(same)) None
    else Some(new RemainingFiles(scan, files, report(scan, listed, files, what, why, begin, 0), areChosen = true))

  /** What EXPLAIN SKIPPING says of a choice of listed files, if the index has answered for so many others. */
  def report(
      scan: AnswerableScan,
      listed: Seq[PartitionDirectory],
      files: Seq[PartitionDirectory],
      what: String,
      why: String,
      begin: Long,
      answers: Long
  ): SkippingReport = {
    val before = scan.location match {
      case skipping: SkippingFileIndex => skipping.report
      case _                           => None
    }
    def conjunct = ConjunctReport(what, Some(number(files)), Some(Reason(ReasonCode.Answered, why)))
    val stage = StageCount(StageCount.Answers, number(files) + answers, number(files))
    new SkippingReport(
      before.fold(number(listed))(_.filesTotal),
      number(files),
      before.fold(bytes(listed))(_.bytesTotal),
      bytes(files),
      (System.nanoTime() - begin) / 1e6,
      before.fold(Seq.empty[StageCount])(_.stages) :+ stage,
      before.fold(Seq.empty[ConjunctReport])(_.conjuncts) :+ conjunct
    )
  }

  private def number(of: Seq[PartitionDirectory]) = of.iterator.map(_.files.size.toLong).sum

  private def bytes(of: Seq[PartitionDirectory]) = of.iterator.flatMap(_.files).map(_.getLen).sum
}
