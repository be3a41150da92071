package org.sparkzorder.footer.traits

import java.nio.charset.StandardCharsets
import java.security.MessageDigest
import scala.collection.immutable.BitSet

import org.apache.parquet.column.Encoding
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/**
 * What a file has beside its rows and a rewrite should keep. There is one instance for each input
 * file, so it is small: schemas and long texts are represented by their digests.
 * [[org.sparkzorder.footer.parquet.WholeFooter]] has the texts of one file.
 *
 * @param schema digest of the file's own schema: names, ids, types and what is required
 * @param keys digests of the key-value metadata by key, without Spark's own, and without what may
 *   differ between the files of one table, see [[KeyValues.comparable]]
 * @param bloomFilters columns with a Bloom filter, by the names in the file down to the leaf
 * @param dictionaries the leaves of the schema, by their numbers, of which each chunk has all its values
 *   in a dictionary
 * @param encodings of values, by the types of their columns, without those that every reader knows
 * @param hasPagesOfVersion2 whether the footer says so of some page
 * @param codecs of the column chunks, in Spark's spelling
 */
final case class FileTraits(
    schema: String,
    keys: Map[String, String],
    bloomFilters: Set[Seq[String]],
    dictionaries: BitSet,
    encodings: Set[(PrimitiveTypeName, Encoding)],
    hasPagesOfVersion2: Boolean,
    codecs: Set[String]
)

object FileTraits {

  /** A digest of 128 bits, so that texts with equal digests can be taken for equal. */
  def digest(text: String): String = {
    val bytes = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8))
    bytes.take(16).map(b => f"$b%02x").mkString
  }

  /** Digests of the file's key-value metadata, without the keys of the writer. */
  def keysOf(keyValues: Map[String, String]): Map[String, String] =
    keyValues.filterNot { case (key, _) => KeyValues.isOfWriter(key) }
      .map { case (key, value) => key -> digest(KeyValues.comparable(key, value)) }
}
