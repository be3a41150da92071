package org.sparkzorder.membership

import org.apache.spark.util.collection.OpenHashSet

/**
 * Collects the values of one column of one file. Not thread-safe.
 *
 * @param areHashes whether the column's values are byte strings, which are known by their hashes
 * @param mostBytes that the result may have
 */
private[sparkzorder] final class MembershipBuilder(
    kind: MembershipKind,
    areHashes: Boolean,
    mostBytes: Int = MembershipFormat.MostBytes
) {
  private var numbers = new OpenHashSet[Long](64)
  private var last = 0L
  private var isFirst = true

  /** A value that is no byte string. */
  def add(value: Long): Unit = if (numbers != null && (isFirst || value != last)) {
    // Rows are often sorted by the column.
    last = value
    isFirst = false
    numbers.add(value)
    if (numbers.size > MembershipFormat.MostValues) numbers = null
  }

  def add(base: AnyRef, offset: Long, length: Int): Unit = add(ValueHash.of(base, offset, length))

  def add(bytes: Array[Byte]): Unit = add(ValueHash.of(bytes))

  /** None if there are too many values. */
  def result(): Option[Array[Byte]] = Option(numbers).map { found =>
    val sorted = found.iterator.toArray
    java.util.Arrays.sort(sorted)
    MembershipFormat.write(sorted, areHashes, kind == MembershipKind.Bloom)
  }.filter(_.length <= mostBytes)
}
