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

  /** At least so many files should come of a partition, so that a lookup skips inside of it. */
  val FilesOfPartition = 8

  /**
   * The size for a table of which none was said: a power of two, so that about 64 files come of it, and at least 8 of a
   * partition, but from 8 to 256 MiB. A power of two stays the same while the table grows by a little, so later
   * statements find files of about the size that they would write. The partition that counts is that of a byte chosen
   * at random: small ones do not make the files of large ones small.
   *
   * For example, a table of 1 GiB gets files of 16 MiB, and one of 1 TiB of 256 MiB, or of 128 MiB if its partitions
   * have 1 GiB.
   *
   * @param folderBytes of the data files in each folder
   */
  def ofTable(folderBytes: Seq[Long]): TargetFileSize = {
    val table = folderBytes.sum
    val partition = if (table == 0) 0d else folderBytes.map(b => b.toDouble * b / table).sum
    val (ofTable, ofPartition) = (table.toDouble / Files, partition / FilesOfPartition)
    def power(exact: Double, rounded: Double => Double) =
      math.pow(2, rounded(math.log(math.max(1d, exact)) / math.log(2)))
    val (whole, part) = (power(ofTable, math.rint), power(ofPartition, math.floor))
    val exact = math.min(whole, part)
    val bytes = math.max(Least.toDouble, math.min(Most.toDouble, exact)).toLong
    val limit =
      if (bytes == Least && (if (part < whole) ofPartition else ofTable) < Least) ", and files are not made smaller"
      else if (bytes == Most && (if (part < whole) ofPartition else ofTable) > Most) ", and files are not made larger"
      else ""
    val why =
      if (part < whole && bytes < math.min(Most.toDouble, whole))
        s"a partition has ${ByteSizes.rounded(partition.toLong)}, of which at least $FilesOfPartition files should come"
      else s"the table has ${ByteSizes.rounded(table)}, of which about $Files files should come"
    TargetFileSize(bytes, why + limit)
  }

  /**
   * The same, but so that files of the given sizes, which only packing uses, are about right.
   *
   * @param least below which files are too small; None where it was not said
   * @param most above which files are too large; None where it was not said
   */
  def ofTable(folderBytes: Seq[Long], least: Option[Long], most: Option[Long]): TargetFileSize = {
    val free = ofTable(folderBytes)
    val (low, high) = (least.map(b => (b / LeastShare).toLong), most.map(b => math.max(1L, (b / MostShare).toLong)))
    val bytes = high.foldLeft(low.foldLeft(free.bytes)(math.max(_, _)))(math.min(_, _))
    if (bytes == free.bytes) free
    else TargetFileSize(bytes, "so that it is between the least and the greatest size asked for")
  }

  /** Files of less than this share of the target are small, and of more than that are large. */
  val LeastShare = 0.75
  val MostShare = 1.8
}
