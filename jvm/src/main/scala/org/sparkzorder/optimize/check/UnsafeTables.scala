package org.sparkzorder.optimize.check

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.crypto.EncryptionPropertiesFactory
import org.apache.parquet.crypto.keytools.KeyToolkit
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.{DataFormat, Encryption, FileFooter}
import org.sparkzorder.optimize.Input
import org.sparkzorder.stats.FileStats
import org.sparkzorder.table._

/** Refuses tables in which an exchange of files could lose or double rows, before any work is done. */
private[sparkzorder] object UnsafeTables {

  /**
   * @param all all data folders of the table
   * @param chosen the folders that the statement is about
   */
  def refuse(table: PlainTable, all: Seq[DataFolder], chosen: Seq[DataFolder]): Unit = {
    refuseOptions(table)
    if (table.catalogTable.isEmpty)
      chosen.flatMap(_.files).find(f => BucketFiles.isOne(f.getPath.getName)).foreach { f =>
        throw ZOrderErrors.bucketFile(table.name, f.getPath.toUri.getPath)
      }
    refuseShared(table, all)
    val folders = (table.root +: chosen.map(_.path)).distinct
    val hidden = HiddenEntries.in(table, folders, all.map(_.files.size.toLong).sum)
    if (table.formatName == DataFormat.Parquet.name)
      SummaryFiles.first(table.fileSystem.getConf, table.root, hidden).foreach { f =>
        throw ZOrderErrors.summaryFile(table.name, f.toUri.getPath)
      }
    CompanionFiles.refuse(table, chosen.flatMap(_.files.map(_.getPath)), hidden)
    val links = LinkedFiles.of(chosen.flatMap(_.files))
    links.headOption.foreach(f => throw ZOrderErrors.linkedFiles(table.name, f.getPath.toUri.getPath, links.size))
  }

  /**
   * Refuses files with old dates that do not say which calendar they use, if this session reads
   * them by another calendar than most readers do.
   */
  def refuseCalendar(table: PlainTable, footers: Seq[FileFooter]): Unit = {
    val legacy = LegacyCalendar.of(table.relation.options, table.session.sessionState.conf)
    for {
      setting <- legacy
      footer <- footers
      column <- footer.unsaidCalendar.find(_.isInt96 == setting.isInt96)
    } {
      val reason =
        s"the file ${footer.path} does not say the calendar of its column ${quoteNameParts(column.column)}, " +
          "so its old dates would be written as other days than readers without this setting see"
      throw ZOrderErrors.unsafeOption(table.name, setting.name, setting.value, reason)
    }
  }

  /**
   * Refuses a table of which two partitions share a folder. This holds for partitions that the statement is not about,
   * too: a query that reads one partition would not see that files of the other are being exchanged.
   */
  def refuseShared(table: PlainTable, all: Seq[DataFolder]): Unit =
    DataFolders.shared(Targets.fileSystems(table.session), all).foreach { shared =>
      val names = Seq(shared.one, shared.other).map(_.path.toUri.getPath)
      // If both partitions have the same location, only their values tell them apart.
      val shown = if (names.distinct.size == 2) names else Seq(shared.one, shared.other).map(valuesOf(table, _))
      throw ZOrderErrors.sharedFolder(table.name, shown.head, shown.last, shared.real)
    }

  private def refuseOptions(table: PlainTable): Unit = {
    val asWritten = table.relation.options match {
      case insensitive: CaseInsensitiveMap[String] => insensitive.originalMap
      case others                                  => others
    }
    UnsafeOptions.first(asWritten, table.formatName, table.session.sessionState.newHadoopConf()).foreach { o =>
      throw ZOrderErrors.unsafeOption(table.name, o.name, o.value, o.reason)
    }
  }

  private def valuesOf(table: PlainTable, folder: DataFolder): String =
    table.partitionSchema.fields.zipWithIndex.map { case (field, i) =>
      val value = folder.values.get(i, field.dataType)
      s"${field.name}=${if (value == null) "null" else value.toString}"
    }.mkString("/")
}

/**
 * Makes sure that encrypted data is not written in plain, and that the index, which is not encrypted, does not show it.
 */
private[sparkzorder] object EncryptedFiles {

  /** Refuses encrypted inputs before anything is written, if the writer is not configured to encrypt at all. */
  def refuseBefore(table: PlainTable, writeOptions: Map[String, String], inputs: Seq[Input]): Unit =
    inputs.find(!_.footer.encryption.isNone).foreach { i =>
      val conf = table.session.sessionState.newHadoopConfWithOptions(writeOptions)
      if (i.footer.format != DataFormat.Parquet || !encrypts(conf)) refuse(i.footer, Encryption.none)
    }

  /**
   * Refuses settings by which Parquet writes key material beside the new files. Its files would have the
   * names that the new files have before they are published.
   */
  def refuseOutside(table: PlainTable, writeOptions: Map[String, String]): Unit =
    if (table.formatName == DataFormat.Parquet.name) {
      val conf = table.session.sessionState.newHadoopConfWithOptions(writeOptions)
      if (encrypts(conf) && !conf.getBoolean(KeyToolkit.KEY_MATERIAL_INTERNAL_PROPERTY_NAME, true))
        throw ZOrderErrors.keyMaterialOutside(table.name, KeyToolkit.KEY_MATERIAL_INTERNAL_PROPERTY_NAME)
    }

  private def encrypts(conf: Configuration): Boolean =
    conf.get(EncryptionPropertiesFactory.CRYPTO_FACTORY_CLASS_PROPERTY_NAME) != null

  /** Refuses after writing and before publishing, if the new files are less encrypted than the inputs. */
  def refuseAfter(inputs: Seq[Input], written: Seq[FileFooter]): Unit =
    for (i <- inputs if !i.footer.encryption.isNone; w <- written) refuse(i.footer, w.encryption)

  /** Refuses encrypted inputs on an object store, where new files cannot be looked at in time. */
  def refuseOnStore(inputs: Seq[Input]): Unit =
    inputs.find(!_.footer.encryption.isNone).foreach(i => refuse(i.footer, Encryption.none))

  private def refuse(input: FileFooter, now: Encryption): Unit =
    input.encryption.beyond(now).foreach(what => throw ZOrderErrors.encryptedFiles(input.path, what))

  def shown(stats: FileStats, encryption: Encryption): FileStats =
    if (encryption.isNone) stats
    else stats.copy(columns = stats.columns.filterNot { case (key, _) => encryption.hides(key.path) })
}
