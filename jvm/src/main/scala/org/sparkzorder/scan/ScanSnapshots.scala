package org.sparkzorder.scan

import java.io.{FileNotFoundException, IOException}

import scala.annotation.tailrec
import scala.util.{Failure, Try}

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.{PartitioningAwareFileIndex, PathFilterFactory}

import org.sparkzorder.commit.{
  HalfPublishedException,
  ReadAround,
  SideNames,
  TableFolder,
  UnreadableRecordException,
  VersionDirectory
}
import org.sparkzorder.commit.lock.LockSettings
import org.sparkzorder.commit.log.TableState
import org.sparkzorder.commit.storage.{ObjectFileOps, ObjectStores}
import org.sparkzorder.compat._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.index.{IndexMemory, IndexStore}
import org.sparkzorder.table.{ForeignFormats, PlacedFile, PlacedFiles, Targets}

/**
 * How a scan sees its tables, with half-done operations finished, undone or read around.
 *
 * @param listing of the relation's index
 * @param options of the relation, which may choose files
 * @param table as the catalog has it; None for folders and files
 * @param named files that the query names itself
 */
private[scan] final class ScanSnapshots(
    session: classic.SparkSession,
    listing: Listing,
    options: Map[String, String],
    table: Option[CatalogTable],
    named: Option[NamedFiles]
) {

  /** Tries to find a way around a living owner that goes on meanwhile. */
  private final val MostViews = 5

  /**
   * None if no table that the scan reads from has a side folder, and no table above it of which it is a partition by
   * its
   * name. This costs one look at the file system for each folder.
   */
  def views: Option[Seq[ScanSnapshot]] = {
    val all = roots
    // A folder without a side folder may be the name by which the listing shows files of another table.
    val found = if (all.forall(isBare)) Nil else settled(all)
    if (found.isEmpty) None else Some(found)
  }

  /**
   * The listed files, corrected for a half-published operation, also those of folders of which it has moved all files.
   */
  def around(index: PartitioningAwareFileIndex, views: Seq[ScanSnapshot]): PlacedFiles = {
    val isNamed = named.fold(Set.empty[Path])(_.paths)
    val (byName, byFolder) = index.allFiles().partition(f => isNamed(f.getPath))
    val folders = byFolder.map(_.getPath.getParent).toSet
    val roots = index.rootPaths.filterNot(isNamed).map(root => s"${root.toString.stripSuffix("/")}/")
    def isRead(folder: Path) = folders(folder) || roots.exists(s"$folder/".startsWith)
    val left = byFolder.filterNot(f => views.exists(_.hides(f))).map(f => PlacedFile(f.getPath, f))
    val added = views.flatMap(_.overlay).flatMap(_.added).collect { case (folder, moved) if isRead(folder) => moved }
    val ofNames = named.toSeq.flatMap { n =>
      byName.groupBy(_.getPath.getParent).toSeq.flatMap { case (folder, files) => n.sideOf(folder, files, views) }
    }
    val files = (left ++ added.flatten ++ ofNames).distinctBy(_.path)
    new PlacedFiles(session, options, Some(index.partitionSchema), files, Some(index.rootPaths))
  }

  private def isBare(root: Path): Boolean = Targets.isSurelyMissing(session, new Path(root, SideNames.Side))

  private def filters = PathFilterFactory.create(CaseInsensitiveMap(options))

  private def settled(roots: Seq[Path]): Seq[ScanSnapshot] = {
    val fileSystem = Targets.fileSystems(session)
    // Links may give a table two names. The first is that of the listing.
    val folders = roots.map(root => TableFolder(root, ObjectStores.ops(fileSystem(root))))
      .distinctBy(f => if (roots.sizeIs > 1) f.ops.realPath(f.root) else f.root)
    val timeout = session.sessionState.conf.getConf(ZOrderConf.lockTimeoutSeconds) * 1000
    // Spark keeps the listing of each partition of the catalog by itself.
    val isOne = !table.exists(_.partitionColumnNames.nonEmpty)
    val whole = new FreshListing(listing, folders, LockSettings(timeoutMillis = timeout), isOne, filters.nonEmpty)
    @tailrec def attempt(left: Int): Seq[ScanSnapshot] = {
      val settled = whole.settled()
      def halfDone = settled.find(_.state.around.isDefined).map(_.folder.root)
      Try(settled.flatMap(view(_, folders))) match {
        // The owner went on in this moment. Without a view of its table the query would read files as they are now.
        case Failure(_: FileNotFoundException) if left > 0 && halfDone.isDefined => attempt(left - 1)
        case Failure(e: IOException) if halfDone.isDefined => throw new HalfPublishedException(halfDone.get, e)
        case views                                         => views.get
      }
    }
    attempt(MostViews)
  }

  private def roots: Seq[Path] = table match {
    case Some(t) =>
      val location = Targets.qualified(session, new Path(t.location))
      (tableRoot(location) +: tablesAbove(location)).distinct
    case None =>
      val files = named.fold(Set.empty[Path])(_.paths)
      (listing.of.rootPaths.filterNot(files) ++ named.toSeq.flatMap(_.folders))
        .flatMap(p => tableRoot(ForeignFormats.withTablesAbove(p).last) +: tablesAbove(p)).distinct
  }

  /** A folder that is named like a partition belongs to the table above. A link may lead to one. */
  private def tablesAbove(folder: Path): Seq[Path] =
    Targets.spellings(session, folder).filter(ForeignFormats.isPartition).map(ForeignFormats.withTablesAbove(_).last)

  /** Of a folder that an operation has made, the folder with the table's side folder. */
  private def tableRoot(folder: Path): Path = VersionDirectory.tableRootOf(folder).getOrElse(folder)

  /** @param tables that the query reads */
  private def view(settled: SettledTable, tables: Seq[TableFolder]): Option[ScanSnapshot] = settled.state.state match {
    case state: TableState.SideFolder =>
      val folder = settled.folder
      val fs = Targets.fileSystem(session, folder.root)
      def snapshot =
        if (state.indexes.isEmpty) None
        else {
          val indexes = state.indexes.map(i => i.number -> i.status(fs))
          val memory = IndexMemory.of(session.sessionState.conf.getConf(ZOrderConf.indexCacheMaxBytes))
          new IndexStore(fs, memory, ObjectFileOps.reader(folder)).newest(indexes).filterNot(_.isOutdated)
        }
      val around = settled.state.around.map(overlay(fs, RecordedNames.of(folder, tables), _))
      val isMoved = () => FreshListing.isMovedSince(Seq(settled))
      val renewed = () => views.getOrElse(Nil)
      Some(new ScanSnapshot(folder, snapshot, state.version, around, movedTo(state), isMoved, renewed))
    case _ => None
  }

  /** Where the newest operation has put a table without partitions, if it moves to new folders. */
  private def movedTo(state: TableState.SideFolder): Option[Path] =
    try state.lastRecord.flatMap(_.locationChanges.find(_.partition.isTable)).map(change => new Path(change.to))
    catch { case _: FileNotFoundException | _: UnreadableRecordException => None }

  private def overlay(fs: FileSystem, names: RecordedNames, around: ReadAround): Correction = {
    val chosen = filters
    val added = for {
      a <- around.add
      status = fs.getFileStatus(a.meta.path)
      path <- names.paths(a.path)
      file = PlacedFile(path, status)
      if chosen.forall(_.accept(file.asNamed))
    } yield file
    Correction(around.leaveOut.flatMap(names.paths), added.groupBy(_.path.getParent))
  }
}
