package org.sparkzorder.optimize.check

import org.apache.parquet.crypto.EncryptionPropertiesFactory
import org.apache.parquet.crypto.keytools.KeyToolkit

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.{DataFormat, Encryption, FileFooter}
import org.sparkzorder.optimize.Input
import org.sparkzorder.stats.FileStats
import org.sparkzorder.table.PlainTable

/**
 * Makes sure that encrypted data is not written in plain, and that the index, which is not encrypted, does not show it.
 */
private[sparkzorder] object EncryptedFiles {

  /** Refuses encrypted inputs before anything is written, if the writer is not configured to encrypt at all. */
  def refuseBefore(table: PlainTable, writeOptions: Map[String, String], inputs: Seq[Input]): Unit =
    inputs.find(!_.footer.encryption.isNone).foreach { i =>
      val conf = table.session.sessionState.newHadoopConfWithOptions(writeOptions)
      val encrypts =
        i.footer.format == DataFormat.Parquet && conf.get(
          EncryptionPropertiesFactory.CRYPTO_FACTORY_CLASS_PROPERTY_NAME
        ) != null
      if (!encrypts) refuse(i.footer, Encryption.none)
    }

  /**
   * Refuses settings by which Parquet writes key material beside the new files. Its files would have the
   * names that the new files have before they are published.
   */
  def refuseOutside(table: PlainTable, writeOptions: Map[String, String]): Unit =
    if (table.formatName == DataFormat.Parquet.name) {
      val conf = table.session.sessionState.newHadoopConfWithOptions(writeOptions)
      val encrypts = conf.get(EncryptionPropertiesFactory.CRYPTO_FACTORY_CLASS_PROPERTY_NAME) != null
      if (encrypts && !conf.getBoolean(KeyToolkit.KEY_MATERIAL_INTERNAL_PROPERTY_NAME, true))
        throw ZOrderErrors.keyMaterialOutside(table.name, KeyToolkit.KEY_MATERIAL_INTERNAL_PROPERTY_NAME)
    }

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
