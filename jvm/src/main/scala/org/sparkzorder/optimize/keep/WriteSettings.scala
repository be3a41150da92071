package org.sparkzorder.optimize.keep

import java.util.Locale

import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructType, UserDefinedType}

import org.sparkzorder.compat._
import org.sparkzorder.footer.{FileFooter, TimestampKind}
import org.sparkzorder.optimize.options.OptimizeOptions
import org.sparkzorder.table.PlainTable

/** Settings that make the new files as similar to the old ones as possible, since other readers can read those. */
private[sparkzorder] object WriteSettings {

  def conf(table: PlainTable, options: OptimizeOptions, footers: Seq[FileFooter]): Map[String, String] = {
    val codec = options.compression.orElse(mostly(footers.flatMap(_.codec))).map { c =>
      s"spark.sql.${table.formatName}.compression.codec" -> (if (c == "none") "uncompressed" else c)
    }
    // Some old readers know only INT96, so it is kept. Other files do not get it, since footers
    // have no statistics for it. The session's setting does not count: with milliseconds, a default
    // for a column that the files lack could lose digits.
    val timestamps = TimestampKind.widest(footers.flatMap(_.timestamps)) match {
      case Some(TimestampKind.Int96) => TimestampKind.Int96
      case _                         => TimestampKind.Micros
    }
    val ofParquet = Option.when(table.formatName == "parquet")(
      "spark.sql.parquet.outputTimestampType" -> timestamps.sparkName
    )
    (codec ++ ofParquet).toMap ++ (if (table.formatName == "orc") readMapsOfOrc(table.dataSchema) else Map.empty) ++
      (if (footers.exists(_.hasDifferences)) readByRow else Map.empty)
  }

  /**
   * Spark's vectorized reader takes texts, binaries and decimals that are encoded as differences from a wrong place, if
   * their page is not compressed, and the file system checks sums. Its reader of rows does not. A chunk with a codec
   * may have pages without it, which the footer does not tell. So the codec does not matter here. See
   * [[org.sparkzorder.write.preserve.KnownEncodings]], too.
   */
  private def readByRow = Map(SQLConf.PARQUET_VECTORIZED_READER_ENABLED.key -> "false")

  /**
   * Spark's row reader for ORC makes a sorted map of every map, so it loses their order, and all but one of the values
   * of a key that a map has twice. Its vectorized reader does not, but by default it reads no table with many columns.
   */
  private def readMapsOfOrc(schema: StructType): Map[String, String] =
    if (!hasMap(schema)) Map.empty
    else Map(
      SQLConf.ORC_VECTORIZED_READER_ENABLED.key -> "true",
      SQLConf.ORC_VECTORIZED_READER_NESTED_COLUMN_ENABLED.key -> "true",
      SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> "true",
      SQLConf.WHOLESTAGE_MAX_NUM_FIELDS.key -> Int.MaxValue.toString
    )

  private def hasMap(t: DataType): Boolean = t match {
    case _: MapType            => true
    case s: StructType         => s.exists(f => hasMap(f.dataType))
    case a: ArrayType          => hasMap(a.elementType)
    case u: UserDefinedType[_] => hasMap(u.sqlType)
    case _                     => false
  }

  /** Options for the file writer: the table's own for this format, such as encryption, and those of the statement. */
  def options(table: PlainTable, options: OptimizeOptions): Map[String, String] = {
    val ofTable = table.relation.options match {
      // Some keys contain names of columns, so their case matters.
      case insensitive: CaseInsensitiveMap[String] => insensitive.originalMap
      case others                                  => others
    }
    // The codec comes from the files or from the statement, not from the table.
    val codecs = Set("parquet.compression", "orc.compress")
    ofTable.filter { case (key, _) =>
      key.toLowerCase(Locale.ROOT).startsWith(s"${table.formatName}.") && !codecs(key.toLowerCase(Locale.ROOT))
    } ++
      options.rowGroupSize.map { bytes =>
        (if (table.formatName == "parquet") "parquet.block.size" else "orc.stripe.size") -> bytes.toString
      }
  }

  /** How many rows a file may have, as for INSERT: the table's option comes before the session's; 0 for any number. */
  def maxRecords(table: PlainTable): Long = {
    val ofTable = CaseInsensitiveMap(table.relation.options).get("maxRecordsPerFile").flatMap(_.trim.toLongOption)
    math.max(0L, ofTable.getOrElse(table.session.sessionState.conf.maxRecordsPerFile))
  }

  private def mostly(codecs: Seq[String]): Option[String] =
    if (codecs.isEmpty) None else Some(codecs.groupBy(identity).toSeq.maxBy { case (c, all) => (all.size, c) }._1)
}
