package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import scala.collection.mutable

/**
 * Hashes of file names, 64 bits each. A checkpoint carries those of the names that its records retired and did not bring back, so
 * that one look tells nearly always that a name is none of them.
 */
private[commit] object RetiredNames {

  /**
   * What is retired after some more operations.
   *
   * @param before in ascending order
   * @param records of later operations, newest first
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
