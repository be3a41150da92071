package org.sparkzorder.memory.learn

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, SortOrder}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan, UnaryExecNode, WholeStageCodegenExec}
import org.apache.spark.sql.execution.datasources.{FilePartition, HadoopFsRelation}

import org.sparkzorder.memory.{FilterKey, ReaderSettings}

/**
 * Passes on the rows of a filter right above a scan of files, and learns in which files there are some.
 *
 * @param child the filter
 * @param filter what the child lets pass
 * @param relation that the scan reads
 */
final case class RememberExec(child: SparkPlan)(@transient filter: FilterKey, @transient relation: HadoopFsRelation)
    extends UnaryExecNode
    with CodegenSupport {

  override def nodeName: String = "Remember"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override protected def otherCopyArgs: Seq[AnyRef] = Seq(filter, relation)
  override protected def withNewChildInternal(newChild: SparkPlan): RememberExec =
    copy(child = newChild)(filter, relation)

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs() match {
    case Seq(input) => Seq(tallied(input, isFiltered = false))
    case several    => several
  }

  override def usedInputs: AttributeSet = AttributeSet.empty

  override protected def doProduce(ctx: CodegenContext): String = child.asInstanceOf[CodegenSupport].produce(ctx, this)

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val name = classOf[FileTally].getName
    val tally =
      ctx.addMutableState(name, "tally", v => s"$v = $name.listeningTo(inputs[0]);", forceInline = true)
    s"""
       |$tally.passed();
       |${consume(ctx, input)}
     """.stripMargin
  }

  override protected def doExecute(): RDD[InternalRow] = child match {
    // Its rows may come from a buffer, when the reader is further on.
    case _: WholeStageCodegenExec => child.execute()
    case _                        => tallied(child.execute(), isFiltered = true)
  }

  private def tallied(input: RDD[InternalRow], isFiltered: Boolean): RDD[InternalRow] = {
    val partitions = input.partitions.collect { case p: FilePartition => p }
    // The plan may be older than the settings that its tasks run with.
    val isAsPlanned = partitions.nonEmpty && ReaderSettings.of(relation).contains(filter.settings)
    if (!isAsPlanned || partitions.length < input.partitions.length) input
    else {
      val outcomes = new FileOutcomes
      sparkContext.register(outcomes)
      PendingScans.add(new PendingScan(
        filter,
        outcomes,
        partitions,
        relation.partitionSchema,
        System.currentTimeMillis()
      ))
      new TalliedRDD(input, outcomes, isFiltered)
    }
  }
}
