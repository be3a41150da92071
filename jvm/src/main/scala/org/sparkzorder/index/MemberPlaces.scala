package org.sparkzorder.index

import java.util.BitSet

/**
 * Where the values of a column are in an index file.
 *
 * @param blocks one for each file; null for a file of which the values are not known
 * @param filters the files that have a Bloom filter
 */
private[index] final case class MemberPlaces(blocks: Array[Block], filters: BitSet)

private[index] object MemberPlaces {

  /** Which are filters, then offsets, lengths, lengths in memory and checksums. All are 0 for a missing block. */
  def toRaw(places: MemberPlaces): Array[Byte] = {
    val n = places.blocks.length
    def of(f: Block => Long): Array[Long] = places.blocks.map(b => if (b == null) 0L else f(b))
    val out = new RawWriter(RawBytes.bitsSize(n) + 20L * n)
    out.bits(places.filters, n)
    out.longs(of(_.offset), _ => 0L)
    Seq[Block => Long](_.length.toLong, _.rawLength.toLong, _.crc).foreach(f => out.ints(of(f).map(_.toInt)))
    out.bytes
  }

  /**
   * @param blocksEnd the first byte behind the blocks
   * @param limit bytes that a block may have in memory
   * @throws IndexFormatException unless [[toRaw]] could have made these bytes for so many files
   */
  def fromRaw(files: Int, raw: Array[Byte], blocksEnd: Long, limit: Long): MemberPlaces = {
    val in = new RawReader(raw)
    val filters = in.bits(files)
    val offsets = in.longs(files)
    val lengths = in.ints(files)
    val rawLengths = in.ints(files)
    val crcs = in.ints(files)
    in.end()
    val blocks = Array.tabulate(files) { i =>
      if (lengths(i) == 0) null
      else Block.checked(offsets(i), lengths(i).toLong, rawLengths(i).toLong, crcs(i) & 0xffffffffL, blocksEnd, limit)
    }
    MemberPlaces(blocks, filters)
  }
}
