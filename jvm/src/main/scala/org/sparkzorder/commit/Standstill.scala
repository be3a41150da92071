package org.sparkzorder.commit

import java.io.FileNotFoundException

/**
 * Tells whether a living owner that is publishing moves no files: it was stopped, or its file system hangs. Two surveys must
 * agree, at least a second apart. Each call asks for as little as it can, so it may be asked in a loop.
 */
private[commit] final class Standstill(folder: TableFolder) {
  import Standstill._

  private val began = System.currentTimeMillis()
  private var nextLook = began + PauseMillis
  private var last = Option.empty[Seq[Any]]

  /** @param busy a listing of the side folder that was made just now */
  def isSeen(busy: TableState.SideFolder): Boolean = {
    val start = System.currentTimeMillis()
    start >= nextLook && {
      val now = places(busy)
      val end = System.currentTimeMillis()
      // A survey lists all folders: of the time that a query waits, it is to take a small part.
      nextLook = end + math.max(PauseMillis, CostShare * (end - start))
      val same = now.isDefined && now == last
      last = now
      same
    }
  }

  /** Where all files of the operation are; None when its record is gone. What others write does not matter. */
  private def places(busy: TableState.SideFolder): Option[Seq[Any]] =
    try Some(busy.publishing.map { file =>
        val folders = FileLocations.listed(folder, RecordJson.read(folder, file)).folders
        file.version -> folders.map(f => (f.work.folder, f.traces, f.inPlace.keySet, f.retired.keySet, f.staged.keySet))
      })
    catch { case _: FileNotFoundException => None }
}

private object Standstill {
  private val PauseMillis = 1000L
  private val CostShare = 4L
}
