package org.sparkzorder.footer.traits

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.channels.Channels
import java.util.{Base64, List => JList}

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.arrow.vector.ipc.{ReadChannel, WriteChannel}
import org.apache.arrow.vector.ipc.message.MessageSerializer
import org.apache.arrow.vector.types.pojo.{DictionaryEncoding, Field, FieldType, Schema}

/**
 * The value of `ARROW:schema`: the types that Arrow had in memory. It repeats the file's other
 * key-value metadata, and Arrow's readers prefer the repetition.
 */
private[footer] final class ArrowSchema(schema: Schema) {
  import ArrowSchema._

  /**
   * The same text for all files that were written alike.
   *
   * @param ofMetadata the comparable form of a key's value that the schema repeats
   */
  def comparable(ofMetadata: (String, String) => String): String = {
    val repeated = schema.getCustomMetadata.asScala.toSeq.sorted.map { case (k, v) => k -> ofMetadata(k, v) }
    new Schema(schema.getFields, repeated.toMap.asJava).toJson
  }

  def categories: Seq[String] = categoriesOf(schema.getFields)

  /**
   * The value of a schema that repeats this metadata instead, but only the keys that it repeated
   * before. The order of categories is that of dictionaries, and new files have others.
   */
  def repeating(keyValues: Map[String, String]): String = {
    val repeated = keyValues.filter { case (key, _) => schema.getCustomMetadata.containsKey(key) }
    val out = new ByteArrayOutputStream
    val made = new Schema(unordered(schema.getFields), if (repeated.isEmpty) null else repeated.asJava)
    MessageSerializer.serialize(new WriteChannel(Channels.newChannel(out)), made)
    Base64.getEncoder.encodeToString(out.toByteArray)
  }
}

private[footer] object ArrowSchema {

  private def categoriesOf(fields: JList[Field]): Seq[String] =
    fields.asScala.toVector.flatMap(f => Option(f.getDictionary).map(_ => f.getName) ++ categoriesOf(f.getChildren))

  private def unordered(fields: JList[Field]): JList[Field] = fields.asScala.map { f =>
    val dictionary = Option(f.getDictionary).map(d => new DictionaryEncoding(d.getId, false, d.getIndexType)).orNull
    new Field(f.getName, new FieldType(f.isNullable, f.getType, dictionary, f.getMetadata), unordered(f.getChildren))
  }.asJava

  /** None when this version of Arrow does not know all the types. */
  def parse(text: String): Option[ArrowSchema] =
    try {
      val in = new ByteArrayInputStream(Base64.getDecoder.decode(text))
      Some(new ArrowSchema(MessageSerializer.deserializeSchema(new ReadChannel(Channels.newChannel(in)))))
    } catch {
      // Arrow throws many kinds of exceptions, most of them unchecked, for a schema that it cannot read.
      case NonFatal(_)     => None
      case _: LinkageError => None
    }
}
