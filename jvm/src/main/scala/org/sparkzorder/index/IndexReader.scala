package org.sparkzorder.index

import java.util.Arrays

/** Reads the columns of an index file. A column may take so many bytes in memory. */
private[index] final class IndexReader(val source: BlockSource, val footer: IndexFooter, limit: Long) {

  /** Bytes between two pages: the header of the second one. */
  private final val Between = 1000L

  /**
   * The pages of columns that were written one after the other, by one read. A page is decompressed when it is its
   * turn.
   *
   * @throws IndexFormatException when the file does not have what its footer says
   * @throws java.io.IOException when it cannot be read
   */
  def pages(names: Seq[String], most: Long = Long.MaxValue): Iterator[PlainPage] = {
    val places = names.map(footer.place)
    val (from, until) = (places.head._1, places.last._1 + places.last._2)
    val limit = math.min(this.limit, most)
    val longest = names.length * (Block.maxLength(limit) + Between)
    if (from < 0 || until < from || until > source.length || until - from > longest) throw misplaced(names)
    val bytes = source.read(from, Math.toIntExact(until - from))
    places.iterator.map { case (offset, length) =>
      val at = offset - from
      if (at < 0 || length < 0 || at > bytes.length - length) throw misplaced(names)
      val block = Arrays.copyOfRange(bytes, at.toInt, (at + length).toInt)
      new PlainPage(Block.unpack(footer.id, block, limit), footer.files)
    }
  }

  private def misplaced(names: Seq[String]) =
    new IndexFormatException(s"the places of ${names.mkString(", ")} are outside of the file or not together")

  /** What [[IndexWriter.shared]] wrote: the number of each file's part, -1 for none, and the parts. */
  def shared(pages: Iterator[PlainPage]): (Array[Int], IndexedSeq[Array[Byte]]) = {
    val numbers = pages.next().longs(-1L)
    val page = pages.next()
    val (bytes, starts) = page.bytes()
    val parts = page.has.stream.toArray.toIndexedSeq.map(i => Arrays.copyOfRange(bytes, starts(i), starts(i + 1)))
    numbers.find(n => n < -1 || n >= parts.length).foreach(n =>
      throw new IndexFormatException(s"part $n of ${parts.length}")
    )
    (numbers.map(_.toInt), parts)
  }
}
