package org.sparkzorder.stream

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.DataSource
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.streaming.Source
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation

import org.sparkzorder.shim.DataSourceCopy

/** Gives streams over folders of Parquet and ORC files a source that can tell files of OPTIMIZE from new data. */
object StreamRule extends Rule[LogicalPlan] {
  private val formats: Seq[Class[_]] = Seq(classOf[ParquetFileFormat], classOf[OrcFileFormat])

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.isStreaming) plan
    else
      plan.resolveOperatorsUp {
        case r: StreamingRelation if isPlain(r.dataSource) => r.copy(dataSource = new TableDataSource(r.dataSource))
      }

  private def isPlain(source: DataSource): Boolean = source match {
    case _: TableDataSource => false
    case other              => formats.contains(other.providingClass)
  }
}

private final class TableDataSource(source: DataSource) extends DataSourceCopy(source) {

  // Spark takes a rule that replaces a node by an equal one to have changed nothing, so the two must not be equal.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[TableDataSource]
  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)
  override def hashCode: Int = super.hashCode

  override def createSource(metadataPath: String): Source = {
    val insensitive = CaseInsensitiveMap(source.options)
    insensitive.get("path") match {
      case Some(path) =>
        val session = source.sparkSession.asInstanceOf[classic.SparkSession]
        // That of the relation, whose columns are known. Files may have come since.
        val info = source.sourceInfo
        new TableStreamSource(
          session,
          path,
          source.className,
          info.schema,
          info.partitionColumns,
          metadataPath,
          insensitive
        )
      // Spark reports the missing path.
      case None => super.createSource(metadataPath)
    }
  }
}
