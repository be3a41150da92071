package org.sparkzorder.index

import java.io.IOException

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.{JsonFactory, JsonParser, StreamReadConstraints}
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** Reads the JSON of an index file, which is not trusted. */
private[index] object IndexJson {

  // A text that consists of brackets takes many times its bytes when it is parsed, so tokens and
  // depth are limited.
  private val MaxTokens = 2000000L

  val mapper: ObjectMapper = {
    val factory = new JsonFactory()
    factory.setStreamReadConstraints(
      StreamReadConstraints.builder().maxNestingDepth(200).build()
    )
    new ObjectMapper(factory.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION))
  }

  def tree(json: Array[Byte]): JsonNode =
    try mapper.readTree[JsonNode](new LimitedTokens(mapper.getFactory.createParser(json), MaxTokens))
    // The exception is not passed on as the cause: it would bring a piece of the file into the log.
    catch { case _: IOException => throw new IndexFormatException("the footer is not JSON") }

  def field(node: JsonNode, name: String): JsonNode =
    Option(node).flatMap(n => Option(n.get(name)))
      .getOrElse(throw new IndexFormatException(s"the footer has no $name"))

  def number(node: JsonNode, name: String): Long = {
    val n = field(node, name)
    if (n.isIntegralNumber && n.canConvertToLong) n.longValue
    else throw new IndexFormatException(s"$name in the footer is not a whole number")
  }

  def text(node: JsonNode, name: String): String =
    if (node.isTextual) node.textValue else throw new IndexFormatException(s"$name in the footer is not a text")

  def array(node: JsonNode, name: String): Seq[JsonNode] = {
    val a = field(node, name)
    if (a.isArray) a.elements.asScala.toVector else throw new IndexFormatException(s"$name in the footer is not a list")
  }
}
