package org.sparkzorder.commit.catalog

import java.io.IOException

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.place.StorePlaces
import org.sparkzorder.commit.storage.ObjectFileOps

/** Brings what tasks have written to its place in a new folder, which no query reads yet. */
private[sparkzorder] object CatalogOutputs {

  /** Where tasks write the files of a partition. Made on file systems. */
  def staging(home: TableFolder, directory: Path, partition: String, operationId: String): Path = {
    val folder = TableFolder(directory, home.ops, home.threads)
    ObjectFileOps.storeOf(home).map(folder.uploadsOf(partition, operationId, _)).getOrElse {
      val dir = folder.stagingOf(partition, operationId)
      home.ops.mkdirs(dir)
      dir
    }
  }

  /**
   * @return the files as they are now, in the order of the outputs
   * @throws java.io.IOException when one of them is gone
   */
  def place(home: TableFolder, lock: Lock, directory: Path, outputs: Seq[PlacedOutput]): Seq[FileMeta] = {
    val store = ObjectFileOps.storeOf(home)
    WorkerThreads.each(outputs, home.threads) { o =>
      lock.checkInARow()
      (store, o.upload) match {
        case (Some(s), Some(upload)) =>
          if (!s.complete(o.to, upload) && s.status(o.to).isEmpty)
            throw new IOException(s"the upload of ${o.to} is gone: a lifecycle rule or another program aborted it")
        case _ => home.ops.rename(o.staged, o.to)
      }
    }
    if (store.isDefined)
      StorePlaces.discard(store.get, TableFolder(directory, home.ops, home.threads), lock.operationId)
    else
      outputs.map(_.staged.getParent).distinct.foreach { staging =>
        home.ops.deleteRecursive(staging)
        home.ops.deleteEmpty(staging.getParent)
        home.ops.deleteEmpty(staging.getParent.getParent)
      }
    val found = outputs.map(_.to.getParent).distinct.flatMap(home.ops.list).map(m => m.path.toString -> m).toMap
    outputs.map(o => found.getOrElse(o.to.toString, throw new IOException(s"${o.to} vanished")))
  }
}
