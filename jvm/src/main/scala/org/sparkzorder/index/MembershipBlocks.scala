package org.sparkzorder.index

import java.lang.ref.SoftReference
import java.util.{Arrays, BitSet}
import java.util.concurrent.atomic.AtomicReferenceArray

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import org.sparkzorder.membership.{ColumnMembership, Membership, MembershipFormat}

/**
 * The values of one column, a block for each file. Blocks stay in memory as long as the JVM has room. One that cannot
 * be read is taken as missing, with a warning. Safe for use by many threads.
 *
 * @param from where the block of each file begins, -1 for none
 * @param until where it ends
 * @param filters 1 for the files that have a Bloom filter
 * @param shown the column, for messages
 */
private[index] final class MembershipBlocks private (
    reader: IndexReader,
    from: Array[Long],
    until: Array[Long],
    filters: Array[Long],
    shown: String
) extends ColumnMembership {
  import MembershipBlocks._

  private val loaded = new AtomicReferenceArray[SoftReference[Membership]](from.length)
  @volatile private var isDamaged = false

  def isFilter(file: Int): Boolean = filters(file) == 1L

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
      if (from(i) < 0 || isGone) None
      else
        try {
          if (!ahead.has(from(i), until(i))) ahead = read(from(i), end(i, wanted))
          Some(Block.unpack(reader.footer.id, ahead.of(from(i), until(i)), MembershipFormat.MostBytes.toLong))
        } catch {
          // A query must not fail because of its index, whatever the file system throws.
          case NonFatal(e) =>
            isGone = !e.isInstanceOf[IndexFormatException]
            if (isGone || !isDamaged) warn(e)
            isDamaged ||= !isGone
            None
        }
  }

  /** The end of what is read at once, if block i is needed: others that are wanted soon are read with it. */
  private def end(i: Int, wanted: BitSet): Long = {
    var end = until(i)
    var next = wanted.nextSetBit(i + 1)
    while (next >= 0 && next < from.length) {
      val isNear = from(next) >= end && from(next) - end <= Gap
      if (isNear && until(next) - from(i) <= AtOnce) end = until(next)
      next = if (from(next) < 0 || isNear) wanted.nextSetBit(next + 1) else -1
    }
    end
  }

  private def read(start: Long, end: Long) = Range(start, reader.source.read(start, (end - start).toInt))

  private def warn(e: Throwable): Unit =
    log.warn(s"Values of $shown in the index ${reader.source.name} cannot be read and are not used: ${e.getMessage}", e)
}

private[index] object MembershipBlocks {
  private val log = LoggerFactory.getLogger(classOf[MembershipBlocks])

  private val AtOnce = 8L << 20
  private val Gap = 64L << 10

  /** Where the values of a file begin and end in the index file, and 1 if they are a Bloom filter. */
  def columns(name: String): Seq[String] = Seq("from", "until", "filter").map(suffix => s"${name}_values_$suffix")

  /**
   * Writes the values, and then where they are.
   *
   * @param known the files whose values may be kept
   * @param mostBytes behind so many bytes of the index, no more values are written
   */
  def write(
      to: IndexWriter,
      name: String,
      known: BitSet,
      valuesOf: Int => Option[Array[Byte]],
      mostBytes: Long
  ): Unit = {
    val (from, until, filter) = (new Array[Long](to.files), new Array[Long](to.files), new Array[Long](to.files))
    PlainPage.foreach(known)(i =>
      if (to.size <= mostBytes) valuesOf(i).foreach { raw =>
        from(i) = to.size
        to.block(raw)
        until(i) = to.size
        if (MembershipFormat.isFilter(raw)) filter(i) = 1L
      }
    )
    val has = PlainPage.where(to.files)(until(_) > 0L)
    if (to.size > mostBytes)
      log.warn(s"The index keeps the values of $name only for ${has.cardinality} of ${to.files} " +
        s"files: it would have more than $mostBytes bytes")
    columns(name).zip(Seq(from, until, filter)).foreach { case (column, v) => to.numbers(column, has, v(_)) }
  }

  /** @throws IndexFormatException unless [[write]] could have made the columns */
  def read(reader: IndexReader, name: String, shown: String): MembershipBlocks = {
    val pages = reader.pages(columns(name))
    val (from, until, filters) = (pages.next().longs(-1L), pages.next().longs(-1L), pages.next().longs(-1L))
    val most = Block.maxLength(MembershipFormat.MostBytes.toLong)
    from.indices.foreach(i =>
      if (until(i) < from(i) || until(i) - from(i) > most || until(i) > reader.source.length)
        throw new IndexFormatException(s"values from ${from(i)} until ${until(i)}")
    )
    new MembershipBlocks(reader, from, until, filters, shown)
  }

  private final case class Range(start: Long, bytes: Array[Byte]) {
    def has(from: Long, until: Long): Boolean = from >= start && until <= start + bytes.length
    def of(from: Long, until: Long): Array[Byte] =
      Arrays.copyOfRange(bytes, (from - start).toInt, (until - start).toInt)
  }
}
