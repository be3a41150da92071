package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8

/** Statistics of a file in the tests' indexes: its rows. */
final case class Statistics(file: String, length: Long, time: Long, rows: Set[Int])

object Statistics {
  private val End = "end"

  def write(all: Iterable[Statistics]): Array[Byte] =
    (all.toSeq.sortBy(_.file).map(s => s"${s.file}|${s.length}|${s.time}|${s.rows.toSeq.sorted.mkString(",")}") :+ End)
      .mkString("\n").getBytes(UTF_8)

  /** Reads an index. A file that has its name is complete. */
  def read(bytes: Array[Byte]): Seq[Statistics] = {
    val lines = new String(bytes, UTF_8).split('\n').toSeq
    require(lines.last == End, "half an index")
    lines.init.map { line =>
      val Array(file, length, time, rows) = line.split("\\|", -1): @unchecked
      Statistics(file, length.toLong, time.toLong, rows.split(',').filter(_.nonEmpty).map(_.toInt).toSet)
    }
  }
}

/** Metrics of the history that count files, and one that is about all rows of an operation. */
object Counted {
  def metrics(inputs: Seq[InputFile], outputs: Seq[OutputFile]): Map[String, String] =
    files(inputs.size, outputs.size) + ("rowHash" -> "of all rows")

  def files(removed: Int, added: Int): Map[String, String] =
    Map("numRemovedFiles" -> removed.toString, "numAddedFiles" -> added.toString)
}
