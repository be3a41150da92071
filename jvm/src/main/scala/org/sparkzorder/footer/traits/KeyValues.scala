package org.sparkzorder.footer.traits

import java.util.Locale

import org.sparkzorder.compat._

/** The keys of a file's key-value metadata, and whether their values stay true for the same rows in other files. */
object KeyValues {

  val Pandas = "pandas"
  val Geo = "geo"
  val Arrow = "ARROW:schema"

  /** parquet-java's tools note there who wrote the files that they joined. */
  val OriginalWriter = "original.created.by"

  /**
   * Whether the key says what wrote the file and how its numbers are to be read. The writer of the new files sets it,
   * and the old value may be wrong for them (rebased dates, time zones of INT96).
   */
  def isOfWriter(key: String): Boolean = key.startsWith("org.apache.spark.") ||
    key == "writer.model.name" || key == OriginalWriter

  /** Keys of Hive about calendar and time zone. They stay true as long as the stored numbers do not change. */
  def isOfCalendar(key: String): Boolean =
    Set("writer.time.zone", "writer.date.proleptic", "writer.zone.conversion.legacy")(key)

  /** Whether the value repeats the file's schema, so that it is wrong for files with another schema. */
  def isOfSchema(key: String): Boolean = key == Arrow || key.endsWith("avro.schema") || key == "iceberg.schema" ||
    key.startsWith("parquet.proto.") || key.startsWith("thrift.")

  /** Whether the value describes the rows of one file, so that it is wrong for any other file. */
  def isOfOneFile(key: String): Boolean = {
    val name = key.toLowerCase(Locale.ROOT)
    name.startsWith("hoodie") || name.startsWith("org.apache.hudi.") || OneFile.matches(name)
  }

  private val OneFile =
    "(?:.*[^a-z])?(?:num_?rows|row_?count|num_?records|record_?count|md5|sha1|sha256|checksum|bbox|file_?name)".r

  /** The value without the parts that may differ between files of the same kind. */
  private[footer] def comparable(key: String, value: String): String = key match {
    case Pandas => PandasMetadata.parse(value).fold(value)(p => p.comparable + p.labels.mkString)
    case Geo    => GeoMetadata.ofOthers(value).getOrElse(value)
    case Arrow  => ArrowSchema.parse(value).fold(value)(_.comparable(inSchema))
    case _      => value
  }

  /** The same of a value that an Arrow schema repeats: the labels of the rows do not count there. */
  private def inSchema(key: String, value: String): String =
    if (key == Pandas) PandasMetadata.parse(value).fold(value)(_.comparable) else comparable(key, value)
}
