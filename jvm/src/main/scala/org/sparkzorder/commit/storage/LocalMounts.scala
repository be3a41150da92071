package org.sparkzorder.commit.storage

import java.nio.file.{Files, Path => LocalPath, Paths}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path

/** Where file systems are mounted on this machine. */
private[commit] object LocalMounts {

  /** Linux's list. It also has folders of the same disk that are mounted twice. */
  private val List = Paths.get("/proc/self/mountinfo")

  /** The column of the list with the folder. */
  private val Folder = 4

  /** Whether the folder, links followed, is on another file system than the one above its name. */
  def begins(path: Path): Boolean = {
    val real = nio(path).toRealPath()
    device(real) != device(nio(path.getParent).toRealPath()) || mounted(real.toString)
  }

  private def device(path: LocalPath): AnyRef =
    try Files.getAttribute(path, "unix:dev")
    // Not a system like Unix.
    catch { case _: UnsupportedOperationException | _: IllegalArgumentException => Files.getFileStore(path) }

  private def mounted(folder: String): Boolean = Files.isReadable(List) &&
    Files.readAllLines(List).asScala.map(_.split(' ')).exists(line =>
      line.length > Folder && plain(line(Folder)) == folder
    )

  /** The list writes a space as `\\040`. */
  private def plain(folder: String): String = "\\\\([0-7]{3})".r
    .replaceAllIn(
      folder,
      m => scala.util.matching.Regex.quoteReplacement(Integer.parseInt(m.group(1), 8).toChar.toString)
    )

  private def nio(path: Path): LocalPath = Paths.get(path.toUri.getPath)
}
