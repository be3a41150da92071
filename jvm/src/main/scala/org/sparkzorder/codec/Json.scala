package org.sparkzorder.codec

import java.io.{IOException, InputStream}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

/**
 * Small JSON texts as trees. Records and index files are long, or not trusted, and have readers of
 * their own.
 */
object Json {
  // It is never configured, so all threads may use it.
  private val mapper = new ObjectMapper()

  def newObject(): ObjectNode = mapper.createObjectNode()

  def newArray(): ArrayNode = mapper.createArrayNode()

  def bytes(node: JsonNode): Array[Byte] = mapper.writeValueAsBytes(node)

  def text(node: JsonNode): String = mapper.writeValueAsString(node)

  /** @throws java.io.IOException when it is not JSON */
  def read(stream: InputStream): JsonNode = mapper.readTree(stream)

  /** @throws java.io.IOException when it is not JSON */
  def read(bytes: Array[Byte]): JsonNode = mapper.readTree(bytes)

  /** @throws java.io.IOException when it is not JSON */
  def read(text: String): JsonNode = mapper.readTree(text)

  /** None when it is not JSON. */
  def parse(bytes: Array[Byte]): Option[JsonNode] = parsed(mapper.readTree(bytes))

  /** None when it is not JSON. */
  def parse(text: String): Option[JsonNode] = parsed(mapper.readTree(text))

  private def parsed(read: => JsonNode): Option[JsonNode] =
    try Some(read)
    catch { case _: IOException => None }

  /** The text of this name; None if there is none. */
  def text(node: JsonNode, name: String): Option[String] =
    Some(node.path(name)).filter(_.isTextual).map(_.textValue)

  /** The whole number of this name; None if there is none that a Long can hold. */
  def long(node: JsonNode, name: String): Option[Long] =
    Some(node.path(name)).filter(n => n.isIntegralNumber && n.canConvertToLong).map(_.longValue)

  /** The whole number at this place; None if there is none that a Long can hold. */
  def long(node: JsonNode, place: Int): Option[Long] =
    Some(node.path(place)).filter(n => n.isIntegralNumber && n.canConvertToLong).map(_.longValue)

  def elements(node: JsonNode): Vector[JsonNode] = node.elements.asScala.toVector

  def addAll(array: ArrayNode, texts: Iterable[String]): Unit = texts.foreach(array.add)

  /** The elements, each as a text. */
  def texts(node: JsonNode): Vector[String] = elements(node).map(_.asText)
}
