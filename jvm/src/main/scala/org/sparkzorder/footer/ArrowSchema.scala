package org.sparkzorder.footer

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.channels.Channels
import java.util.Base64

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.arrow.vector.ipc.{ReadChannel, WriteChannel}
import org.apache.arrow.vector.ipc.message.MessageSerializer
import org.apache.arrow.vector.types.pojo.Schema

/**
 * The value of `ARROW:schema`: the types that Arrow had in memory. It repeats the file's other key-value metadata, and
 * Arrow's readers believe it more than these.
 */
private[footer] final class ArrowSchema(schema: Schema) {

  /** The same for all files that were written alike. */
  def comparable: String = {
    val repeated = schema.getCustomMetadata.asScala.toSeq.sorted.map { case (k, v) => k -> KeyValues.comparable(k, v) }
    new Schema(schema.getFields, repeated.toMap.asJava).toJson
  }

  /** The value with only that metadata, as far as the schema had these keys. */
  def repeating(keyValues: Map[String, String]): String = {
    val repeated = keyValues.filter { case (key, _) => schema.getCustomMetadata.containsKey(key) }
    val out = new ByteArrayOutputStream
    MessageSerializer.serialize(
      new WriteChannel(Channels.newChannel(out)),
      new Schema(schema.getFields, if (repeated.isEmpty) null else repeated.asJava)
    )
    Base64.getEncoder.encodeToString(out.toByteArray)
  }
}

private[footer] object ArrowSchema {

  /** None when this version of Arrow does not know all the types. */
  def parse(text: String): Option[ArrowSchema] =
    try {
      val in = new ByteArrayInputStream(Base64.getDecoder.decode(text))
      Some(new ArrowSchema(MessageSerializer.deserializeSchema(new ReadChannel(Channels.newChannel(in)))))
    } catch {
      // Arrow says so of what it cannot read with many kinds of exceptions, most of them unchecked.
      case NonFatal(_)     => None
      case _: LinkageError => None
    }
}
