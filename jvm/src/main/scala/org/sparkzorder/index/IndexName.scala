package org.sparkzorder.index

/** Names of index files, which hold the number of the index. */
private[index] object IndexName {
  private val Name = """_index-(\d{10,18})\.zidx""".r

  /** For example `_index-0000000004.zidx`. */
  def of(number: Long): String = {
    require(number >= 0, s"an index cannot have the number $number")
    f"_index-$number%010d.zidx"
  }

  /** The number in a file's name; None for a file that is not an index. */
  def numberOf(name: String): Option[Long] = name match {
    case Name(digits) => Some(digits.toLong)
    case _            => None
  }
}
