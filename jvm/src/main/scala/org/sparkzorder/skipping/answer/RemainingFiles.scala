package org.sparkzorder.skipping.answer

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitionDirectory}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.predicate.{Reason, ReasonCode}
import org.sparkzorder.skipping.{ConjunctReport, LeftOutBy, ReportingIndex, SkippingFileIndex, SkippingReport}

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
  override def listFiles(
      partitionFilters: Seq[Expression],
      dataFilters: Seq[Expression]
  ): Seq[PartitionDirectory] = {
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
   * What EXPLAIN SKIPPING says of a choice of the files of a listing.
   *
   * @param what the part of the query that needs no other files
   * @param millis that it took
   */
  def report(
      scan: AnswerableScan,
      listed: Seq[PartitionDirectory],
      files: Seq[PartitionDirectory],
      what: String,
      why: String,
      millis: Double
  ): SkippingReport = {
    def number(of: Seq[PartitionDirectory]) = of.iterator.map(_.files.size.toLong).sum
    def bytes(of: Seq[PartitionDirectory]) = of.iterator.flatMap(_.files).map(_.getLen).sum
    val before = scan.location match {
      case skipping: SkippingFileIndex => skipping.report
      case _                           => None
    }
    val known = before.getOrElse(
      SkippingReport(number(listed), number(listed), bytes(listed), bytes(listed), 0, LeftOutBy(0, 0, 0, 0), Nil)
    )
    known.copy(
      filesKept = number(files),
      bytesKept = bytes(files),
      pruningMs = millis,
      conjuncts = known.conjuncts :+ ConjunctReport(what, Some(number(files)), Some(Reason(ReasonCode.Answered, why)))
    )
  }
}
