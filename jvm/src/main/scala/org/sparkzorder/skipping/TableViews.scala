package org.sparkzorder.skipping

import java.util.{Collections, WeakHashMap}

import org.apache.hadoop.fs.{FileStatus, Path}
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
    val views = roots(classicSession, relation, table).flatMap(view(classicSession, relation.location, _))
    if (views.isEmpty) None else Some(views)
  }

  private def roots(session: classic.SparkSession, relation: HadoopFsRelation, table: Option[CatalogTable]): Seq[Path] =
    table match {
      case Some(t) =>
        val location = new Path(t.location)
        Seq(Targets.fileSystem(session, location).makeQualified(location))
      // A partition's folder read by its path belongs to the table above.
      case None => relation.location.rootPaths.map(p => ForeignFormats.withTablesAbove(p).last).distinct
    }

  private def view(session: classic.SparkSession, location: FileIndex, root: Path): Option[TableView] = {
    val conf = session.sessionState.conf
    val fs = Targets.fileSystem(session, root)
    val folder = TableFolder(root, new HadoopFileOps(fs))
    val settings = LockSettings(timeoutMillis = conf.getConf(ZOrderConf.lockTimeoutSeconds) * 1000)
    Recovery.settled(folder, conf.getConf(ZOrderConf.publishWaitSeconds) * 1000, settings) match {
      case (state: TableState.SideFolder, around) =>
        val indexes = state.indexes.map(i => fs.getFileStatus(i.meta.path))
        val snapshot =
          if (indexes.isEmpty) None else new IndexStore(fs, root, conf.getConf(ZOrderConf.indexCacheMaxBytes)).newest(indexes)
        freshen(location, state)
        Some(new TableView(root, snapshot, state.version, around.map(overlay(fs, folder, _))))
      case _ => None
    }
  }

  private def overlay(fs: org.apache.hadoop.fs.FileSystem, folder: TableFolder, around: ReadAround): Overlay = {
    val added = around.add.map { a =>
      val logical = folder.resolve(a.path)
      logical.getParent -> fs.getFileStatus(a.meta.path)
    }
    Overlay(around.leaveOut.map(folder.resolve), added.groupMap(_._1)(_._2))
  }

  /** Up to which version a listing was found to be whole. Listings live as long as their plans. */
  private val seenWhole = Collections.synchronizedMap(new WeakHashMap[FileIndex, java.lang.Long])

  /**
   * A listing made before or while the last operation was published holds files that are gone, or lacks files that came: it is made
   * anew.
   */
  private def freshen(location: FileIndex, state: TableState.SideFolder): Unit = {
    val version = state.version
    if (version > 0 && !Option(seenWhole.get(location)).exists(_.longValue >= version)) {
      val record =
        try state.lastRecord
        catch {
          case e: UnreadableRecordException =>
            logWarning(s"The listing of ${state.folder.root} is made anew, since its last record is unreadable", e)
            location.refresh()
            None
        }
      if (record.exists(r => isStale(location, state.folder.root, r))) location.refresh()
      seenWhole.put(location, version)
      ()
    }
  }

  private def isStale(location: FileIndex, root: Path, record: Record): Boolean = {
    val names = new RelativePath(root)
    val listed: Seq[FileStatus] = location.listFiles(Nil, Nil).flatMap(_.files.map(_.fileStatus))
    val paths = listed.iterator.map(f => names.of(f.getPath)).toSet
    val folders = paths.map(TableFolder.parent)
    // Folders that the listing does not reach (other partitions) say nothing.
    record.inputs.exists(i => paths.contains(i.path) && !record.outputs.exists(_.path == i.path)) ||
    record.outputs.exists(o => folders.contains(TableFolder.parent(o.path)) && !paths.contains(o.path))
  }
}
