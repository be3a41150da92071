package org.sparkzorder.index

import java.io.IOException

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.slf4j.LoggerFactory

import org.sparkzorder.compat._

/**
 * Opens the index files in the side folder of a table. Only the commit package writes and deletes
 * them.
 *
 * @param memory that indexes may take
 * @param whole reads a small file by one request, on an object store
 */
final class IndexStore(fs: FileSystem, memory: IndexMemory, whole: Option[(Path, Long) => Array[Byte]] = None) {
  import IndexStore.log

  /**
   * The index with the highest number that can be read. For one that cannot be read, a warning is
   * logged and the next older one is tried.
   *
   * @param indexes the files with the numbers in their names, newest first
   */
  def newest(indexes: Seq[(Long, FileStatus)]): Option[IndexSnapshot] =
    indexes.iterator
      .flatMap { case (number, status) =>
        try Some(IndexCache.get(fs, number, status, memory, whole))
        catch {
          case e: IOException =>
            log.warn(
              s"The index ${status.getPath} cannot be read and is ignored. CREATE SKIPPING INDEX makes it again: " +
                e.getMessage,
              e
            )
            None
        }
      }
      .nextOption()
}

private object IndexStore {
  private val log = LoggerFactory.getLogger(classOf[IndexStore])
}
