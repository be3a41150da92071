package org.sparkzorder.memory.learn

import scala.util.Try

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, PredicateHelper}
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.{FilePartition, HadoopFsRelation, LogicalRelation, PartitionedFile}
import org.apache.spark.sql.execution.{
  CodegenSupport,
  FileSourceScanExec,
  FilterExec,
  LeafExecNode,
  ProjectExec,
  SparkPlan,
  WholeStageCodegenExec
}
import org.apache.spark.sql.internal.SQLConf

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.memory.{FilterKey, ReaderSettings, RememberedFiles, TableNames}
import org.sparkzorder.scan.FileRevalidation

/**
 * The filter right above a scan of files, which learns in which files there are rows that pass it. For Spark's rules it
 * is a filter like any other. A rule that makes a new filter of it makes one that does not learn.
 *
 * @param planned the condition that `filter` stands for
 * @param filter what passes
 * @param relation that the scan reads
 */
final class LearningFilterExec(condition: Expression, child: SparkPlan)(
    @transient planned: Expression,
    @transient filter: FilterKey,
    @transient relation: HadoopFsRelation
) extends FilterExec(condition, child) {

  /** Was planned under other settings than it ran with once. A reader is made at the first run, and then stays. */
  @transient @volatile private var isSilent = false

  @transient @volatile private var scanned = Option.empty[PendingScan]

  /** Files that were read to their end, and no row of them passed; None if the scan was not, or nothing was counted. */
  def filesWithoutRows: Option[Long] = scanned.flatMap(_.filesWithoutRows)

  override def nodeName: String = "Filter"
  override protected def otherCopyArgs: Seq[AnyRef] = Seq(planned, filter, relation)
  override protected def withNewChildInternal(newChild: SparkPlan): LearningFilterExec =
    new LearningFilterExec(condition, newChild)(planned, filter, relation)

  override def inputRDDs(): Seq[RDD[InternalRow]] = super.inputRDDs() match {
    case Seq(input) => Seq(tallied(input, isFiltered = false))
    case several    => several
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val above = parent
    parent = new MatchHook(above, output)
    try super.doConsume(ctx, input, row)
    finally parent = above
  }

  override protected def doExecute(): RDD[InternalRow] = child match {
    // Its rows may come from a buffer, when the reader is further on.
    case _: WholeStageCodegenExec => super.doExecute()
    case _                        => tallied(super.doExecute(), isFiltered = true)
  }

  private def tallied(input: RDD[InternalRow], isFiltered: Boolean): RDD[InternalRow] = {
    val partitions = input.partitions.collect { case p: FilePartition => p }
    // The plan may be older than the settings that its tasks run with. A rule may have changed the condition.
    def isAsPlanned =
      partitions.nonEmpty && condition == planned && ReaderSettings.of(relation).contains(filter.settings)
    isSilent ||= !isAsPlanned
    if (partitions.length < input.partitions.length || isSilent) input
    else {
      val outcomes = new FileOutcomes
      sparkContext.register(outcomes)
      val began = System.currentTimeMillis()
      val scan = new PendingScan(filter, outcomes, partitions, relation.partitionSchema, began, changed)
      scanned = Some(scan)
      PendingScans.add(scan)
      new TrackedPartitionRDD(input, outcomes, ReaderSettings.ofTask, isFiltered)
    }
  }

  private def changed(files: Seq[PartitionedFile]): Set[Path] = {
    val statuses = files.map(f => new FileStatus(f.fileSize, false, 0, 0, f.modificationTime, f.toPath))
    def failed(folder: Path, e: Exception): Unit = logWarning(s"Nothing is learned about files of $folder", e)
    FileRevalidation.of(relation.sparkSession, failed).fold(Set.empty[Path])(_.changedOf(statuses).map(_.getPath).toSet)
  }
}

/**
 * Stands between a filter and the node above it while code is generated, and notes each row that passes. In no plan.
 */
private final case class MatchHook(above: CodegenSupport, output: Seq[Attribute])
    extends LeafExecNode
    with CodegenSupport {
  parent = above

  override def usedInputs: AttributeSet = above.usedInputs
  override def inputRDDs(): Seq[RDD[InternalRow]] = throw new UnsupportedOperationException
  override protected def doProduce(ctx: CodegenContext): String = throw new UnsupportedOperationException
  override protected def doExecute(): RDD[InternalRow] = throw new UnsupportedOperationException

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val name = classOf[MatchTracker].getName
    val tally = ctx.addMutableState(name, "tally", v => s"$v = $name.listeningTo(inputs[0]);", forceInline = true)
    s"""
       |$tally.passed();
       |${above.doConsume(ctx, input, row)}
     """.stripMargin
  }
}

/** Decides which scans of tables with an index teach and ask the memory. */
private[sparkzorder] object MemoryPlanning extends PredicateHelper {

  /**
   * Whether the memory may be asked about a scan. A cluster may have the jar by other ways than Spark's. Then a user
   * says so by turning the memory on.
   */
  def isOn(relation: HadoopFsRelation): Boolean =
    SQLConf.get.getConf(ZOrderConf.memoryEnabled) && relation.bucketSpec.isEmpty &&
      (SQLConf.get.contains(ZOrderConf.memoryEnabled.key) || ExecutorJar.isThere(session(relation).sparkContext))

  /** The files without a row of a scan, by conjuncts that can be evaluated now and are not about partitions alone. */
  def filesWithout(
      l: LogicalRelation,
      relation: HadoopFsRelation,
      conjuncts: Seq[Expression]
  ): Option[RememberedFiles] =
    if (!isOn(relation) || !PendingScans.knows(TableNames.of(l, relation))) None
    else
      FilterKey.known(l, relation, conjuncts).flatMap { filter =>
        def now = ReaderSettings.of(relation).contains(filter.settings)
        PendingScans.filesWithout(filter, () => now)
      }

  /** The plan of a scan, with a node that learns if the scan has a filter that can be remembered. */
  def learning(plan: SparkPlan, l: LogicalRelation, relation: HadoopFsRelation): SparkPlan = plan match {
    case project @ ProjectExec(_, child) => project.copy(child = learning(child, l, relation))
    case filter @ FilterExec(condition, scan: FileSourceScanExec) if learns(relation) =>
      FilterKey.whole(l, relation, splitConjunctivePredicates(condition))
        .fold(filter)(f => new LearningFilterExec(condition, scan)(condition, f, scan.relation))
    case other => other
  }

  // Rules that exchange Spark's operators for others do not know this node.
  private def learns(relation: HadoopFsRelation): Boolean = session(relation).sessionState.columnarRules.isEmpty

  private def session(relation: HadoopFsRelation) = relation.sparkSession.asInstanceOf[classic.SparkSession]
}

/** Whether tasks can load this project's classes. Skipping by the index needs them on the driver only. */
private[learn] object ExecutorJar {

  private lazy val own: Option[String] =
    Try(getClass.getProtectionDomain.getCodeSource.getLocation.getPath).toOption.map(nameOf)

  /** Whether Spark gives the jar to the executors, or runs without any. */
  def isThere(context: SparkContext): Boolean =
    context.isLocal || own.exists(jar => jar.nonEmpty && jarsOf(context).exists(nameOf(_) == jar))

  /** On YARN, `--jars` goes this way. */
  private def jarsOf(context: SparkContext): Seq[String] =
    context.listJars() ++ context.getConf.get("spark.yarn.dist.jars", "").split(',')

  private def nameOf(path: String): String = path.substring(path.lastIndexOf('/') + 1)
}
