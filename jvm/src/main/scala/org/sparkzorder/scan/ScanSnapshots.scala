package org.sparkzorder.scan

import java.io.{FileNotFoundException, IOException}

import scala.annotation.tailrec
import scala.util.{Failure, Try}

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.{PartitioningAwareFileIndex, PathFilterFactory}

import org.sparkzorder.commit.{
  HalfPublishedException,
  ReadAround,
  RecordFile,
  SideNames,
  TableFolder,
  UnreadableRecordException,
  VersionDirectory
}
import org.sparkzorder.commit.lock.LockSettings
import org.sparkzorder.commit.log.{HistorySettings, TableState}
import org.sparkzorder.commit.machine.{ReadableState, Recovery}
import org.sparkzorder.commit.storage.{ObjectFileOps, ObjectStores}
import org.sparkzorder.compat._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.index.{IndexMemory, IndexStore}
import org.sparkzorder.table.{ForeignFormats, PlacedFile, PlacedFiles, Targets}

/** How a scan sees its tables, with half-done operations finished, undone or read around. */
private[scan] object ScanSnapshots extends Logging {

  /**
   * None if no table that the scan reads from has a side folder, and no table above it of which it is a partition by its
   * name. This costs one look at the file system for each folder.
   *
   * @param listing of the relation's index
   * @param options of the relation, which may choose files
   * @param named files that the query names itself
   */
  def of(
      session: SparkSession,
      listing: Listing,
      options: Map[String, String],
      table: Option[CatalogTable],
      named: Option[NamedFiles]
  ): Option[Seq[ScanSnapshot]] = {
    val classicSession = session.asInstanceOf[classic.SparkSession]
    val all = roots(classicSession, listing, table, named)
    // A folder without a side folder may be the name by which the listing shows files of another table.
    def renewed() = of(session, listing, options, table, named).getOrElse(Nil)
    val views =
      if (all.forall(isBare(classicSession, _))) Nil else of(classicSession, listing, options, all, () => renewed())
    if (views.isEmpty) None else Some(views)
  }

  /**
   * The listed files, corrected for a half-published operation. Includes folders from which all files that the query reads
   * have been moved.
   *
   * @param named files that the query names itself
   */
  def around(
      session: SparkSession,
      index: PartitioningAwareFileIndex,
      options: Map[String, String],
      named: Option[NamedFiles],
      views: Seq[ScanSnapshot]
  ): PlacedFiles = {
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

  private def isBare(session: classic.SparkSession, root: Path): Boolean =
    Targets.isSurelyMissing(session, new Path(root, SideNames.Side))

  private def of(
      session: classic.SparkSession,
      listing: Listing,
      options: Map[String, String],
      roots: Seq[Path],
      renewed: () => Seq[ScanSnapshot]
  ): Seq[ScanSnapshot] = {
    val conf = session.sessionState.conf
    val fileSystem = Targets.fileSystems(session)
    // Links may give a table two names. The first is that of the listing.
    val folders = roots.map(root => TableFolder(root, ObjectStores.ops(fileSystem(root))))
      .distinctBy(f => if (roots.sizeIs > 1) f.ops.realPath(f.root) else f.root)
    val settings = LockSettings(timeoutMillis = conf.getConf(ZOrderConf.lockTimeoutSeconds) * 1000)
    @tailrec def attempt(left: Int): Seq[ScanSnapshot] = {
      val settled = whole(listing, folders, settings)
      def halfDone = settled.find(_.state.around.isDefined).map(_.folder.root)
      Try(settled.flatMap(t => view(session, t, folders, options, renewed))) match {
        // The owner went on in this moment. Without a view of its table the query would read files as they are now.
        case Failure(_: FileNotFoundException) if left > 0 && halfDone.isDefined => attempt(left - 1)
        case Failure(e: IOException) if halfDone.isDefined => throw new HalfPublishedException(halfDone.get, e)
        case views                                         => views.get
      }
    }
    attempt(MostViews)
  }

  /** Tries to find a way around a living owner that goes on meanwhile. */
  private val MostViews = 5

  private def roots(
      session: classic.SparkSession,
      listing: Listing,
      table: Option[CatalogTable],
      named: Option[NamedFiles]
  ): Seq[Path] =
    table match {
      case Some(t) =>
        val location = Targets.qualified(session, new Path(t.location))
        (home(location) +: tablesAbove(session, location)).distinct
      case None =>
        val files = named.fold(Set.empty[Path])(_.paths)
        (listing.of.rootPaths.filterNot(files) ++ named.toSeq.flatMap(_.folders))
          .flatMap(p => home(ForeignFormats.withTablesAbove(p).last) +: tablesAbove(session, p)).distinct
    }

  /** A folder that is named like a partition belongs to the table above. A link may lead to one. */
  private def tablesAbove(session: classic.SparkSession, folder: Path): Seq[Path] =
    Targets.spellings(session, folder).filter(ForeignFormats.isPartition).map(ForeignFormats.withTablesAbove(_).last)

  /** Of a folder that an operation has made, the folder with the table's side folder. */
  private def home(folder: Path): Path = VersionDirectory.homeOf(folder).getOrElse(folder)

  /** @param tables that the query reads */
  private def view(
      session: classic.SparkSession,
      settled: SettledTable,
      tables: Seq[TableFolder],
      options: Map[String, String],
      renewed: () => Seq[ScanSnapshot]
  ): Option[ScanSnapshot] = settled.state.state match {
    case state: TableState.SideFolder =>
      val folder = settled.folder
      val fs = Targets.fileSystem(session, folder.root)
      val names = ListedNames.of(folder, tables)
      def snapshot =
        if (state.indexes.isEmpty) None
        else {
          val indexes = state.indexes.map(_.status(fs))
          val memory = IndexMemory.of(session.sessionState.conf.getConf(ZOrderConf.indexCacheMaxBytes))
          new IndexStore(fs, memory, ObjectFileOps.reader(folder)).newest(indexes)
        }
      val around = settled.state.around.map(overlay(fs, names, _, options))
      val isMoved = () => isMovedSince(Seq(settled))
      Some(new ScanSnapshot(folder, snapshot, state.version, around, movedTo(state), isMoved, renewed))
    case _ => None
  }

  /** Where the newest operation has put a table without partitions, if it moves to new folders. */
  private def movedTo(state: TableState.SideFolder): Option[Path] =
    try state.lastRecord.flatMap(_.switches.find(_.partition.isTable)).map(change => new Path(change.to))
    catch { case _: FileNotFoundException | _: UnreadableRecordException => None }

  private def overlay(
      fs: org.apache.hadoop.fs.FileSystem,
      names: ListedNames,
      around: ReadAround,
      options: Map[String, String]
  ): Correction = {
    val filters = PathFilterFactory.create(CaseInsensitiveMap(options))
    val added = for {
      a <- around.add
      status = fs.getFileStatus(a.meta.path)
      path <- names.paths(a.path)
      file = PlacedFile(path, status)
      if filters.forall(_.accept(file.asNamed))
    } yield file
    Correction(around.leaveOut.flatMap(names.paths), added.groupBy(_.path.getParent))
  }

  private val seenWhole = new SeenListings

  /** A table that a scan reads from, in a state in which it may be read. */
  private final case class SettledTable(folder: TableFolder, state: ReadableState)

  /**
   * The tables, each in a state in which it may be read.
   *
   * A listing that was made before or during the publishing of an operation shows files that are gone, or lacks files
   * that came. It is made anew, until nothing is published meanwhile.
   */
  @tailrec private def whole(listing: Listing, tables: Seq[TableFolder], settings: LockSettings): Seq[SettledTable] = {
    val settled = Recovery.settled(tables, Recovery.QueryWaitMillis, settings).map((SettledTable.apply _).tupled)
    lazy val files = listed(listing)
    // Spark's index is shared with plans that do not read around. So it is not listed anew in the midst of an exchange.
    val mustRelist = settled.exists { t =>
      t.state.exchanging && t.state.around.isEmpty || isStale(listing, files, t.state.state, tables)
    }
    if (mustRelist) listing.refresh()
    if (mustRelist && isMovedSince(settled)) whole(listing, tables, settings)
    else {
      remember(listing, tables, settled)
      settled
    }
  }

  /** Whether an operation was published since the tables were settled. */
  private def isMovedSince(settled: Seq[SettledTable]): Boolean = settled.exists { before =>
    val now = TableState.look(before.folder.root, before.folder.ops)
    isMoved(before.state, now)
  }

  /** Notes that the listing is whole up to the newest operation, and has it searched for retired names. */
  private def remember(listing: Listing, tables: Seq[TableFolder], settled: Seq[SettledTable]): Unit =
    settled.filter(_.state.around.isEmpty).foreach { t =>
      val operations = SeenOperations.of(t.state.state)
      if (operations != SeenOperations.none && operations != seenWhole.get(listing.of, t.folder.root)) {
        seenWhole.put(listing.of, t.folder.root, operations)
        ReappearedFiles.look(listed(listing), t.state.state)
      }
    }

  private def listed(listing: Listing): Seq[Path] = listing.all.flatMap(_.files).map(_.getPath)

  /**
   * Whether an operation was published or began publishing since. Files of operations that were read around
   * are named one by one.
   */
  private def isMoved(before: ReadableState, after: TableState): Boolean = after match {
    case now: TableState.SideFolder =>
      versions(now) != (if (before.around.isDefined) versions(before.state) else Nil) ||
      SeenOperations.of(now) != SeenOperations.of(before.state)
    case TableState.NoSideFolder => false
  }

  private def versions(state: TableState): Seq[Long] = state match {
    case side: TableState.SideFolder => side.publishing.map(_.version)
    case TableState.NoSideFolder     => Nil
  }

  /**
   * Whether the listing must be made anew. It counts as stale if many operations do not say how old it is, and if it may
   * be older than all records that are files: no line of the history is read for this.
   */
  private def isStale(
      listing: Listing,
      files: => Seq[Path],
      state: TableState,
      tables: Seq[TableFolder]
  ): Boolean = state match {
    case side: TableState.SideFolder =>
      val seen = seenWhole.get(listing.of, side.folder.root)
      val unseen = seen.unseen(side)
      unseen.nonEmpty && isStale(ListedNames.of(side.folder, tables).of(files), side, unseen, seen.mayLack(side))
    case TableState.NoSideFolder => false
  }

  private def isStale(
      names: Set[String],
      state: TableState.SideFolder,
      unseen: Seq[RecordFile],
      mayLack: Boolean
  ): Boolean = {
    val looked = unseen.take(HistorySettings.Whole)
    val isAll = !mayLack && looked.length == unseen.length
    try ListingAge.isStale(names, looked.iterator.map(PastOperation.of(_, state.record)), isAll).getOrElse(!isAll)
    catch {
      case e: UnreadableRecordException =>
        logWarning(s"The listing of ${state.folder.root} is made anew, since a record is unreadable", e)
        true
      // The record was renamed by a VACUUM, made a line of the history, undone, or overwritten in this moment.
      case _: FileNotFoundException => true
    }
  }
}
