package org.sparkzorder.optimize.options

import org.sparkzorder.conf.ByteSizes

/**
 * The size that new files should have.
 *
 * @param bytes of a file
 * @param reason why this size, in words
 */
final case class TargetFileSize(bytes: Long, reason: String)

object TargetFileSize {

  /** The least and the greatest size that is chosen without being asked for. */
  val Least: Long = 8L << 20
  val Most: Long = 256L << 20

  /** About so many files make a table that is neither small nor large. */
  val Files = 64

  /**
   * The size for a table of which none was said: a power of two, so that about 64 files come of
   * it, from 45 to 91. More files let queries skip more, but each costs time to open, so none is
   * smaller than 8 MiB. No file is larger than 256 MiB. A power of two stays the same while the table
   * grows by a little, so later statements find files of about the size that they would write.
   *
   * For example, a table of 1 GiB gets files of 16 MiB, one of 100 MiB of 8 MiB, and one of 1 TiB of
   * 256 MiB.
   *
   * @param tableBytes of all data files of the table
   */
  def ofTable(tableBytes: Long): TargetFileSize = {
    val exact = math.max(1d, tableBytes.toDouble / Files)
    val power = math.pow(2, math.rint(math.log(exact) / math.log(2)))
    val bytes = math.max(Least.toDouble, math.min(Most.toDouble, power)).toLong
    val limit =
      if (bytes == Least && exact < Least) ", and files are not made smaller"
      else if (bytes == Most && exact > Most) ", and files are not made larger"
      else ""
    TargetFileSize(
      bytes,
      s"the table has ${ByteSizes.rounded(tableBytes)}, of which about $Files files should come$limit"
    )
  }

  /**
   * The same, but so that files of the given sizes, which only packing uses, are about right.
   *
   * @param least below which files are too small; None where it was not said
   * @param most above which files are too large; None where it was not said
   */
  def ofTable(tableBytes: Long, least: Option[Long], most: Option[Long]): TargetFileSize = {
    val free = ofTable(tableBytes)
    val (low, high) = (least.map(b => (b / LeastShare).toLong), most.map(b => math.max(1L, (b / MostShare).toLong)))
    val bytes = high.foldLeft(low.foldLeft(free.bytes)(math.max(_, _)))(math.min(_, _))
    if (bytes == free.bytes) free
    else TargetFileSize(bytes, "so that it is between the least and the greatest size asked for")
  }

  /** Files of less than this share of the target are small, and of more than that are large. */
  val LeastShare = 0.75
  val MostShare = 1.8
}
