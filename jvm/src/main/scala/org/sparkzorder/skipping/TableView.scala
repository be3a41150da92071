package org.sparkzorder.skipping

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.execution.datasources.FileIndex

import org.sparkzorder.commit.TableFolder
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.table.{PlacedFile, RelativePath}

/**
 * How a query sees one table folder.
 *
 * @param load statistics, if there are any that can be read; called when they are first asked for, since a query
 *   without a filter has no use for them
 * @param version last version of the table that was published, 0 for none
 * @param overlay what to put right in the listing while an operation that we may not finish lies half published
 */
final class TableView(
    val folder: TableFolder,
    load: => Option[IndexSnapshot],
    val version: Long,
    val overlay: Option[Overlay]
) {
  lazy val snapshot: Option[IndexSnapshot] = load

  def root: Path = folder.root

  private val names = new RelativePath(root)

  /** Which files of the index those of a listing are; None without an index. */
  private[skipping] def known(listing: FileIndex): Option[ListedOrdinals] =
    snapshot.map(ListedOrdinals.of(listing, root, names, _))

  def hides(file: FileStatus): Boolean = overlay.exists(_.hidden.contains(file.getPath))

  def addedTo(folder: Path): Seq[PlacedFile] = overlay.fold(Seq.empty[PlacedFile])(_.added.getOrElse(folder, Nil))

  override def equals(other: Any): Boolean = other match {
    case that: TableView =>
      root == that.root && version == that.version && snapshot == that.snapshot && overlay == that.overlay
    case _ => false
  }
  override def hashCode: Int = (root, version).hashCode
}

/**
 * @param hidden files to leave out
 * @param added files to take in, by the folder that they belong to
 */
final case class Overlay(hidden: Set[Path], added: Map[Path, Seq[PlacedFile]])
