package org.sparkzorder.footer

import java.util.Locale

/** What the known keys of a file's key-value metadata mean for files that hold the same rows in another order. */
object KeyValues {

  val Pandas = "pandas"
  val Geo = "geo"
  val Arrow = "ARROW:schema"

  /**
   * Whether the key says who wrote the file and how its numbers are to be read: the writer of the new files sets it for
   * these, and the old value may be wrong of them (rebased dates, time zones of INT96).
   */
  def isOfWriter(key: String): Boolean = key.startsWith("org.apache.spark.") || key == "writer.model.name"

  /**
   * Whether the key says in which calendar or zone the file's dates and instants are. Hive reads these. They stay true
   * as long as Spark's reader and writer leave the stored numbers alone.
   */
  def isOfCalendar(key: String): Boolean =
    Set("writer.time.zone", "writer.date.proleptic", "writer.zone.conversion.legacy")(key)

  /** Whether the value repeats the file's schema, so that it is wrong of files with another one. */
  def isOfSchema(key: String): Boolean = key == Arrow || key.endsWith("avro.schema") || key == "iceberg.schema" ||
    key.startsWith("parquet.proto.") || key.startsWith("thrift.")

  /** Whether the value tells something of the rows of one file, and so is a lie of any other. */
  def isOfOneFile(key: String): Boolean = {
    val name = key.toLowerCase(Locale.ROOT)
    name.startsWith("hoodie") || name.startsWith("org.apache.hudi.") || OneFile.matches(name)
  }

  private val OneFile =
    "(?:.*[^a-z])?(?:num_?rows|row_?count|num_?records|record_?count|md5|sha1|sha256|checksum|bbox|file_?name)".r

  /** The value without what may differ between files of the same kind. */
  private[footer] def comparable(key: String, value: String): String = key match {
    case Pandas => PandasMetadata.parse(value).fold(value)(_.comparable)
    case Geo    => GeoMetadata.parse(value).fold(value)(_.comparable)
    case Arrow  => ArrowSchema.parse(value).fold(value)(_.comparable)
    case _      => value
  }

  /** What of the value is about the one file and can be united with others'. */
  private[footer] def extent(key: String, value: String): Option[String] = key match {
    case Pandas => PandasMetadata.parse(value).flatMap(_.labels)
    case Geo    => GeoMetadata.parse(value).map(_.extent)
    case _      => None
  }
}
