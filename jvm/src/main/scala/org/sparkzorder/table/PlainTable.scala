package org.sparkzorder.table

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.types.StructType

/**
 * A folder with data files in it: the table's root, or one of its partitions.
 *
 * @param values the partition's values in the order of the partition schema
 */
final case class DataFolder(path: Path, values: InternalRow, files: Seq[FileStatus])

/**
 * A table of plain files.
 *
 * @param name how messages name it
 * @param root the folder that holds all of it, qualified
 * @param formatName parquet or orc
 */
final class PlainTable(
    val session: classic.SparkSession,
    val target: Target,
    val name: String,
    val root: Path,
    val formatName: String,
    val relation: HadoopFsRelation,
    val catalogTable: Option[CatalogTable]
) {
  lazy val fileSystem: FileSystem = Targets.fileSystem(session, root)
  val names = new RelativePath(root)

  /** Columns that lie in the files. */
  def dataSchema: StructType = relation.dataSchema
  def partitionSchema: StructType = relation.partitionSchema

  /** The same folder, read in another way. */
  def withRelation(other: HadoopFsRelation): PlainTable =
    new PlainTable(session, target, name, root, formatName, other, catalogTable)

  /** What lies in the file system now, not in a cache; in the order of the paths. */
  def folders(): Seq[DataFolder] = {
    relation.location.refresh()
    relation.location
      .listFiles(Nil, Nil)
      .flatMap { directory =>
        directory.files
          .map(_.fileStatus)
          .filter(_.getLen > 0)
          .groupBy(_.getPath.getParent)
          .map { case (parent, files) => DataFolder(parent, directory.values, files.sortBy(_.getPath.getName)) }
      }
      .sortBy(_.path.toString)
  }

  /** All files of [[folders]]. */
  def files(): Seq[FileStatus] = folders().flatMap(_.files)

  /** Makes the session forget listings and cached rows of the files that lay here. */
  def refreshCaches(): Unit = {
    relation.location.refresh()
    catalogTable.foreach(t => session.catalog.refreshTable(t.identifier.quotedString))
    CachedRelations.forget(session, root)
    session.catalog.refreshByPath(root.toString)
  }
}
