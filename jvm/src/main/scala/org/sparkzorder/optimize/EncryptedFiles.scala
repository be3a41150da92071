package org.sparkzorder.optimize

import org.apache.parquet.crypto.EncryptionPropertiesFactory

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.{DataFormat, Encryption, FileFooter}
import org.sparkzorder.stats.FileStats
import org.sparkzorder.table.PlainTable

/** What was encrypted is not written in plain, and what is encrypted is not told by an index that is not. */
private[sparkzorder] object EncryptedFiles {

  /** Refuses before anything is written, where the writer is not told of any encryption. */
  def refuseBefore(table: PlainTable, writeOptions: Map[String, String], inputs: Seq[Input]): Unit =
    inputs.find(!_.footer.encryption.isNone).foreach { i =>
      val conf = table.session.sessionState.newHadoopConfWithOptions(writeOptions)
      val encrypts =
        i.footer.format == DataFormat.Parquet && conf.get(
          EncryptionPropertiesFactory.CRYPTO_FACTORY_CLASS_PROPERTY_NAME
        ) != null
      if (!encrypts) refuse(i.footer, Encryption.none)
    }

  /** Refuses once all is written and nothing published, where the settings encrypt less than the inputs' writer did. */
  def refuseAfter(inputs: Seq[Input], written: Seq[FileFooter]): Unit =
    for (i <- inputs if !i.footer.encryption.isNone; w <- written) refuse(i.footer, w.encryption)

  private def refuse(input: FileFooter, now: Encryption): Unit =
    input.encryption.beyond(now).foreach(what => throw ZOrderErrors.encryptedFiles(input.path, what))

  /** Statistics without what the file hides. */
  def shown(stats: FileStats, encryption: Encryption): FileStats =
    if (encryption.isNone) stats
    else stats.copy(columns = stats.columns.filterNot { case (key, _) => encryption.hides(key.path) })
}
