package org.sparkzorder.command

import org.sparkzorder.footer.{FileFooter, TimestampKind}
import org.sparkzorder.table.PlainTable

/** How the new files are written: as much like the old ones as can be, since other readers know those. */
private[command] object WriteSettings {

  /** Session settings for the write. */
  def conf(table: PlainTable, options: OptimizeOptions, footers: Seq[FileFooter]): Map[String, String] = {
    val codec = options.compression.orElse(mostly(footers.flatMap(_.codec))).map { c =>
      s"spark.sql.${table.formatName}.compression.codec" -> (if (c == "none") "uncompressed" else c)
    }
    // Old readers know INT96 only; who has none in his files does not want it, its footers have no statistics.
    val timestamps = TimestampKind.widest(footers.flatMap(_.timestamps)).map {
      case TimestampKind.Int96 => TimestampKind.Int96
      case _                   => TimestampKind.Micros
    }.filter(_ => table.formatName == "parquet").map("spark.sql.parquet.outputTimestampType" -> _.sparkName)
    (codec ++ timestamps).toMap
  }

  /** Options of the file writer. */
  def options(table: PlainTable, options: OptimizeOptions): Map[String, String] =
    options.rowGroupSize.map { bytes =>
      (if (table.formatName == "parquet") "parquet.block.size" else "orc.stripe.size") -> bytes.toString
    }.toMap

  private def mostly(codecs: Seq[String]): Option[String] =
    if (codecs.isEmpty) None else Some(codecs.groupBy(identity).toSeq.maxBy { case (c, all) => (all.size, c) }._1)
}
