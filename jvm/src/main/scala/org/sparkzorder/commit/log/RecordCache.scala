package org.sparkzorder.commit.log

import java.util.LinkedHashMap

import org.sparkzorder.commit.{FileMeta, Record}

/**
 * Parsed records. The least recently used ones are dropped first. Its size is counted in file
 * names, since one record may have ten names or a million. The newest record stays, however long it
 * is.
 */
private[commit] final class RecordCache(maxNames: Long) {
  private val records = new LinkedHashMap[FileMeta, Record](16, 0.75f, true)
  private var names = 0L

  /** Ten more than it has names, as a record without files takes memory, too. */
  private def sizeOf(record: Record): Long = 10L + record.inputs.length + record.outputs.length

  def get(file: FileMeta): Option[Record] = synchronized(Option(records.get(file)))

  def put(file: FileMeta, record: Record): Unit = synchronized {
    Option(records.put(file, record)).foreach(old => names -= sizeOf(old))
    names += sizeOf(record)
    val eldest = records.entrySet.iterator
    while (names > maxNames && records.size > 1) {
      names -= sizeOf(eldest.next().getValue)
      eldest.remove()
    }
  }

  private[commit] def size: Int = synchronized(records.size)
}
