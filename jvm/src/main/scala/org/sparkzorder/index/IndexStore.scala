package org.sparkzorder.index

import java.io.IOException

import org.apache.hadoop.fs.{FileAlreadyExistsException, FileStatus, FileSystem, Path}
import org.slf4j.LoggerFactory

/**
 * The index files in the side folder of a table. This class deletes no old ones: only the commit
 * package knows when nobody needs them.
 *
 * @param root the table's root; the files are in its folder `_zorder`
 * @param memory that indexes may take
 */
final class IndexStore(fs: FileSystem, root: Path, memory: IndexMemory) {
  import IndexStore._

  private val folder = new Path(root, FolderName)

  /**
   * The index with the highest number that can be read. For one that cannot be read, a warning is
   * logged and the next older one is tried.
   *
   * @param statuses a listing of `_zorder`; files that are no indexes are ignored
   */
  def newest(statuses: Seq[FileStatus]): Option[IndexSnapshot] =
    statuses.iterator
      .filter(_.isFile)
      .flatMap(s => IndexName.numberOf(s.getPath.getName).map(_ -> s))
      .toSeq.sortBy(-_._1).iterator
      .flatMap { case (_, status) =>
        try Some(IndexCache.get(fs, status, memory))
        catch {
          case e: IOException =>
            log.warn(s"The index ${status.getPath} cannot be read and is ignored: ${e.getMessage}", e)
            None
        }
      }
      .nextOption()

  /**
   * Writes an index under a temporary name, which readers ignore, then renames it.
   *
   * @param number higher than that of every index in the folder
   * @return the status of the new index
   * @throws org.apache.hadoop.fs.FileAlreadyExistsException when the number is taken
   */
  def write(contents: IndexContents, number: Long): FileStatus = {
    val target = new Path(folder, IndexName.of(number))
    val temporary = new Path(folder, s"${target.getName}.tmp")
    if (fs.exists(target)) throw new FileAlreadyExistsException(s"There is an index at $target already")
    try {
      val out = fs.create(temporary, true)
      try IndexFile.write(out, contents)
      finally out.close()
    } catch {
      case e: Throwable =>
        try fs.delete(temporary, false)
        catch { case also: IOException => e.addSuppressed(also) }
        throw e
    }
    if (!fs.rename(temporary, target)) throw new IOException(s"The index $temporary could not be renamed to $target")
    fs.getFileStatus(target)
  }
}

object IndexStore {
  val FolderName = "_zorder"

  private val log = LoggerFactory.getLogger(classOf[IndexStore])
}
