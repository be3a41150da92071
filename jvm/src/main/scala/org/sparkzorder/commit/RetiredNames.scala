package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import scala.collection.mutable

/**
 * Hashes of file names, 64 bits each. A checkpoint has the hashes of all names that its records
 * retired and did not bring back. A name without its hash there was not retired, so that no record
 * need be read.
 */
private[commit] object RetiredNames {

  /**
   * The hashes after some more operations.
   *
   * @param before the hashes so far, in ascending order
   * @param records the records of the later operations, newest first
   */
  def added(before: Array[Long], records: Iterator[Record]): Array[Long] = {
    val decided = mutable.HashMap.empty[Long, Boolean]
    records.foreach { record =>
      record.outputs.foreach(o => decided.getOrElseUpdate(hash(o.path), false))
      record.inputs.foreach(i => decided.getOrElseUpdate(hash(i.path), true))
    }
    val all = before.filterNot(decided.contains) ++ decided.iterator.collect { case (name, true) => name }
    Arrays.sort(all)
    all
  }

  def contains(sorted: Array[Long], name: String): Boolean = Arrays.binarySearch(sorted, hash(name)) >= 0

  /** FNV-1a, its bits mixed once more as in MurmurHash3. */
  def hash(name: String): Long = {
    var h = 0xcbf29ce484222325L
    name.getBytes(UTF_8).foreach { b =>
      h ^= b & 0xff
      h *= 0x100000001b3L
    }
    h ^= h >>> 33
    h *= 0xff51afd7ed558ccdL
    h ^ (h >>> 33)
  }
}
