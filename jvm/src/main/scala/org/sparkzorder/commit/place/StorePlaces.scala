package org.sparkzorder.commit.place

import java.io.IOException
import java.nio.file.AccessDeniedException

import scala.collection.concurrent.TrieMap

import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.log.{History, RecordJson, StagingDirectories}
import org.sparkzorder.compat._

/**
 * Folders on an object store, where none can be renamed.
 *
 * @param isAlone whether no other process can have taken the table's lock
 * @param claimed folders whose markers this process has claimed
 * @param keep as for [[StoragePlaces]]
 */
private[commit] final class StorePlaces(
    store: ObjectStore,
    folder: TableFolder,
    threads: Int,
    isAlone: () => Boolean = () => false,
    claimed: Seq[String] = Nil,
    keep: Option[Keep] = None
) extends Places {
  override type P = StorePlace

  /** The last decision that was seen in each folder. It is kept when steps are repeated. */
  private val seen = TrieMap[String, Decision](claimed.map(_ -> Decision.Staged): _*)

  override def of(record: Record, isRecovery: Boolean): Seq[Located[StorePlace]] = {
    val inFolder = if (record.folders.size > 1) 1 else threads
    val why = folder.otherRoot(record).map(root => s"The table was copied or moved from $root")
    record.folders.map { recorded =>
      val isOwn = claimed.contains(recorded.folder)
      def place(here: FolderWork) = new StorePlace(store, folder, record, here, isOwn, isAlone, seen, inFolder)
      // A copy of an object has an etag of its own.
      val here = if (why.isEmpty) recorded else place(recorded).asFound
      val found = place(here)
      keep.filter(_ => why.isDefined || found.isTorn).foreach(found.keep)
      Located(here.folder, here, found, why.filter(_ => keep.isEmpty).map(found.sides))
    }
  }

  override def moved(record: Record, except: Set[String]): Seq[Located[StorePlace]] = Nil

  override def away(record: Record, known: Seq[Located[StorePlace]]): Seq[AwayFolder] =
    known.filter(l => l.unclear.isEmpty && l.place.isUnclear()).map(l => AwayFolder.of(l.work, isGone = false))

  /** Of a table that was overwritten with its history, another operation may have a record of this name. */
  override def removeRecord(record: Record): Unit = {
    val publishing = folder.record(record, RecordState.Publishing)
    store.get(publishing, RecordJson.ReadLimit)
      .filter(found => RecordJson.parse(found.bytes, publishing).operationId == record.operationId)
      .foreach(found => store.delete(publishing, found.etag))
  }

  override def discard(record: Record): Unit = StorePlaces.discard(store, folder, record.operationId)

  override def rollBack(operationId: String, marked: Seq[String]): Boolean = {
    val dirs = StagingDirectories.read(folder, operationId)
    refuseUntold(operationId, dirs)
    val listed = store.list(folder.side)
    // If the operation was published after all, and only its clean-up is left, its copies stay.
    def isPublished(trash: FileMeta) = SideNames.trashVersion(trash.name).exists(SideListing.isPublished(listed, _))
    dirs.foreach { dir =>
      val marker = new FolderMarker(store, folder, dir)
      marker.read().filter(m => m.operationId == operationId && m.state == Decision.Staged).foreach(marker.remove)
      val trashes = store.list(folder.trashesOf(dir)).filter(t => t.name.endsWith(s"-$operationId") && !isPublished(t))
      trashes.foreach(t => folder.ops.deleteRecursive(t.path))
    }
    StorePlaces.discard(store, folder, operationId)
    true
  }

  /**
   * No record of the table tells of new files that are there, as in a copy to which the record did not come.
   *
   * @param dirs the folders that the operation marked
   */
  private def refuseUntold(operationId: String, dirs: Seq[String]): Unit = {
    def outputs = dirs.iterator.flatMap(dir => store.list(folder.resolve(dir)))
      .filter(m => !m.isDirectory && FileNames.isData(m.name) && m.name.contains(s"-$operationId-"))
    def isPublished = History.read(folder).exists(_.record.operationId == operationId)
    outputs.nextOption().filterNot(_ => isPublished).foreach { m =>
      throw new IOException(
        s"${folder.root} is a copy that was made while files were being exchanged, and the record of the operation " +
          s"that wrote ${m.path} is not in it: copy it again"
      )
    }
  }
}

private[commit] object StorePlaces {
  private val log = LoggerFactory.getLogger(classOf[StorePlaces])

  /** Removes what tasks left: uploads of attempts that do not count, and the manifest. */
  def discard(store: ObjectStore, folder: TableFolder, operationId: String): Unit =
    try {
      abortUploads(store, folder, operationId)
      // What S3A wrote for each of them.
      store.deleteAll(folder.uploads(operationId).flatMap(store.below) :+ folder.manifest(operationId))
    } catch {
      // The manifest is still there, so the next statement tries again.
      case e: IOException => log.warn(s"cannot remove what operation $operationId left in ${folder.root}", e)
    }

  /** A user who may not list uploads leaves those of failed attempts to a lifecycle rule. */
  private def abortUploads(store: ObjectStore, folder: TableFolder, operationId: String): Unit =
    try store.openUploads(folder.root).filter(_._1.getName.contains(operationId)).foreach {
        case (path, id) => store.abort(path, id)
      }
    catch {
      case e: AccessDeniedException =>
        log.warn(s"uploads of failed tasks may be left in ${folder.root}: they cannot be listed", e)
    }
}
