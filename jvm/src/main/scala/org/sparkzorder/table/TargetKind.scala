package org.sparkzorder.table

import java.io.IOException
import java.util.Locale

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier

import org.sparkzorder.compat._
import org.sparkzorder.statement.Target
import org.sparkzorder.table.TargetKind.{Foreign, Table}

/**
 * What a name stands for. Only the catalog and the folder's markers are looked at, which is cheap
 * enough for the parser.
 */
sealed trait TargetKind
object TargetKind {
  final case class Table(metadata: CatalogTable) extends TargetKind

  /** @param meantForOthers the statement names no format, and the folder has the log of a table format */
  final case class Folder(path: Path, meantForOthers: Boolean) extends TargetKind
  final case class Unreadable(path: String, cause: IOException) extends TargetKind

  /**
   * @param kind how messages name it, as in 'a view'
   * @param ofSpark whether it is a view, or files of one of Spark's own formats, so that it belongs
   *   to no other extension
   */
  final case class Foreign(kind: String, ofSpark: Boolean = false) extends TargetKind
  case object Missing extends TargetKind
}

/** Tells from the session catalog's entry which extension a table belongs to. */
private[table] object CatalogKind {

  /** Spark's own sources besides Parquet and ORC, by their names in USING. */
  private val otherSources = Set("avro", "binaryfile", "csv", "jdbc", "json", "text", "xml")

  private val sparkPackages = Seq("org.apache.spark.sql.execution.datasources.", "org.apache.spark.sql.avro.")

  private val classOfOurs =
    "org\\.apache\\.spark\\.sql\\.(parquet|orc|hive\\.orc|execution\\.datasources\\.(v2\\.)?(parquet|orc))(\\.[^.]+)?".r

  /** The input formats of Hive's own file formats. Table formats register tables with input formats of their own. */
  private val hiveReaders = Set(
    "org.apache.hadoop.mapred.TextInputFormat",
    "org.apache.hadoop.mapred.SequenceFileInputFormat",
    "org.apache.hadoop.hive.ql.io.RCFileInputFormat",
    "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat"
  )

  def of(table: CatalogTable): TargetKind =
    // Newer versions of Spark have more types of views.
    if (table.tableType.name.contains("VIEW")) Foreign("a view", ofSpark = true)
    else
      table.provider match {
        case Some(p) if isOurs(p)                            => Table(table)
        case Some(p) if p.toLowerCase(Locale.ROOT) != "hive" =>
          Foreign(s"a table of the format ${quoteIdentifier(p)}", isOfSpark(p))
        case _ if Target.formats.exists(serde(table).contains) => Table(table)
        case _ => Foreign("a Hive table of another format", table.storage.inputFormat.exists(hiveReaders))
      }

  /** The kind of a folder that a statement names with its format. */
  def ofFolder(format: String): TargetKind =
    Foreign(s"a folder of the format ${quoteIdentifier(format)}", isOfSpark(format))

  private def isOurs(provider: String): Boolean =
    Target.formats.contains(provider.toLowerCase(Locale.ROOT)) || classOfOurs.matches(provider)

  private def isOfSpark(provider: String): Boolean =
    otherSources(provider.toLowerCase(Locale.ROOT)) || sparkPackages.exists(provider.startsWith)

  private def serde(table: CatalogTable): String = table.storage.serde.getOrElse("").toLowerCase(Locale.ROOT)
}
