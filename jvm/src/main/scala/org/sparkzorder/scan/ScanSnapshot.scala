package org.sparkzorder.scan

import org.apache.hadoop.fs.{FileStatus, Path}

import org.sparkzorder.commit.TableFolder
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.table.PlacedFile

/**
 * How a query sees one table folder.
 *
 * @param load reads the index, if there is one. Called when the index is first needed: a query without a filter needs
 *   none
 * @param version the last published version of the table; 0 if there is none
 * @param overlay corrections to the listing while an operation that we may not finish is half published
 * @param findLocation where the newest operation has put a table without partitions, if it moves to new folders. Called
 *   for a table of the catalog
 * @param moved whether an operation has come further since
 * @param renewed how the query sees all its table folders now
 */
final class ScanSnapshot(
    val folder: TableFolder,
    load: => Option[IndexSnapshot],
    val version: Long,
    val overlay: Option[Correction],
    findLocation: => Option[Path],
    moved: () => Boolean,
    val renewed: () => Seq[ScanSnapshot]
) {
  lazy val snapshot: Option[IndexSnapshot] = load
  lazy val location: Option[Path] = findLocation

  def root: Path = folder.root

  /** Whether an operation has come further since, so that a listing that is made now may be of another state. */
  def isMoved: Boolean = moved()

  /** Whether a query that does without this view may read other rows. */
  def corrects: Boolean = overlay.isDefined

  def hides(file: FileStatus): Boolean = overlay.exists(_.hidden.contains(file.getPath))

  /** Files of a folder that an operation has moved for the moment. */
  def movedTo(folder: Path): Seq[FileStatus] =
    overlay.fold(Seq.empty[FileStatus])(_.added.getOrElse(folder, Nil).map(_.status))

  override def equals(other: Any): Boolean = other match {
    case that: ScanSnapshot =>
      root == that.root && version == that.version && snapshot == that.snapshot && overlay == that.overlay
    case _ => false
  }
  override def hashCode: Int = (root, version).hashCode
}

/**
 * @param hidden files that the query must not read
 * @param added files that the query must read as well, by the folder that they belong to
 */
final case class Correction(hidden: Set[Path], added: Map[Path, Seq[PlacedFile]])
