package org.sparkzorder.index

import java.io.IOException
import java.util.{LinkedHashMap => JLinkedHashMap}

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.slf4j.LoggerFactory

import org.sparkzorder.compat._

/**
 * Opens the index files in the side folder of a table.
 *
 * @param memory that indexes may take
 * @param whole reads a small file by one request, on an object store
 */
final class IndexStore(fs: FileSystem, memory: IndexMemory, whole: Option[(Path, Long) => Array[Byte]] = None) {

  private val log = LoggerFactory.getLogger(classOf[IndexStore])

  /**
   * The newest readable one of these, with the numbers in their names, newest first. A warning names each other one.
   */
  def newest(indexes: Seq[(Long, FileStatus)]): Option[IndexSnapshot] =
    indexes.iterator
      .flatMap { case (number, status) =>
        try Some(IndexCache.get(fs, number, status, memory, whole))
        catch {
          case e: IOException =>
            val what =
              s"The index ${status.getPath} cannot be read and is ignored. CREATE SKIPPING INDEX makes it again"
            log.warn(s"$what: ${e.getMessage}", e)
            None
        }
      }
      .nextOption()
}

/**
 * Indexes that this process keeps in memory, by URI, length and modification time of their files.
 * The least recently used ones are dropped first, and older ones of a table when a newer one is used.
 * An index takes more memory as its columns are loaded, so the sum is computed anew at each use.
 */
private[index] object IndexCache {

  /** @param folder the side folder, as a URI */
  private final case class Key(folder: String, number: Long, length: Long, modificationTime: Long) {

    /** A file with the same number is replaced too: the index was dropped and made again. */
    def replaces(other: Key): Boolean = other.folder == folder && other != this && other.number <= number
  }

  private val snapshots = new JLinkedHashMap[Key, IndexSnapshot](16, 0.75f, true)

  /** The index in this file, from memory if it is there. Throws what [[IndexFile.open]] throws. */
  def get(
      fs: FileSystem,
      number: Long,
      status: FileStatus,
      memory: IndexMemory,
      whole: Option[(Path, Long) => Array[Byte]]
  ): IndexSnapshot = {
    val path = status.getPath
    val key = Key(path.getParent.toUri.toString, number, status.getLen, status.getModificationTime)
    val cached = synchronized(Option(snapshots.get(key)))
    cached.foreach(_.sourceOnFileSystem.foreach(_.use(fs, whole)))
    val snapshot = cached.getOrElse(IndexFile.open(new HadoopSource(fs, status, whole), memory.block))
    synchronized {
      if (cached.isEmpty) snapshots.put(key, snapshot)
      snapshots.keySet.removeIf(key.replaces(_))
      trim(memory.cache)
    }
    snapshot
  }

  private def trim(maxBytes: Long): Unit = {
    var total = 0L
    snapshots.values.forEach(s => total += s.memoryBytes)
    val oldest = snapshots.entrySet.iterator
    while (total > maxBytes && oldest.hasNext) {
      total -= oldest.next().getValue.memoryBytes
      oldest.remove()
    }
  }

  private[index] def clear(): Unit = synchronized(snapshots.clear())

  private[index] def size: Int = synchronized(snapshots.size)
}

/**
 * How many bytes of the driver's memory indexes may take.
 *
 * @param cache for all indexes that are kept for the next query
 * @param block for one column while it is read; an index that needs more is not used
 */
final case class IndexMemory(cache: Long, block: Long)

object IndexMemory {
  private val MostByDefault = 256L << 20
  private val ShareOfHeap = 10

  /**
   * A size that the user has set is that of the cache, and of a block only if it is larger than the
   * default. Else the cache depends on the heap, and the block does not. So a small driver can read
   * a large index too, but does not keep it.
   *
   * @param heap the most bytes that this JVM may have
   */
  def of(said: Option[Long], heap: Long = Runtime.getRuntime.maxMemory): IndexMemory = said match {
    case Some(bytes) => IndexMemory(bytes, math.max(bytes, MostByDefault))
    case None        => IndexMemory(math.min(MostByDefault, heap / ShareOfHeap), MostByDefault)
  }
}
