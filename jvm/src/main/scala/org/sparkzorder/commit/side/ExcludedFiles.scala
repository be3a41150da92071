package org.sparkzorder.commit.side

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Locale

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{FileMeta, SideNames, TableFolder}
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.storage.AtomicFile
import org.sparkzorder.compat._

/**
 * A file of the side folder with the names of the columns that the table excludes from its
 * statistics. Otherwise only the catalog knows them, and a statement may name the folder by its
 * path. The file is never changed: the next one has the next number, and the highest counts.
 */
object ExcludedFiles {

  private val Name = """_excluded-(\d{10,18})\.txt""".r
  private val MaxBytes = 1L << 20

  private[commit] def isOne(name: String): Boolean = Name.matches(name)

  /** The files in a listing, highest number first. */
  private def in(statuses: Seq[FileMeta]): Seq[(Long, FileMeta)] = statuses.flatMap { meta =>
    meta.name match {
      case Name(digits) if !meta.isDirectory => Some(digits.toLong -> meta)
      case _                                 => None
    }
  }.sortBy(-_._1)

  /**
   * The names that were written last. None when there are none, or when they were taken back.
   *
   * @throws java.io.IOException when the file cannot be read: then the excluded columns are not known
   */
  def read(folder: TableFolder): Option[String] = newest(folder, in(folder.ops.list(folder.side)))

  private def newest(folder: TableFolder, files: Seq[(Long, FileMeta)]): Option[String] = files match {
    case (_, meta) +: older =>
      try Some(new String(folder.ops.read(meta.path, MaxBytes), UTF_8))
      // It was replaced by the next one, or taken back.
      catch { case _: FileNotFoundException => newest(folder, older) }
    case _ => None
  }

  /** Writes the names, or takes them back. Does nothing if they are the same already. Needs the lock. */
  def write(folder: TableFolder, lock: Lock, names: Option[String]): Unit = {
    val ops = folder.ops
    val files = in(lock.listing())
    if (newest(folder, files) != names) {
      names.foreach { text =>
        val number = files.headOption.fold(0L)(_._1) + 1
        val target =
          new Path(folder.side, SideNames.Hidden + String.format(Locale.ROOT, "excluded-%010d.txt", Long.box(number)))
        AtomicFile.put(ops, folder.newTemporary(), target, text.getBytes(UTF_8))(lock.check())
      }
      lock.check()
      // The newest goes last, as it counts until then.
      files.reverse.foreach { case (_, meta) => ops.delete(meta.path) }
    }
  }
}
