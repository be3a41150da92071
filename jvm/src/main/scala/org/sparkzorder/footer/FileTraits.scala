package org.sparkzorder.footer

import java.nio.charset.StandardCharsets
import java.security.MessageDigest

/**
 * What a file has beside its rows, and a rewrite should keep. It is small, since there is one for each input: schemas and
 * long texts are known by their digests. [[WholeFooter]] has the texts themselves, of one file.
 *
 * @param schema digest of the file's own schema: names, ids, types and what is required
 * @param keys digests of the key-value metadata by key, without Spark's own, and without what may differ between the
 *   files of one table, see [[KeyValues.comparable]]
 * @param extents small texts that are about this file alone and that can be united, by key
 * @param bloomFilters columns with a Bloom filter, by the names in the file down to the leaf
 * @param pageVersions versions of the data pages, as far as the footer tells
 * @param codecs of the column chunks, in Spark's spelling
 */
final case class FileTraits(
    schema: String,
    keys: Map[String, String],
    extents: Map[String, String],
    bloomFilters: Set[Seq[String]],
    pageVersions: Set[Int],
    codecs: Set[String]
)

object FileTraits {

  /** 128 bits: texts with the same digest are the same. */
  def digest(text: String): String = {
    val bytes = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8))
    bytes.take(16).map(b => f"$b%02x").mkString
  }

  /** Of the file's key-value metadata, with what belongs to Spark or to the writer left out. */
  def keysOf(keyValues: Map[String, String]): (Map[String, String], Map[String, String]) = {
    val users = keyValues.filterNot { case (key, _) => KeyValues.isOfWriter(key) }
    (
      users.map { case (key, value) => key -> digest(KeyValues.comparable(key, value)) },
      users.flatMap { case (key, value) => KeyValues.extent(key, value).map(key -> _) }
    )
  }
}
