package org.sparkzorder.optimize.keep

import org.apache.spark.internal.Logging

import org.sparkzorder.footer.traits.FileTraits
import org.sparkzorder.table.PlainTable
import org.sparkzorder.write.preserve.PreservedMetadata

/**
 * What the new files take over from the inputs beside the rows, such as field ids and key-value metadata. It is the
 * same for all files of a statement. See `docs/what-a-rewrite-keeps.md`.
 *
 * @param files what the writer of each file needs to know; None if nothing is kept
 * @param options options for the file writer; the table's own options override them
 * @param bloomFilters leaf columns that have a Bloom filter in some input, with the new files' spelling of their names
 * @param lost what cannot be kept, in words
 */
private[sparkzorder] final case class PreservedFromInputs(
    files: Option[PreservedMetadata],
    options: Map[String, String],
    bloomFilters: Seq[Seq[String]],
    lost: Seq[String]
) extends Logging {

  /** The same options for the writer, with column names in them spelled as in the new files. */
  def spelled(options: Map[String, String]): Map[String, String] = {
    val columns = files.fold(Map.empty[Seq[String], Seq[String]])(_.columns)
    options.map { case (key, value) =>
      val (prefix, column) = key.span(_ != '#')
      val path = column.drop(1).split('.').toSeq
      columns.get(path.map(_.toLowerCase(java.util.Locale.ROOT))) match {
        case Some(own) if column.nonEmpty => s"$prefix#${own.mkString(".")}" -> value
        case _                            => key -> value
      }
    }
  }

  def namesInAnyCase: Boolean = files.exists(_.namesInAnyCase)

  def warn(table: PlainTable): Unit =
    if (lost.nonEmpty) logWarning(s"OPTIMIZE of ${table.name} does not keep: $text")

  def history: Map[String, String] = if (lost.isEmpty) Map.empty else Map("notKept" -> text)

  private def text: String = {
    val shown = lost.take(PreservedFromInputs.MostShown).mkString("; ")
    if (lost.size > PreservedFromInputs.MostShown) s"$shown; and ${lost.size - PreservedFromInputs.MostShown} more"
    else shown
  }
}

private[sparkzorder] object PreservedFromInputs {

  private val MostShown = 20

  val nothing: PreservedFromInputs = PreservedFromInputs(None, Map.empty, Nil, Nil)

  def mixedCodecs(traits: Seq[FileTraits]): Seq[String] = {
    val codecs = traits.flatMap(_.codecs).distinct.sorted
    if (codecs.size > 1) Seq(codecs.mkString("compression (the files have ", ", ", ")")) else Nil
  }
}
