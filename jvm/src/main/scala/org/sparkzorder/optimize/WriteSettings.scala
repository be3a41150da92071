package org.sparkzorder.optimize

import java.util.Locale

import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap

import org.sparkzorder.footer.{FileFooter, TimestampKind}
import org.sparkzorder.table.PlainTable

/** How the new files are written: as much like the old ones as can be, since other readers know those. */
private[sparkzorder] object WriteSettings {

  /** Session settings for the write. */
  def conf(table: PlainTable, options: OptimizeOptions, footers: Seq[FileFooter]): Map[String, String] = {
    val codec = options.compression.orElse(mostly(footers.flatMap(_.codec))).map { c =>
      s"spark.sql.${table.formatName}.compression.codec" -> (if (c == "none") "uncompressed" else c)
    }
    // Old readers know INT96 only; who has none in his files does not want it, its footers have no statistics.
    // The session's setting does not count: it may be milliseconds, and a column that the files lack has a default then.
    val timestamps = TimestampKind.widest(footers.flatMap(_.timestamps)) match {
      case Some(TimestampKind.Int96) => TimestampKind.Int96
      case _                         => TimestampKind.Micros
    }
    val ofParquet = Option.when(table.formatName == "parquet")(
      "spark.sql.parquet.outputTimestampType" -> timestamps.sparkName
    )
    (codec ++ ofParquet).toMap
  }

  /** Options of the file writer: those of the format that the table has (Bloom filters, encryption..), and ours. */
  def options(table: PlainTable, options: OptimizeOptions): Map[String, String] = {
    val ofTable = table.relation.options match {
      // Names of columns stand in some of them.
      case insensitive: CaseInsensitiveMap[String] => insensitive.originalMap
      case others                                  => others
    }
    // The codec is that of the files, or the statement's.
    val codecs = Set("parquet.compression", "orc.compress")
    ofTable.filter { case (key, _) =>
      key.toLowerCase(Locale.ROOT).startsWith(s"${table.formatName}.") && !codecs(key.toLowerCase(Locale.ROOT))
    } ++
      options.rowGroupSize.map { bytes =>
        (if (table.formatName == "parquet") "parquet.block.size" else "orc.stripe.size") -> bytes.toString
      }
  }

  private def mostly(codecs: Seq[String]): Option[String] =
    if (codecs.isEmpty) None else Some(codecs.groupBy(identity).toSeq.maxBy { case (c, all) => (all.size, c) }._1)
}
