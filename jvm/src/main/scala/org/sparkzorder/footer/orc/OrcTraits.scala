package org.sparkzorder.footer.orc

import java.nio.charset.StandardCharsets

import scala.collection.immutable.BitSet
import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.orc.{OrcProto, Reader, StripeInformation, TypeDescription}

import org.sparkzorder.footer.{ColumnFinder, Encryption}
import org.sparkzorder.footer.traits.FileTraits

private[footer] object OrcTraits {

  /** @param footerOf reads the footer of a stripe */
  def of(reader: Reader, encryption: Encryption, footerOf: StripeInformation => OrcProto.StripeFooter): FileTraits = {
    FileTraits(
      dictionaries = BitSet.empty,
      schema = FileTraits.digest(schemaText(reader)),
      keys = FileTraits.keysOf(texts(reader)),
      bloomFilters = if (encryption.isNone) bloomFilters(reader, footerOf) else Set.empty,
      encodings = Set.empty,
      hasPagesOfVersion2 = false,
      codecs = if (reader.getNumberOfRows == 0) Set.empty else Set(ColumnFinder.fold(reader.getCompressionKind.name))
    )
  }

  /** Types, attributes of types, and the calendar. */
  private def schemaText(reader: Reader): String = {
    def attributes(t: TypeDescription): Seq[String] =
      t.getAttributeNames.asScala.toVector.sorted.map(key => s"${t.getId}.$key=${t.getAttributeValue(key)}") ++
        Option(t.getChildren).toSeq.flatMap(_.asScala).flatMap(attributes)
    (reader.getSchema.toString +: reader.writerUsedProlepticGregorian.toString +: attributes(reader.getSchema))
      .mkString("\n")
  }

  /** The user metadata, with each byte as one character, since ORC does not say what the bytes are. */
  def texts(reader: Reader): Map[String, String] = reader.getMetadataKeys.asScala.map { key =>
    val value = reader.getMetadataValue(key).duplicate()
    val bytes = new Array[Byte](value.remaining)
    value.get(bytes)
    key -> new String(bytes, StandardCharsets.ISO_8859_1)
  }.toMap

  /** The columns with a Bloom filter in the first stripe. Each stripe lists its own streams. */
  private def bloomFilters(
      reader: Reader,
      footerOf: StripeInformation => OrcProto.StripeFooter
  ): Set[Seq[String]] = reader.getStripes.asScala.headOption.fold(Set.empty[Seq[String]]) { stripe =>
    footerOf(stripe).getStreamsList.asScala.collect {
      case s if isBloomFilter(s.getKind) => reader.getSchema.findSubtype(s.getColumn).getFullFieldName.split('.').toSeq
    }.toSet
  }

  private def isBloomFilter(kind: OrcProto.Stream.Kind): Boolean =
    kind == OrcProto.Stream.Kind.BLOOM_FILTER || kind == OrcProto.Stream.Kind.BLOOM_FILTER_UTF8
}

/** Schema, calendar and user metadata (each byte as a character) of an ORC file: too long to be kept for many files. */
final case class WholeOrcFooter(schema: TypeDescription, proleptic: Boolean, keyValues: Map[String, String])

object WholeOrcFooter {

  /** @throws NotDataFileException for a file that is not intact */
  def of(conf: Configuration, status: FileStatus): WholeOrcFooter = {
    val reader = OrcReaders.open(conf, status.getPath)
    try WholeOrcFooter(reader.getSchema, reader.writerUsedProlepticGregorian, OrcTraits.texts(reader))
    finally reader.close()
  }
}
