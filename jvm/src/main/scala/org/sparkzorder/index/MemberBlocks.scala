package org.sparkzorder.index

import java.lang.ref.SoftReference
import java.util.{Arrays, BitSet}
import java.util.concurrent.atomic.AtomicReferenceArray

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import org.sparkzorder.membership.{ColumnMembers, Membership, MembershipFormat}

/**
 * The values of one column, a block for each file. Blocks are read when they are asked for, and stay in memory as long
 * as the JVM has room. A block that cannot be read is taken as missing, with a warning. Safe for use by many threads.
 *
 * @param blocks of each file; null for a file of which the values are not known
 * @param shown the column, for messages
 */
private[index] final class MemberBlocks(source: BlockSource, id: Array[Byte], blocks: Array[Block], shown: String)
    extends ColumnMembers {
  import MemberBlocks._

  private val loaded = new AtomicReferenceArray[SoftReference[Membership]](blocks.length)

  def reader(wanted: BitSet): Int => Option[Membership] = {
    var ahead = Range(0L, Array.emptyByteArray)
    i =>
      Option(blocks(i)).flatMap { block =>
        Option(loaded.get(i)).flatMap(r => Option(r.get)).orElse(guarded {
          if (!ahead.has(block)) ahead = read(block.offset, end(i, wanted))
          val found = MembershipFormat.read(Block.unpack(id, block, ahead.of(block)))
          loaded.set(i, new SoftReference(found))
          found
        })
      }
  }

  /** The bytes of a file's values, which are to be copied. */
  def bytes(i: Int): Option[Array[Byte]] = Option(blocks(i)).flatMap(block =>
    guarded(Block.unpack(id, block, source.read(block.offset, block.length)))
  )

  def isKnown(i: Int): Boolean = blocks(i) != null

  /** The bytes that a file's values have in the index. */
  def lengthOf(i: Int): Long = Option(blocks(i)).fold(0L)(_.length.toLong)

  /** The end of what is read at once, if block i is needed: others that are wanted soon are read with it. */
  private def end(i: Int, wanted: BitSet): Long = {
    val start = blocks(i).offset
    var end = start + blocks(i).length
    var next = wanted.nextSetBit(i + 1)
    while (next >= 0 && next < blocks.length) {
      val block = blocks(next)
      val isNear = block != null && block.offset >= end && block.offset - end <= Gap
      if (isNear && block.offset + block.length - start <= AtOnce) end = block.offset + block.length
      next = if (block == null || isNear) wanted.nextSetBit(next + 1) else -1
    }
    end
  }

  private def read(start: Long, end: Long) = Range(start, source.read(start, (end - start).toInt))

  private def guarded[T](read: => T): Option[T] =
    try Some(read)
    catch {
      // A query must not fail because of its index, whatever the file system throws.
      case NonFatal(e) =>
        log.warn(
          s"The values of $shown in the index ${source.name} cannot be read and are not used: ${e.getMessage}",
          e
        )
        None
    }
}

private[index] object MemberBlocks {
  private val log = LoggerFactory.getLogger(classOf[MemberBlocks])

  private val AtOnce = 8L << 20
  private val Gap = 64L << 10

  private final case class Range(start: Long, bytes: Array[Byte]) {
    def has(b: Block): Boolean = b.offset >= start && b.offset + b.length <= start + bytes.length
    def of(b: Block): Array[Byte] =
      Arrays.copyOfRange(bytes, (b.offset - start).toInt, (b.offset - start).toInt + b.length)
  }

  /** The directory of the blocks: offsets, lengths, lengths in memory and checksums. All are 0 for a missing one. */
  def toRaw(blocks: Array[Block]): Array[Byte] = {
    def of(f: Block => Long): Array[Long] = blocks.map(b => if (b == null) 0L else f(b))
    val out = new RawWriter(20L * blocks.length)
    out.longs(of(_.offset), _ => 0L)
    Seq[Block => Long](_.length.toLong, _.rawLength.toLong, _.crc).foreach(f => out.ints(of(f).map(_.toInt)))
    out.bytes
  }

  /**
   * @param blocksEnd the first byte behind the blocks
   * @param limit bytes that a block may have in memory
   * @throws IndexFormatException unless [[toRaw]] could have made these bytes for so many files
   */
  def fromRaw(files: Int, raw: Array[Byte], blocksEnd: Long, limit: Long): Array[Block] = {
    val in = new RawReader(raw)
    val offsets = in.longs(files)
    val lengths = in.ints(files)
    val rawLengths = in.ints(files)
    val crcs = in.ints(files)
    in.end()
    Array.tabulate(files) { i =>
      if (lengths(i) == 0) null
      else Block.checked(offsets(i), lengths(i).toLong, rawLengths(i).toLong, crcs(i) & 0xffffffffL, blocksEnd, limit)
    }
  }
}
