package org.sparkzorder.commit

import java.io.FileNotFoundException

/**
 * Tells whether a living owner that is publishing moves no files: its process was stopped, or its
 * file system hangs. Two looks at all files of the operation must agree, at least a second apart.
 * It may be asked in a loop, since it limits how often it looks.
 */
private[commit] final class StallDetector(folder: TableFolder) {
  import StallDetector._

  private val began = System.currentTimeMillis()
  private var nextLook = began + PauseMillis
  private var last = Option.empty[Seq[FolderFiles]]

  /** @param busy a listing of the side folder that was made just now */
  def isStalled(busy: TableState.SideFolder): Boolean = {
    val start = System.currentTimeMillis()
    start >= nextLook && {
      val now = places(busy)
      val end = System.currentTimeMillis()
      // A look lists all folders. It may take only a small part of the time that the query waits.
      nextLook = end + math.max(PauseMillis, CostShare * (end - start))
      val same = now.isDefined && now == last
      last = now
      same
    }
  }

  /**
   * Where all files of the operation are; None when its record is gone. Other files do not matter.
   */
  private def places(busy: TableState.SideFolder): Option[Seq[FolderFiles]] =
    try Some(busy.publishing.flatMap { file =>
        FileLocations.listed(folder, RecordJson.read(folder, file)).folders.map { f =>
          FolderFiles(
            file.version,
            f.work.folder,
            f.hasOwnFolders,
            f.inPlace.keySet,
            f.retired.keySet,
            f.staged.keySet
          )
        }
      })
    catch { case _: FileNotFoundException => None }
}

private object StallDetector {
  private val PauseMillis = 1000L
  private val CostShare = 4L

  /** The names of an operation's files in each of their places. */
  private final case class FolderFiles(
      version: Long,
      folder: String,
      hasOwnFolders: Boolean,
      inPlace: Set[String],
      retired: Set[String],
      staged: Set[String]
  )
}
