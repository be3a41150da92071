package org.sparkzorder.table

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic

import org.sparkzorder.statement.Target

/**
 * Where a table lies, and what else is known of it before its files are listed.
 *
 * @param name how messages name it
 * @param root the folder that holds all of it, qualified
 */
class TableLocation(
    val session: classic.SparkSession,
    val target: Target,
    val name: String,
    val root: Path,
    val catalogTable: Option[CatalogTable]
) {
  lazy val fileSystem: FileSystem = Targets.fileSystem(session, root)
  val names = new RelativePath(root)
}
