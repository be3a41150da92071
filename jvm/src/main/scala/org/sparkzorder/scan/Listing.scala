package org.sparkzorder.scan

import java.io.IOException
import scala.annotation.tailrec

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources._

import org.sparkzorder.commit.{HalfPublishedException, TableFolder}
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.table.PlacedFile

/**
 * Lists the files of an index once, for the planning of a scan and for the scan itself. Spark's index of a catalog
 * table would ask the metastore for the partitions each time.
 */
private[sparkzorder] final class Listing(val of: FileIndex) {
  private var made = Option.empty[FileIndex]
  private var known = Option.empty[Seq[PartitionDirectory]]

  /** The index that the scan reads through. It holds the listing, if all files were listed. */
  def source: FileIndex = made.getOrElse(of)

  def all: Seq[PartitionDirectory] = known.getOrElse {
    val index = of match {
      // Spark does the same if there is a filter on the partitions.
      case catalog: CatalogFileIndex => catalog.filterPartitions(Nil)
      case other                     => other
    }
    val listed = index.listFiles(Nil, Nil)
    made = Some(index)
    known = Some(listed)
    listed
  }

  /** The files of some partitions. May list fewer files. */
  def within(partitionFilters: Seq[Expression]): Seq[PartitionDirectory] =
    if (partitionFilters.isEmpty) all else source.listFiles(partitionFilters, Nil)

  /** Drops the listing. The next call lists anew. */
  def refresh(): Unit = {
    of.refresh()
    made = None
    known = None
  }
}

/** A listing as the query should see it while an operation is half published. */
private[sparkzorder] object ExchangeAwareListing {

  /**
   * The listing of a query that runs. Spark lists the partitions of a catalog's table by then, after the query was
   * planned. Files may have been exchanged meanwhile, so the tables are looked at once more.
   *
   * @param from the index that makes the listing
   * @throws org.sparkzorder.commit.HalfPublishedException when one operation follows the other all the time
   */
  def whenRun(list: => Seq[PartitionDirectory], views: Seq[ScanSnapshot], from: FileIndex): Seq[PartitionDirectory] = {
    @tailrec def attempt(now: Seq[ScanSnapshot], left: Int): Seq[PartitionDirectory] = {
      val listed = list
      now.find(_.isMoved) match {
        case None                    => of(listed, now, from)
        case Some(moved) if left > 0 => attempt(moved.renewed(), left - 1)
        case Some(moved)             => throw unsettled(moved.root)
      }
    }
    from match {
      case _: CatalogFileIndex => attempt(views, MostLooks)
      case _                   => of(list, views, from)
    }
  }

  /** So often a table is looked at again that changes while it is listed. */
  val MostLooks = 10

  def unsettled(table: Path): HalfPublishedException =
    new HalfPublishedException(table, new IOException("it changed again and again while it was listed"))

  /** @param from the index that made the listing */
  def of(listing: Seq[PartitionDirectory], views: Seq[ScanSnapshot], from: FileIndex): Seq[PartitionDirectory] =
    if (!views.exists(_.corrects)) listing
    else
      listing.map { directory =>
        val folders =
          if (directory.files.isEmpty) emptyFolders(directory, from)
          else directory.files.map(_.getPath.getParent).distinct
        val left = directory.files.filterNot(f => views.exists(_.hides(f.fileStatus)))
        val added = for { v <- views; folder <- folders; file <- v.movedTo(folder) } yield FileStatusWithMetadata(file)
        directory.copy(files = left ++ added.filterNot(a => left.exists(_.getPath == a.getPath)))
      }

  /** The folders of a directory without files. */
  private def emptyFolders(directory: PartitionDirectory, from: FileIndex): Seq[Path] = from match {
    case index: PartitioningAwareFileIndex if index.partitionSchema.isEmpty => index.rootPaths
    case index: PartitioningAwareFileIndex                                  =>
      index.partitionSpec().partitions.filter(_.values == directory.values).map(_.path)
    // The catalog is asked only when a partition without files is read.
    case index: CatalogFileIndex =>
      index.filterPartitions(Nil).partitionSpec().partitions.filter(_.values == directory.values).map(_.path)
    case _ => Nil
  }
}

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

/** Files that the query must not read, and those that it must read as well, by the folder that they belong to. */
final case class Correction(hidden: Set[Path], added: Map[Path, Seq[PlacedFile]])
