package org.sparkzorder.skipping

import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.datasources.FileIndex
import org.apache.spark.sql.types.StructType

import org.sparkzorder.commit.CommitException
import org.sparkzorder.conf.ByteSizes
import org.sparkzorder.index.IndexFormatException
import org.sparkzorder.predicate.Reason
import org.sparkzorder.scan.ScanSnapshot

/** How many files one means after another has left, in the order in which they were tried. */
final case class StageCount(name: String, before: Long, after: Long) {
  def leftOut: Long = before - after
}

object StageCount {

  val Bounds = "bounds"

  val Curve = "curve"

  val Values = "values"

  val Memory = "memory"

  /** The index has counted the rows for an aggregate. */
  val Answers = "answers"
}

/**
 * What skipping did for one scan, after partition pruning.
 *
 * @param pruningMs wall time of loading the statistics and evaluating the filters, in milliseconds
 * @param reports makes the reports on conditions. They are only made for EXPLAIN, since they cost a look at the files
 *   for each of them
 */
final class SkippingReport(
    val filesTotal: Long,
    val filesKept: Long,
    val bytesTotal: Long,
    val bytesKept: Long,
    val pruningMs: Double,
    val stages: Seq[StageCount],
    reports: => Seq[ConjunctReport]
) {
  lazy val conjuncts: Seq[ConjunctReport] = reports

  def leftOutBy(name: String): Long = stages.filter(_.name == name).map(_.leftOut).sum

  def text: String = {
    val bytes = s"${ByteSizes.rounded(bytesKept)} of ${ByteSizes.rounded(bytesTotal)}"
    val (byMemory, byAnswers) = (leftOutBy(StageCount.Memory), leftOutBy(StageCount.Answers))
    val memory = if (byMemory == 0) "" else s", memory: $byMemory of ${filesKept + byMemory} files"
    val answers = if (byAnswers == 0) "" else s", answered from the index: $byAnswers files"
    f"$filesKept of $filesTotal files, $bytes, $pruningMs%.1f ms$memory$answers"
  }
}

private[skipping] object SkippingReport {
  val none: SkippingReport = new SkippingReport(0, 0, 0, 0, 0, Nil, Nil)
}

/**
 * @param text of the conjunct as Spark's optimizer left it. By name, because a list of thousands of values is long
 * @param filesKept files that the conjunct alone would keep; None if it could not be used
 * @param reason why it could not be used
 */
final class ConjunctReport(text: => String, val filesKept: Option[Long], val reason: Option[Reason]) {
  lazy val predicate: String = text
}

object ConjunctReport {
  def apply(text: => String, filesKept: Option[Long], reason: Option[Reason]): ConjunctReport =
    new ConjunctReport(text, filesKept, reason)
}

/** A scan that is not in the plan, since the index has answered for all of its files. */
final case class AnsweredScan(relation: String, report: SkippingReport)

/** A node of a physical plan that gives out what the index has answered. */
private[skipping] trait AnsweredNode { def answered: AnsweredScan }

object AnsweredScan {

  /** Of the rows that came in place of the scan. Spark drops it if it folds the plan above into the rows. */
  val Tag: TreeNodeTag[AnsweredScan] = TreeNodeTag[AnsweredScan]("zorder.answers")
}

/** An index that reads through another one, and knows how the query sees the table folders that this reads from. */
private[skipping] trait ViewedIndex extends FileIndex {
  def base: FileIndex
  def views: Seq[ScanSnapshot]
  override def rootPaths: Seq[Path] = base.rootPaths
  override def refresh(): Unit = base.refresh()
  override def partitionSchema: StructType = base.partitionSchema
}

/** An index of files that tells what was skipped. */
private[skipping] trait ReportingIndex extends FileIndex {

  /** None if there was nothing to skip by. */
  def report: Option[SkippingReport]

  /** Whether each row of its files that passes the filter must come, since others are not read. */
  def areChosen: Boolean = false

  /** Whether rows are only right if each file is as it was listed. */
  def mustBeAsListed: Boolean = false

  /** The index that still had the files that were answered for. */
  def before: FileIndex = this
}

/** Counts how often skipping gave up with an error in this JVM, so that a bug cannot turn it off unnoticed. */
object SkippingErrors extends Logging {
  private val counter = new AtomicLong

  /** Logs and counts an error that only costs speed: the query reads all files. */
  private[sparkzorder] def warn(paths: Seq[Path], e: Throwable): Unit = {
    // Our own messages name the faulty file and hold no data. Other messages might hold data.
    val why = e match {
      case _: CommitException | _: IndexFormatException => e.getMessage
      case _                                            => e.getClass.getSimpleName
    }
    logWarning(s"No files are skipped for ${paths.mkString(", ")}: $why", e)
    counter.incrementAndGet()
    ()
  }

  /** Counts a scan with filters in a session that lost our strategy. The first one of this process is logged. */
  private[skipping] def withoutStrategy(): Unit = {
    if (counted.compareAndSet(false, true))
      logWarning("No files are skipped, since spark.experimental.extraStrategies was assigned. Add to what is there")
    counter.incrementAndGet()
    ()
  }

  private val counted = new AtomicBoolean

  def total: Long = counter.get
}
