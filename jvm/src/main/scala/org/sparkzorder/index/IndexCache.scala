package org.sparkzorder.index

import java.util.{LinkedHashMap => JLinkedHashMap}

import org.apache.hadoop.fs.{FileStatus, FileSystem}

/**
 * Indexes of this process, the least recently used going first. An index file is known by its URI, length and
 * modification time. What an index takes grows as its columns are loaded, so the sum is made anew at each use.
 *
 * Of each table the newest index counts, so older ones go when it is used. A plan that has one of these keeps it until the plan
 * goes. What it has not loaded by then may be gone with the index's file, and is as if it were not there.
 */
private[index] object IndexCache {

  /** @param folder the side folder, as a URI */
  private final case class Key(folder: String, name: String, length: Long, modificationTime: Long) {
    def number: Long = IndexStore.numberOf(name).getOrElse(-1L)

    /** Also a file of the same number: indexes were dropped and made again. */
    def replaces(other: Key): Boolean = other.folder == folder && other != this && other.number <= number
  }

  private val snapshots = new JLinkedHashMap[Key, IndexSnapshot](16, 0.75f, true)

  /** The index in this file, from memory if it is there. Thrown is what [[IndexFile.open]] throws. */
  def get(fs: FileSystem, status: FileStatus, memory: IndexMemory): IndexSnapshot = {
    val path = status.getPath
    val key = Key(path.getParent.toUri.toString, path.getName, status.getLen, status.getModificationTime)
    val cached = synchronized(Option(snapshots.get(key)))
    // The file system of the session that loaded it may be closed by now.
    cached.foreach(_.sourceOnFileSystem.foreach(_.fs = fs))
    val snapshot = cached.getOrElse(IndexFile.open(new HadoopSource(fs, status), memory.block))
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
