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
 * @param places of the blocks
 * @param shown the column, for messages
 */
private[index] final class MemberBlocks(source: BlockSource, id: Array[Byte], places: MemberPlaces, shown: String)
    extends ColumnMembers {
  import MemberBlocks._

  import places.blocks

  private val loaded = new AtomicReferenceArray[SoftReference[Membership]](blocks.length)
  @volatile private var isDamaged = false

  def isFilter(file: Int): Boolean = places.filters.get(file)

  def reader(wanted: BitSet): Int => Option[Membership] = {
    val bytes = copier(wanted)
    i =>
      Option(loaded.get(i)).flatMap(r => Option(r.get)).orElse(bytes(i).flatMap { raw =>
        try {
          val found = MembershipFormat.read(raw)
          loaded.set(i, new SoftReference(found))
          Some(found)
        } catch {
          case e: IllegalArgumentException =>
            warn(e)
            None
        }
      })
  }

  /** Gives the bytes of files' values, in the same way as `reader`. */
  def copier(wanted: BitSet): Int => Option[Array[Byte]] = {
    var ahead = Range(0L, Array.emptyByteArray)
    // A file that is gone is not asked for again by the same reader.
    var isGone = false
    i =>
      if (blocks(i) == null || isGone) None
      else
        try {
          if (!ahead.has(blocks(i))) ahead = read(blocks(i).offset, end(i, wanted))
          Some(Block.unpack(id, blocks(i), ahead.of(blocks(i))))
        } catch {
          // A query must not fail because of its index, whatever the file system throws.
          case NonFatal(e) =>
            isGone = !e.isInstanceOf[IndexFormatException]
            if (isGone || !isDamaged) warn(e)
            isDamaged ||= !isGone
            None
        }
  }

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

  private def warn(e: Throwable): Unit =
    log.warn(s"Values of $shown in the index ${source.name} cannot be read and are not used: ${e.getMessage}", e)
}

private object MemberBlocks {
  private val log = LoggerFactory.getLogger(classOf[MemberBlocks])

  private val AtOnce = 8L << 20
  private val Gap = 64L << 10

  private final case class Range(start: Long, bytes: Array[Byte]) {
    def has(b: Block): Boolean = b.offset >= start && b.offset + b.length <= start + bytes.length
    def of(b: Block): Array[Byte] =
      Arrays.copyOfRange(bytes, (b.offset - start).toInt, (b.offset - start).toInt + b.length)
  }
}
