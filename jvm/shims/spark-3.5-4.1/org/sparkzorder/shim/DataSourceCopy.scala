package org.sparkzorder.shim

import org.apache.spark.sql.execution.datasources.DataSource

/** A copy of Spark's description of a source, to be extended. The number of its fields differs. */
class DataSourceCopy(source: DataSource)
    extends DataSource(
      source.sparkSession,
      source.className,
      source.paths,
      source.userSpecifiedSchema,
      source.partitionColumns,
      source.bucketSpec,
      source.options,
      source.catalogTable
    )
