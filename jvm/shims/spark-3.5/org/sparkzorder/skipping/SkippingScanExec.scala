package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.collection.BitSet

/**
 * Spark's scan of files that tells in the plan and in the UI what was skipped. The constructor is that of [[FileSourceScanExec]]
 * of this Spark, since tree nodes are copied by reflection over it.
 */
class SkippingScanExec(
    relation: HadoopFsRelation,
    output: Seq[Attribute],
    requiredSchema: StructType,
    partitionFilters: Seq[Expression],
    optionalBucketSet: Option[BitSet],
    optionalNumCoalescedBuckets: Option[Int],
    dataFilters: Seq[Expression],
    tableIdentifier: Option[TableIdentifier],
    disableBucketedScan: Boolean
) extends FileSourceScanExec(
      relation,
      output,
      requiredSchema,
      partitionFilters,
      optionalBucketSet,
      optionalNumCoalescedBuckets,
      dataFilters,
      tableIdentifier,
      disableBucketedScan
    )
    with SkippingDisplay {
  override protected def plainScan: FileSourceScanExec = copy()

  // A rule that replaces a node by an equal one is taken to have changed nothing, whichever of the two is asked.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[SkippingScanExec]
  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)
  override def hashCode: Int = super.hashCode
}

object SkippingScanExec {
  def of(scan: FileSourceScanExec): SkippingScanExec = new SkippingScanExec(
    scan.relation,
    scan.output,
    scan.requiredSchema,
    scan.partitionFilters,
    scan.optionalBucketSet,
    scan.optionalNumCoalescedBuckets,
    scan.dataFilters,
    scan.tableIdentifier,
    scan.disableBucketedScan
  )
}
