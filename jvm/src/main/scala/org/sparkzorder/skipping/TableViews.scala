package org.sparkzorder.skipping

import java.io.{FileNotFoundException, IOException}

import scala.annotation.tailrec
import scala.util.{Failure, Try}

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitioningAwareFileIndex, PathFilterFactory}

import org.sparkzorder.commit._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.index.{IndexMemory, IndexStore}
import org.sparkzorder.table.{ForeignFormats, PlacedFile, PlacedFiles, Targets}

/** From a scan to how its tables lie now, with half-done operations finished, undone or read around. */
object TableViews extends Logging {

  /**
   * None when no table that the scan reads from has a side folder, nor one above of which it is a partition by its name:
   * one look at the file system each.
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
  ): Option[Seq[TableView]] = {
    val classicSession = session.asInstanceOf[classic.SparkSession]
    val found = roots(classicSession, listing.of, table, named).filterNot(isBare(classicSession, _))
    if (found.isEmpty) None
    else {
      val views = of(classicSession, listing, options, found)
      if (views.isEmpty) None else Some(views)
    }
  }

  /**
   * A listing with what a half-published operation has moved put right. Also a folder is there of which all files that the query
   * chooses have been moved.
   */
  def around(
      session: SparkSession,
      index: PartitioningAwareFileIndex,
      options: Map[String, String],
      views: Seq[TableView]
  ): PlacedFiles = {
    val listed = index.allFiles()
    val folders = listed.map(_.getPath.getParent).toSet
    val roots = index.rootPaths.map(root => s"${root.toString.stripSuffix("/")}/")
    def isRead(folder: Path) = folders(folder) || roots.exists(s"$folder/".startsWith)
    val left = listed.filterNot(f => views.exists(_.hides(f))).map(f => PlacedFile(f.getPath, f))
    val added = views.flatMap(_.overlay).flatMap(_.added).collect { case (folder, moved) if isRead(folder) => moved }
    val files = (left ++ added.flatten).distinctBy(_.path)
    new PlacedFiles(session, options, Some(index.partitionSchema), files, Some(index.rootPaths))
  }

  private def isBare(session: classic.SparkSession, root: Path): Boolean = {
    def isMissing(folder: Path) = Targets.isSurelyMissing(session, new Path(folder, TableFolder.Side))
    isMissing(root) && Targets.spellings(session, root).flatMap(NestedRoots.partitionedAbove).forall(isMissing)
  }

  private def of(
      session: classic.SparkSession,
      listing: Listing,
      options: Map[String, String],
      roots: Seq[Path]
  ): Seq[TableView] = {
    val conf = session.sessionState.conf
    val fileSystem = Targets.fileSystems(session)
    val folders = roots.map(root => TableFolder(root, new HadoopFileOps(fileSystem(root))))
    val settings = LockSettings(timeoutMillis = conf.getConf(ZOrderConf.lockTimeoutSeconds) * 1000)
    val waitMillis = conf.getConf(ZOrderConf.publishWaitSeconds) * 1000
    @tailrec def attempt(left: Int): Seq[TableView] = {
      val settled = whole(listing, folders, waitMillis, settings)
      def halfDone = settled.collectFirst { case (folder, now) if now.around.isDefined => folder.root }
      Try(settled.flatMap { case (folder, now) => view(session, folder, now, folders, options) }) match {
        // The owner went on in this moment. Without its view the query would read what lies there now.
        case Failure(_: FileNotFoundException) if left > 0 && halfDone.isDefined => attempt(left - 1)
        case Failure(e: IOException) if halfDone.isDefined => throw new HalfPublishedException(halfDone.get, e)
        case views                                         => views.get
      }
    }
    attempt(MostViews)
  }

  /** How often a living owner may go on while a query looks how to read around it. */
  private val MostViews = 5

  private def roots(
      session: classic.SparkSession,
      location: FileIndex,
      table: Option[CatalogTable],
      named: Option[NamedFiles]
  ): Seq[Path] =
    table match {
      case Some(t) => Seq(Targets.qualified(session, new Path(t.location)))
      // A partition's folder read by its path belongs to the table above.
      case None =>
        val files = named.fold(Set.empty[Path])(_.paths)
        (location.rootPaths.filterNot(files) ++ named.toSeq.flatMap(_.folders))
          .map(p => ForeignFormats.withTablesAbove(p).last).distinct
    }

