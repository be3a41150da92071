package org.sparkzorder.footer

/**
 * The names of one struct in a file, where columns are found as Spark's readers find them. The
 * names are folded only once, so finding a column takes constant time.
 */
private[footer] final class FieldNames(names: IndexedSeq[String]) {
  import NameMatch._

  private val byFold: Map[String, IndexedSeq[Int]] = names.indices.groupBy(i => fold(names(i)))

  def find(wanted: String, caseSensitive: Boolean): NameMatch = {
    val similar = byFold.getOrElse(fold(wanted), IndexedSeq.empty)
    val same = similar.filter(i => names(i) == wanted)
    if (similar.isEmpty) Absent(inAnyCase = true)
    else if (caseSensitive) {
      if (same.isEmpty) Absent(inAnyCase = false)
      else if (same.size > 1) Ambiguous
      // ORC's reader finds fields of structs in any case, and takes the last one.
      else Found(same.head, exact = similar.size == 1)
    } else if (similar.size > 1) Ambiguous
    else Found(similar.head, exact = same.nonEmpty)
  }
}
