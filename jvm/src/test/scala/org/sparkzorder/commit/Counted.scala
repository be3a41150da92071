package org.sparkzorder.commit

/** Metrics of the history that count files, and one that is about all rows of an operation. */
object Counted {
  def metrics(inputs: Seq[InputFile], outputs: Seq[OutputFile]): Map[String, String] =
    files(inputs.size, outputs.size) + ("rowHash" -> "of all rows")

  def files(removed: Int, added: Int): Map[String, String] =
    Map("numRemovedFiles" -> removed.toString, "numAddedFiles" -> added.toString)
}
