package org.sparkzorder.skipping

import scala.reflect.ClassTag
import scala.util.control.NonFatal

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.{Partition, SparkContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.classic
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.{FileSourceScanExec, FileSourceScanLike, SQLExecution, ScalarSubquery}
import org.apache.spark.sql.execution.datasources.FilePartition
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.util.SerializableConfiguration

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.write.RewriteSession

/** Spark's scan of files that tells in the plan's text and in the metrics of the SQL tab what was skipped. */
trait SkippingDisplay extends FileSourceScanLike { this: FileSourceScanExec =>

  /**
   * The same scan as Spark makes it. Needed because Scala has no `super` for lazy values. A node has the session that is
   * active when it is made, and some threads have none.
   */
  private def plainScan: FileSourceScanExec = RewriteSession.active(relation.sparkSession)(copy())

  private def report: Option[SkippingReport] = relation.location match {
    case index: ReportingIndex => index.report
    case _                     => None
  }

  // Files that planning left out, and that the query reads because they have changed.
  private def changed: Seq[FileStatus] = relation.location match {
    case index: SkippingFileIndex => index.changedFiles
    case _                        => Nil
  }

  override lazy val metadata: Map[String, String] = plainScan.metadata ++ report.map(r => "Skipping" -> r.text)

  private lazy val skippingMetrics: Map[String, SQLMetric] = report.fold(Map.empty[String, SQLMetric]) { _ =>
    SkippingDisplay.Metrics.map { case (name, words, make, _) => name -> make(sparkContext, s"skipping: $words") }.toMap
  }

  override lazy val metrics: Map[String, SQLMetric] = {
    // The metrics of a plain scan, but with this node's own driver metrics, since the scan sets these.
    val own = plainScan.metrics.filter { case (name, _) => !driverMetrics.contains(name) }
    own ++ driverMetrics ++ skippingMetrics
  }

  override protected def sendDriverMetrics(): Unit = {
    plainSend()
    report.foreach { r =>
      SkippingDisplay.Metrics.foreach { case (name, _, _, value) => skippingMetrics(name).set(value(r, changed)) }
      val execution = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
      SQLMetrics.postDriverMetricUpdates(sparkContext, execution, skippingMetrics.values.toVector)
    }
  }

  private def withoutFiles[T: ClassTag](rows: RDD[T]): RDD[T] = relation.location match {
    case index: SkippingFileIndex =>
      val later = filesWithoutRows(index)
      joined = later.joins
      if (later.without.isEmpty) rows
      else {
        val policy = if (readsTimes) Some(SQLConf.get.legacyTimeParserPolicy.toString) else None
        // Without partitions that have no file a query has fewer tasks. A join has no order that would depend on them.
        val keepsEmpty = joined.forall(j => j.kept == j.before) || relation.bucketSpec.isDefined
        val read = new PrunedScanRDD(rows, later.without, relation.partitionSchema, policy, keepsEmpty)
        count(read.partitions)
        read
      }
    case index: ReportingIndex if index.mustBeAsListed && !SQLConf.get.getConf(ZOrderConf.trustListing) =>
      val conf = relation.sparkSession.asInstanceOf[classic.SparkSession].sessionState
        .newHadoopConfWithOptions(relation.options)
      new AsListedRDD(rows, sparkContext.broadcast(new SerializableConfiguration(conf)))
    case _ => rows
  }

  /** What the keys of joins say of the files, once the scan has run. */
  @transient @volatile private var joined = Option.empty[JoinedFiles]

  private[skipping] def joinReports: Seq[ConjunctReport] =
    joined.toSeq.flatMap(_.each).map { case (key, kept) => ConjunctReport(key, Some(kept.toLong), None) }

  override def simpleString(maxFields: Int): String =
    super.simpleString(maxFields) + joined.fold("")(j => s", Joins: ${j.text}")

  private def filesWithoutRows(index: SkippingFileIndex): LaterFiles =
    try {
      // Spark has the values of subqueries when it asks for the rows.
      val later = dataFilters.filter(f => f.deterministic && f.exists(_.isInstanceOf[ScalarSubquery]))
        .map(_.transformUp {
          case s: ScalarSubquery => Literal(s.eval(null), s.dataType)
          case e if e.foldable && e.children.nonEmpty && e.children.forall(_.isInstanceOf[Literal]) => folded(e)
        })
      index.filesWithoutRows(later, JoinFilters.whenRun(dataFilters))
    } catch {
      case NonFatal(e) =>
        SkippingErrors.warn(relation.location.rootPaths, e)
        LaterFiles()
    }

  private def folded(e: Expression): Expression =
    try Literal(e.eval(), e.dataType)
    // Whether Spark fails too depends on the rows.
    catch { case NonFatal(_) => e }

  private def readsTimes: Boolean =
    (dataFilters ++ partitionFilters).exists(_.exists(_.isInstanceOf[TimestampFormatterHelper]))

  /** Spark has counted the files of the listing. */
  private def count(partitions: Array[Partition]): Unit = {
    val files = partitions.collect { case p: FilePartition => p.files }.flatten.map(f => f.toPath -> f.fileSize)
    val read = files.distinct
    val numbers = Seq("numFiles" -> read.length.toLong, "filesSize" -> read.map(_._2).sum)
    val byJoins = joined.map(j => "skippingLeftOutByJoins" -> (j.before - j.kept).toLong)
    val counted = (numbers ++ byJoins).flatMap { case (name, n) => metrics.get(name).map(m => { m.set(n); m }) }
    val execution = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    SQLMetrics.postDriverMetricUpdates(sparkContext, execution, counted)
  }

  abstract override protected def doExecute(): RDD[InternalRow] = withoutFiles(super.doExecute())
  override protected def doExecuteColumnar(): RDD[ColumnarBatch] = withoutFiles(super.doExecuteColumnar())
  abstract override def inputRDDs(): Seq[RDD[InternalRow]] = super.inputRDDs().map(withoutFiles(_))

  /** A filter that a join did not give after all says nothing. Spark looks for those of partitions only. */
  override def doCanonicalize(): FileSourceScanExec = {
    val used = dataFilters.filterNot(_ == DynamicPruningExpression(Literal.TrueLiteral))
    copy(dataFilters = used).canonicalized.asInstanceOf[FileSourceScanExec]
  }

  private def plainSend(): Unit = super.sendDriverMetrics()

  // A rule that replaces a node by an equal one is taken to have changed nothing, whichever of the two is asked.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[SkippingDisplay]
  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)
  override def hashCode: Int = super.hashCode
}

