package org.sparkzorder.index

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.parquet.schema.LogicalTypeAnnotation.stringType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BINARY
import org.apache.parquet.schema.Types

/**
 * What the OPTIMIZE that wrote a file was to do: the JSON of its layout, or what it packed. Those of one layout are
 * equal.
 */
private[index] final class FileOrigins(texts: IndexedSeq[String], textOf: Array[Int]) {
  def of(i: Int): Option[String] = if (textOf(i) < 0) None else Some(texts(textOf(i)))

  def memoryBytes: Long = 4L * textOf.length + texts.iterator.map(t => 56L + 2L * t.length).sum
}

private[index] object FileOrigins {

  /** The number of each file's text, and in the first row of a number the text. */
  val Columns: Seq[String] = Seq("written_for", "written_for_text")

  /** The most bytes of all texts together. */
  val MaxTextBytes: Int = 16 << 20

  /** Writes nothing when no file has an origin. Texts for which there is no room are left out. */
  def write(to: IndexWriter, origins: IndexedSeq[Option[String]]): Unit = {
    val texts = origins.flatten.distinct.map(t => t -> t.getBytes(UTF_8))
    var left = MaxTextBytes
    val kept = texts.takeWhile { case (_, bytes) => left -= 4 + bytes.length; left >= 0 }
    val number = kept.map(_._1).zipWithIndex.toMap
    val of = origins.map(_.flatMap(number.get).getOrElse(-1)).toArray
    val text = Types.optional(BINARY).as(stringType).named(Columns(1))
    if (kept.nonEmpty) to.shared(Columns(0), text, of, kept.map(_._2))
  }

  def read(from: IndexReader): FileOrigins = {
    val (of, texts) = from.shared(from.pages(Columns, MaxTextBytes + 10L * from.footer.files + 16))
    new FileOrigins(texts.map(new String(_, UTF_8)), of)
  }
}
