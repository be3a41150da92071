package org.sparkzorder.table

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic

import org.sparkzorder.statement.Target

/**
 * The location of a table, and what else is known before its files are listed.
 *
 * @param name how messages name the table
 * @param root the qualified folder that contains all of the table. If it is published through the
 *             catalog, the folder whose side folder tells of it
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

  /** The folder that the catalog names; the root for a folder without a table. */
  lazy val location: Path = catalogTable.fold(root)(t => Targets.qualified(session, new Path(t.location)))
}
