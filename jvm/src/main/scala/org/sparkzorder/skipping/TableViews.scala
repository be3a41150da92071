package org.sparkzorder.skipping

import java.io.FileNotFoundException

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, PartitioningAwareFileIndex}

import org.sparkzorder.commit._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.index.IndexStore
import org.sparkzorder.table.{ForeignFormats, Targets}

/** From a scan to how its tables lie now, with half-done operations finished, undone or read around. */
object TableViews extends Logging {

  /**
   * None when no table that the scan reads from has a side folder, nor one above of which it is a partition by its name:
   * one look at the file system each.
   *
   * @param listing of the relation's index
   */
  def of(
      session: SparkSession,
      relation: HadoopFsRelation,
      table: Option[CatalogTable],
      listing: Listing
  ): Option[Seq[TableView]] = {
    val classicSession = session.asInstanceOf[classic.SparkSession]
    val found = roots(classicSession, relation, table).filterNot(isBare(classicSession, _))
    if (found.isEmpty) None
    else {
      val views = of(classicSession, listing, found)
      if (views.isEmpty) None else Some(views)
    }
  }

  private def isBare(session: classic.SparkSession, root: Path): Boolean = {
    def isMissing(folder: Path) = Targets.isSurelyMissing(session, new Path(folder, TableFolder.Side))
    isMissing(root) && Targets.spellings(session, root).flatMap(NestedRoots.partitionedAbove).forall(isMissing)
  }

  private def of(session: classic.SparkSession, listing: Listing, roots: Seq[Path]): Seq[TableView] = {
    val conf = session.sessionState.conf
    val fileSystem = Targets.fileSystems(session)
    val folders = roots.map(root => TableFolder(root, new HadoopFileOps(fileSystem(root))))
    val settings = LockSettings(timeoutMillis = conf.getConf(ZOrderConf.lockTimeoutSeconds) * 1000)
    val settled = whole(listing, folders, conf.getConf(ZOrderConf.publishWaitSeconds) * 1000, settings)
    settled.flatMap { case (folder, now) => view(session, folder, now, folders) }
  }

  private def roots(session: classic.SparkSession, relation: HadoopFsRelation, table: Option[CatalogTable]): Seq[Path] =
    table match {
      case Some(t) => Seq(Targets.qualified(session, new Path(t.location)))
      // A partition's folder read by its path belongs to the table above.
      case None => folders(relation.location).map(p => ForeignFormats.withTablesAbove(p).last).distinct
    }

  /**
   * What the query reads but for the files that it names, by thousands maybe. They are no tables and are read as they are: no
   * operation makes others of them.
   */
  private def folders(location: FileIndex): Seq[Path] = location match {
    case listed: PartitioningAwareFileIndex
        if listed.rootPaths.size > 1 || listed.rootPaths.exists(ForeignFormats.isPartition) =>
      knownFolders.get(listed).getOrElse {
        val rest = mutable.LinkedHashSet.from(listed.rootPaths)
        // Spark asks for the file system of each.
        listed.allFiles().foreach(f => rest.remove(f.getPath))
        knownFolders.put(listed, rest.toSeq)((_, added) => added)
        rest.toSeq
      }
    case other => other.rootPaths
  }

  private val knownFolders = new ByListing[Seq[Path]]

  /** @param tables that the query reads. One above or below tells what lies half done in our folders, and nothing else */
  private def view(
      session: classic.SparkSession,
      folder: TableFolder,
      settled: Settled,
      tables: Seq[TableFolder]
  ): Option[TableView] = settled.state match {
    case state: TableState.SideFolder if tables.contains(folder) || settled.around.isDefined =>
      val fs = Targets.fileSystem(session, folder.root)
      val names = ListedNames.of(folder, tables)
      def snapshot =
        if (!tables.contains(folder) || state.indexes.isEmpty) None
        else {
          val indexes = state.indexes.map(i => fs.getFileStatus(i.meta.path))
          val mostBytes = session.sessionState.conf.getConf(ZOrderConf.indexCacheMaxBytes)
          new IndexStore(fs, folder.root, mostBytes).newest(indexes)
        }
      Some(new TableView(folder, snapshot, state.version, settled.around.map(overlay(fs, names, _))))
    case _ => None
  }

  private def overlay(fs: org.apache.hadoop.fs.FileSystem, names: ListedNames, around: ReadAround): Overlay = {
    val added = around.add.flatMap { a =>
      val status = fs.getFileStatus(a.meta.path)
      names.paths(a.path).map(_.getParent -> status)
    }
    Overlay(around.leaveOut.flatMap(names.paths), added.groupMap(_._1)(_._2))
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
  ): Seq[(TableFolder, Settled)] = {
    val own = tables.map(t => t -> Recovery.settled(t, waitMillis, settings))
    def beside(states: Seq[(TableFolder, TableState)], files: => Seq[Path]): Seq[TableFolder] =
      NestedRoots.beside(states, t => ListedNames.of(t, tables).of(files).map(TableFolder.parent))
    lazy val files = listed(listing)
    val nested = beside(own.map { case (t, s) => t -> s.state }, files)
    val settled = own ++ Recovery.settled(nested, waitMillis, settings)
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
  private def isMoved(before: Settled, after: TableState): Boolean = after match {
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
