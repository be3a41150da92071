package org.sparkzorder.index

import java.util.{LinkedHashMap => JLinkedHashMap}

import org.apache.hadoop.fs.{FileStatus, FileSystem}

/**
 * Indexes of this process, the least recently used going first. An index file is known by its URI, length and
 * modification time. What an index takes grows as its columns are loaded, so the sum is made anew at each use.
 */
private[index] object IndexCache {
  private final case class Key(uri: String, length: Long, modificationTime: Long)

  private val snapshots = new JLinkedHashMap[Key, IndexSnapshot](16, 0.75f, true)

  /** The index in this file, from memory if it is there. Thrown is what [[IndexFile.open]] throws. */
  def get(fs: FileSystem, status: FileStatus, maxBytes: Long): IndexSnapshot = {
    val key = Key(status.getPath.toUri.toString, status.getLen, status.getModificationTime)
    val cached = synchronized(Option(snapshots.get(key)))
    // The file system of the session that loaded it may be closed by now.
    cached.foreach(_.sourceOnFileSystem.foreach(_.fs = fs))
    val snapshot = cached.getOrElse(IndexFile.open(new HadoopSource(fs, status), maxBytes))
    synchronized {
      if (cached.isEmpty) snapshots.put(key, snapshot)
      trim(maxBytes)
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
