package org.sparkzorder.commit.lock

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.sparkzorder.commit.{SideNames, TableFolder}

/**
 * A page for people who find the side folder, which may hold the only copy of rows. Only the root's side folder has it,
 * so that an operation writes one file and not one for each partition. No operation needs it.
 */
private[commit] object SideFolderReadme {
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.lock.SideFolderReadme")

  private val text: Array[Byte] =
    """DO NOT DELETE THIS FOLDER BY HAND. IT MAY HOLD THE ONLY COPY OF ROWS.
      |
      |spark-zorder keeps this folder beside the data files of the table. It also
      |keeps folders of this name inside partitions. Other readers ignore them.
      |
      |What is here:
      |  _v*.json        the history: one record for each finished operation
      |  _v*.publishing  an operation that is exchanging files at this moment, or
      |                  whose process died meanwhile
      |  _lock-*         which process works on the table
      |  staging/        new files that are not part of the table yet
      |  trash/          old files that an operation replaced; RESTORE needs them
      |  _index-*.zidx   statistics, by which queries skip files
      |  _excluded-*.txt columns that have no statistics
      |
      |While a file _v*.publishing is here, some rows of the table may be only in
      |staging/ and trash/. Then do not delete, load or repair anything by hand.
      |The next statement or query with spark-zorder finishes or undoes the
      |operation. You can do the same without Spark:
      |
      |  spark-zorder status PATH      shows what is half done; changes nothing
      |  spark-zorder recover PATH     finishes or undoes it
      |  spark-zorder uninstall PATH   removes this folder and those of the partitions
      |
      |PATH is the folder that contains this folder.
      |""".stripMargin.getBytes(UTF_8)

  private def path(folder: TableFolder): Path = new Path(folder.side, SideNames.Readme)

  /** Writes the page if it is missing or cut off. A failure is logged only: the page is for people. Needs the lock. */
  def write(folder: TableFolder): Unit =
    try {
      folder.ops.status(path(folder)) match {
        case Some(found) if found.length >= text.length => ()
        case found                                      =>
          if (found.isDefined) folder.ops.delete(path(folder))
          folder.ops.writeNew(path(folder), text)
      }
    } catch { case e: IOException => log.debug(s"cannot write ${path(folder)}", e) }

  /**
   * Removes the page if only the lock is beside it, so that the side folder can be removed. Object
   * stores have no folders to remove. Needs the lock.
   */
  def removeIfAlone(folder: TableFolder, lock: Path): Unit = if (folder.ops.keepsEmptyFolders) {
    val names = folder.ops.list(folder.side).map(_.name)
    if (names.toSet == Set(SideNames.Readme, lock.getName)) folder.ops.delete(path(folder))
  }
}
