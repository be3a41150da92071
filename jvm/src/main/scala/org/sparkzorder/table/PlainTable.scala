package org.sparkzorder.table

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.types.StructType

/**
 * A folder with data files: the table's root, or one of its partitions.
 *
 * @param values the partition's values in the order of the partition schema
 */
final case class DataFolder(path: Path, values: InternalRow, files: Seq[FileStatus]) {
  def bytes: Long = files.map(_.getLen).sum
}

/**
 * A table of plain files.
 *
 * @param formatName parquet or orc
 * @param relation as Spark reads the table, with a new listing that no query has used yet
 */
final class PlainTable(place: TableLocation, val formatName: String, val relation: HadoopFsRelation)
    extends TableLocation(place.session, place.target, place.name, place.root, place.catalogTable) {

  /** The columns that the files contain, without partition columns. */
  def dataSchema: StructType = relation.dataSchema
  def partitionSchema: StructType = relation.partitionSchema

  /** The same table with another relation, for example another schema. */
  def withRelation(other: HadoopFsRelation): PlainTable = new PlainTable(place, formatName, other)

  /**
   * The folders as they were when the table was opened, in the order of their paths. This does not
   * list the files again.
   *
   * @throws org.apache.spark.sql.AnalysisException when a folder was made by an operation on another folder
   *   than the table's
   */
  lazy val listed: Seq[DataFolder] = {
    val all = inListing()
    if (catalogTable.isDefined) TableRoots.refuseChanged(this, all.map(_.path))
    all
  }

  /** The folders as they are now, by a new listing. */
  def folders(): Seq[DataFolder] = {
    relation.location.refresh()
    inListing()
  }

  private def inListing(): Seq[DataFolder] =
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

  def files(): Seq[FileStatus] = folders().flatMap(_.files)

  /** Makes the session forget listings and cached rows of this table's files. */
  def refreshCaches(): Unit = {
    relation.location.refresh()
    // It may have been dropped or renamed meanwhile, and then the session keeps nothing of it.
    try catalogTable.foreach(t => session.catalog.refreshTable(t.identifier.quotedString))
    catch { case _: AnalysisException => () }
    Seq(root, location).distinct.foreach { folder =>
      CachedRelations.forget(session, folder)
      session.catalog.refreshByPath(folder.toString)
    }
  }
}
