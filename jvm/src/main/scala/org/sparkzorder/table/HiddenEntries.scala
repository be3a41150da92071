package org.sparkzorder.table

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{FileMeta, FileNames, TiedNames, WorkerThreads}
import org.sparkzorder.commit.storage.ObjectStores

/** What is in data folders beside the files that Spark's own listing shows. */
private[sparkzorder] object HiddenEntries {

  private val Threads = 16

  /** One listing of an object store has so many objects. */
  private val PageOfListing = 1000

  /**
   * The files and folders directly in some folders that readers do not take for data. Each folder is listed once. On an
   * object store, one listing of the whole table takes the place of many small ones. It shows no folders.
   *
   * @param count the number of files of the table
   */
  def in(table: TableLocation, folders: Seq[Path], count: Long): Seq[FileMeta] = {
    val below =
      if (count >= PageOfListing / 2 * (folders.size - 1)) None
      else PathKinds.filesBelow(table.fileSystem, table.root)
    val (listed, others) = folders.partition(f => below.isDefined && (f == table.root || table.names.isBelow(f)))
    val wanted = listed.map(_.toUri.getPath).toSet
    val ofStore = for {
      file <- below.toSeq.flatten.sorted
      path = table.fileSystem.makeQualified(new Path(null, null, file))
      if isHidden(path.getName) && wanted(path.getParent.toUri.getPath)
    } yield FileMeta(path, 0, 0, isDirectory = false)
    val conf = table.session.sessionState.newHadoopConf()
    ofStore ++ WorkerThreads.map(others, Threads) { folder =>
      ObjectStores.ops(folder.getFileSystem(conf)).list(folder).filter(m => isHidden(m.name)).sortBy(_.name)
    }.flatten
  }

  private def isHidden(name: String): Boolean = !FileNames.isData(name) || TiedNames.mayBe(name)
}
