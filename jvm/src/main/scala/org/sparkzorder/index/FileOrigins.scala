package org.sparkzorder.index

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream, EOFException}
import java.nio.charset.StandardCharsets.UTF_8

import org.sparkzorder.compat._

/**
 * What the operation that wrote each file of an index was to do: the JSON of its layout, or what it packed.
 * Operations of one layout have one text. A file that no OPTIMIZE wrote has none. Files are known by their
 * ordinal.
 */
private[index] final class FileOrigins(texts: IndexedSeq[String], textOf: Array[Int]) {

  /** The origin of file i. */
  def of(i: Int): Option[String] = if (textOf(i) < 0) None else Some(texts(textOf(i)))

  def memoryBytes: Long = 4L * textOf.length + texts.iterator.map(t => 56L + 2L * t.length).sum
}

private[index] object FileOrigins {

  /** The most bytes of all texts together. */
  val MaxTextBytes: Int = 16 << 20

  /** The most bytes that the block may have for so many files. */
  def maxBytes(files: Long): Long = MaxTextBytes + 4 + 4 * files

  /** The bytes of the block; None when no file has an origin. Texts for which there is no room are left out. */
  def toRaw(origins: IndexedSeq[Option[String]]): Option[Array[Byte]] = {
    val texts = origins.flatten.distinct.map(t => t -> t.getBytes(UTF_8))
    val ends = texts.iterator.map(4L + _._2.length).scanLeft(0L)(_ + _).drop(1).toVector
    val kept = texts.take(ends.count(_ <= MaxTextBytes))
    Option.when(kept.nonEmpty) {
      val buffer = new ByteArrayOutputStream
      val out = new DataOutputStream(buffer)
      SizedParts.write(out, kept.map(_._2))
      val number = kept.map(_._1).zipWithIndex.toMap
      origins.foreach(o => out.writeInt(o.flatMap(number.get).getOrElse(-1)))
      buffer.toByteArray
    }
  }

  /** @throws IndexFormatException unless [[toRaw]] could have made these bytes for so many files */
  def fromRaw(files: Int, raw: Array[Byte]): FileOrigins =
    try {
      val in = new DataInputStream(new ByteArrayInputStream(raw))
      val texts = SizedParts.read(in, "origin", MaxTextBytes).map(new String(_, UTF_8))
      if (in.available != 4L * files) throw new IndexFormatException("not one origin for each file")
      val textOf = Array.fill(files)(in.readInt())
      textOf.find(t => t < -1 || t >= texts.length).foreach(t =>
        throw new IndexFormatException(s"origin $t of ${texts.length}")
      )
      new FileOrigins(texts, textOf)
    } catch { case e: EOFException => throw new IndexFormatException("the origins are cut off", e) }
}
