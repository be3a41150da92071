package org.sparkzorder.index

import java.util.{LinkedHashMap => JLinkedHashMap}

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

/**
 * Indexes that this process keeps in memory. The least recently used ones are dropped first. An
 * index file is known by its URI, length and modification time. An index takes more memory as its
 * columns are loaded, so the sum is computed anew at each use.
 *
 * When the newest index of a table is used, older ones of the same table are dropped. A query plan
 * that has an older one still uses it. Columns that this plan has not loaded yet may be lost with
 * the index's file; they are then taken as missing.
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