  /** @param tables that the query reads. One above or below tells what lies half done in our folders, and nothing else */
  private def view(
      session: classic.SparkSession,
      folder: TableFolder,
      settled: ReadableState,
      tables: Seq[TableFolder],
      options: Map[String, String]
  ): Option[TableView] = settled.state match {
    case state: TableState.SideFolder if tables.contains(folder) || settled.around.isDefined =>
      val fs = Targets.fileSystem(session, folder.root)
      val names = ListedNames.of(folder, tables)
      def snapshot =
        if (!tables.contains(folder) || state.indexes.isEmpty) None
        else {
          val indexes = state.indexes.map(i => fs.getFileStatus(i.meta.path))
          val memory = IndexMemory.of(session.sessionState.conf.getConf(ZOrderConf.indexCacheMaxBytes))
          new IndexStore(fs, folder.root, memory).newest(indexes)
        }
      Some(new TableView(folder, snapshot, state.version, settled.around.map(overlay(fs, names, _, options))))
    case _ => None
  }

  private def overlay(
      fs: org.apache.hadoop.fs.FileSystem,
      names: ListedNames,
      around: ReadAround,
      options: Map[String, String]
  ): Overlay = {
    val filters = PathFilterFactory.create(CaseInsensitiveMap(options))
    val added = for {
      a <- around.add
      status = fs.getFileStatus(a.meta.path)
      path <- names.paths(a.path)
      file = PlacedFile(path, status)
      if filters.forall(_.accept(file.asNamed))
    } yield file
    Overlay(around.leaveOut.flatMap(names.paths), added.groupBy(_.path.getParent))
  }

  private val seenWhole = new SeenListings

  /**
   * The tables, and those above and below them that share folders, each as it may be read.
   *
   * A listing made before or while an operation was published holds files that are gone, or lacks files that came: it is made anew,
   * until nothing was published in any of them meanwhile.
   */
  @tailrec private def whole(
      listing: Listing,
      tables: Seq[TableFolder],
      waitMillis: Long,
      settings: LockSettings
  ): Seq[(TableFolder, ReadableState)] = {
    val own = tables.map(t => t -> Recovery.settled(t, waitMillis, settings, orStandstill = true))
    def beside(states: Seq[(TableFolder, TableState)], files: => Seq[Path]): Seq[TableFolder] =
      NestedRoots.beside(states, t => ListedNames.of(t, tables).of(files).map(TableFolder.parent))
    lazy val files = listed(listing)
    val nested = beside(own.map { case (t, s) => t -> s.state }, files)
    val settled = own ++ Recovery.settled(nested, waitMillis, settings, orStandstill = true)
    val relist = settled.exists { case (_, s) => s.exchanging || isStale(listing, files, s.state, tables) }
    val moved = relist && {
      listing.refresh()
      val now = settled.map { case (t, s) => (t, s, TableState.look(t.root, t.ops)) }
      def besideNow = beside(now.take(tables.size).map { case (t, _, state) => t -> state }, listed(listing))
      now.exists { case (_, before, after) => isMoved(before, after) } ||
      besideNow.map(_.root).toSet != nested.map(_.root).toSet
    }
    if (moved) whole(listing, tables, waitMillis, settings)
    else {
      settled.foreach { case (t, s) =>
        val operations = SeenOperations.of(s.state)
        if (s.around.isEmpty && operations != SeenOperations.none && operations != seenWhole.get(listing.of, t.root)) {
          seenWhole.put(listing.of, t.root, operations)
          if (tables.contains(t)) ReappearedFiles.look(listed(listing), s.state)
        }
      }
      settled
    }
  }

  private def listed(listing: Listing): Seq[Path] = listing.all.flatMap(_.files).map(_.getPath)

  /** Whether an operation was published, or is being published, since. */
  private def isMoved(before: ReadableState, after: TableState): Boolean = after match {
    case now: TableState.SideFolder =>
      before.around.isEmpty &&
      (now.publishing.nonEmpty || SeenOperations.of(now) != SeenOperations.of(before.state))
    case TableState.NoSideFolder => false
  }

  /** How many records are looked at for one that says how old a listing is; the number that a small cache holds. */
  private val MaxRecords = 32

  /**
   * Where no operation says how old the listing is, and there are many, it is taken for stale. So it is when it may be older than all
   * records that are files: a checkpoint is not read for it.
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
    val traces = unseen.iterator.take(MaxRecords).map(file => Traces.of(file, state.record(file)))
    try ListingAge.isStale(names, traces).getOrElse(mayLack || unseen.length > MaxRecords)
    catch {
      case e: UnreadableRecordException =>
        logWarning(s"The listing of ${state.folder.root} is made anew, since a record is unreadable", e)
        true
      // Renamed by a VACUUM, gathered into a checkpoint, ended as undone, or overwritten in this moment.
      case _: FileNotFoundException => true
    }
  }
}