object SkippingDisplay {

  private type Value = (SkippingReport, Seq[FileStatus]) => Long

  /** Names, words, kinds and values: of a report, and of the files that are read since they changed. */
  private val Metrics = {
    def metric(name: String, words: String, make: (SparkContext, String) => SQLMetric)(value: Value) =
      (name, words, make, value)
    def number(name: String, words: String)(value: Value) = metric(name, words, SQLMetrics.createMetric(_, _))(value)
    def size(name: String, words: String)(value: Value) = metric(name, words, SQLMetrics.createSizeMetric(_, _))(value)
    def stage(name: String, words: String, of: String) = number(name, words)((r, _) => r.leftOutBy(of))
    Seq(
      number("skippingFilesTotal", "files total")((r, _) => r.filesTotal),
      number("skippingFilesKept", "files kept")((r, changed) => r.filesKept + changed.size),
      size("skippingBytesTotal", "bytes total")((r, _) => r.bytesTotal),
      size("skippingBytesKept", "bytes kept")((r, changed) => r.bytesKept + changed.map(_.getLen).sum),
      stage("skippingLeftOutByBounds", "files left out by bounds", StageCount.Bounds),
      stage("skippingLeftOutByCurve", "files left out by the curve", StageCount.Curve),
      stage("skippingLeftOutByMembers", "files left out by values", StageCount.Values),
      stage("skippingLeftOutByMemory", "files left out by memory", StageCount.Memory),
      // Known once the keys of the joins are.
      number("skippingLeftOutByJoins", "files left out by joins")((_, _) => 0),
      stage("skippingAnswered", "files answered from the index", StageCount.Answers),
      metric("skippingTime", "pruning time", SQLMetrics.createNanoTimingMetric(_, _))((r, _) =>
        (r.pruningMs * 1e6).toLong
      )
    )
  }

  /** Each Spark's constructor of a scan has the scan's own fields, and some have a field more than others. */
  def of(scan: FileSourceScanExec): SkippingScanExec =
    classOf[SkippingScanExec].getConstructors.head
      .newInstance(scan.productIterator.map(_.asInstanceOf[AnyRef]).toArray: _*)
      .asInstanceOf[SkippingScanExec]
}
