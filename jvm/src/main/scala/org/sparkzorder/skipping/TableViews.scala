package org.sparkzorder.skipping

import java.io.FileNotFoundException

import scala.annotation.tailrec

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation}

import org.sparkzorder.commit._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.index.IndexStore
import org.sparkzorder.table.{ForeignFormats, RelativePath, Targets}

/** From a scan to how its tables lie now, with half-done operations finished, undone or read around. */
object TableViews extends Logging {

  /** None when no table that the scan reads from has a side folder: one look at the file system each. */
  def of(session: SparkSession, relation: HadoopFsRelation, table: Option[CatalogTable]): Option[Seq[TableView]] = {
    val classicSession = session.asInstanceOf[classic.SparkSession]
    val views = roots(classicSession, relation, table)
      .filterNot(root => Targets.isSurelyMissing(classicSession, new Path(root, TableFolder.Side)))
      .flatMap(view(classicSession, relation.location, _))
    if (views.isEmpty) None else Some(views)
  }

  private def roots(session: classic.SparkSession, relation: HadoopFsRelation, table: Option[CatalogTable]): Seq[Path] =
    table match {
      case Some(t) => Seq(Targets.qualified(session, new Path(t.location)))
      // A partition's folder read by its path belongs to the table above.
      case None => relation.location.rootPaths.map(p => ForeignFormats.withTablesAbove(p).last).distinct
    }

  private def view(session: classic.SparkSession, location: FileIndex, root: Path): Option[TableView] = {
    val conf = session.sessionState.conf
    val fs = Targets.fileSystem(session, root)
    val folder = TableFolder(root, new HadoopFileOps(fs))
    val settings = LockSettings(timeoutMillis = conf.getConf(ZOrderConf.lockTimeoutSeconds) * 1000)
    val settled = whole(location, folder, conf.getConf(ZOrderConf.publishWaitSeconds) * 1000, settings)
    settled.state match {
      case state: TableState.SideFolder =>
        def snapshot =
          if (state.indexes.isEmpty) None
          else {
            val indexes = state.indexes.map(i => fs.getFileStatus(i.meta.path))
            new IndexStore(fs, root, conf.getConf(ZOrderConf.indexCacheMaxBytes)).newest(indexes)
          }
        Some(new TableView(folder, snapshot, state.version, settled.around.map(overlay(fs, folder, _))))
      case TableState.NoSideFolder => None
    }
  }

  private def overlay(fs: org.apache.hadoop.fs.FileSystem, folder: TableFolder, around: ReadAround): Overlay = {
    val added = around.add.map { a =>
      val logical = folder.resolve(a.path)
      logical.getParent -> fs.getFileStatus(a.meta.path)
    }
    Overlay(around.leaveOut.map(folder.resolve), added.groupMap(_._1)(_._2))
  }

  private val seenWhole = new SeenListings

  /**
   * A listing made before or while an operation was published holds files that are gone, or lacks files that came: it is made anew,
   * until nothing was published meanwhile.
   */
  @tailrec private def whole(
      location: FileIndex,
      folder: TableFolder,
      waitMillis: Long,
      settings: LockSettings
  ): Settled = {
    val settled = Recovery.settled(folder, waitMillis, settings)
    val relist = settled.exchanging || (settled.state match {
      case state: TableState.SideFolder => isStale(location, state)
      case TableState.NoSideFolder      => false
    })
    val moved = relist && {
      location.refresh()
      TableState.look(folder.root, folder.ops) match {
        case now: TableState.SideFolder =>
          settled.around.isEmpty && (now.publishing.nonEmpty || SeenOperations.of(now) != SeenOperations.of(
            settled.state
          ))
        case TableState.NoSideFolder => false
      }
    }
    if (moved) whole(location, folder, waitMillis, settings)
    else {
      if (settled.around.isEmpty) {
        val operations = SeenOperations.of(settled.state)
        if (operations != SeenOperations.none && operations != seenWhole.get(location, folder.root)) {
          seenWhole.put(location, folder.root, operations)
          ReappearedFiles.look(location, settled.state)
        }
      }
      settled
    }
  }

  /** How many records are looked at for one that says how old a listing is; the number that a small cache holds. */
  private val MaxRecords = 32

  /**
   * Where no operation says how old the listing is, and there are many, it is taken for stale. So it is when it may be older than all
   * records that are files: a checkpoint is not read for it.
   */
  private def isStale(location: FileIndex, state: TableState.SideFolder): Boolean = {
    val seen = seenWhole.get(location, state.folder.root)
    val unseen = seen.unseen(state)
    unseen.nonEmpty && {
      val names = new RelativePath(state.folder.root)
      val listed = location.listFiles(Nil, Nil).flatMap(_.files).map(f => names.of(f.getPath)).toSet
      val traces = unseen.iterator.take(MaxRecords).map(file => Traces.of(file, state.record(file)))
      try ListingAge.isStale(listed, traces).getOrElse(seen.mayLack(state) || unseen.length > MaxRecords)
      catch {
        case e: UnreadableRecordException =>
          logWarning(s"The listing of ${state.folder.root} is made anew, since a record is unreadable", e)
          true
        // Renamed by a VACUUM, gathered into a checkpoint, ended as undone, or overwritten in this moment.
        case _: FileNotFoundException => true
      }
    }
  }
}
