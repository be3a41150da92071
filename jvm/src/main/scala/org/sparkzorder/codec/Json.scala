package org.sparkzorder.codec

import java.io.{IOException, InputStream}
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.annotation.JsonInclude
import com.fasterxml.jackson.core.{JsonFactory, JsonParser, StreamReadConstraints}
import com.fasterxml.jackson.databind._
import com.fasterxml.jackson.databind.cfg.{CoercionAction, CoercionInputShape}
import com.fasterxml.jackson.databind.json.JsonMapper
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import com.fasterxml.jackson.databind.`type`.LogicalType
import com.fasterxml.jackson.module.scala.DefaultScalaModule

/** Small JSON texts as trees, and case classes as JSON. Index files are long and have a reader of their own. */
object Json {
  // It is never configured, so all threads may use it.
  private val mapper = new ObjectMapper()

  /** For texts that are not trusted. */
  private val strict: ObjectMapper = {
    val factory = new JsonFactory()
    // A layout of a wide table may be long, but no name is longer than this.
    factory.setStreamReadConstraints(
      StreamReadConstraints.builder().maxStringLength(16 << 20).maxNestingDepth(200).build()
    )
    factory.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
    val builder = JsonMapper.builder(factory).addModule(DefaultScalaModule)
      .defaultPropertyInclusion(JsonInclude.Value.construct(JsonInclude.Include.NON_ABSENT, JsonInclude.Include.ALWAYS))
      .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
      .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, DeserializationFeature.ACCEPT_FLOAT_AS_INT)
      .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES, DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
    val scalars = Seq(CoercionInputShape.Integer, CoercionInputShape.Float, CoercionInputShape.Boolean)
    builder.withCoercionConfig(LogicalType.Textual, c => scalars.foreach(c.setCoercion(_, CoercionAction.Fail))).build()
  }

  /** A case class as an object. Options without a value are left out. */
  def write(value: AnyRef): Array[Byte] = strict.writeValueAsBytes(value)

  /** The same as a text; of a list, too. */
  def text(value: Any): String = strict.writeValueAsString(value)

  /**
   * Reads a case class. Fields that it does not have are ignored. Options may be missing, and so may lists and maps
   * without `@JsonProperty(required = true)`.
   *
   * @throws java.io.IOException when it is not JSON, or has a field of another type or twice
   */
  def read[A](bytes: Array[Byte], of: Class[A]): A = {
    val read = strict.readValue(bytes, of)
    if (lacks(read)) throw JsonMappingException.from(null: JsonParser, "a field is missing")
    read
  }

  def parse[A](bytes: Array[Byte], of: Class[A]): Option[A] =
    try Some(read(bytes, of))
    catch { case _: IOException => None }

  def parse[A](text: String, of: Class[A]): Option[A] = parse(text.getBytes(UTF_8), of)

  private def lacks(value: Any): Boolean = value match {
    case null             => true
    case all: Iterable[_] => all.exists(lacks)
    case fields: Product  => fields.productIterator.exists(lacks)
    case _                => false
  }

  def newObject(): ObjectNode = mapper.createObjectNode()

  def bytes(node: JsonNode): Array[Byte] = mapper.writeValueAsBytes(node)

  /** @throws java.io.IOException when it is not JSON */
  def read(stream: InputStream): JsonNode = mapper.readTree(stream)
  def read(bytes: Array[Byte]): JsonNode = mapper.readTree(bytes)
  def read(text: String): JsonNode = mapper.readTree(text)

  def parse(bytes: Array[Byte]): Option[JsonNode] = parsed(mapper.readTree(bytes))

  def parse(text: String): Option[JsonNode] = parsed(mapper.readTree(text))

  private def parsed(read: => JsonNode): Option[JsonNode] =
    try Some(read)
    catch { case _: IOException => None }

  /** The text of this name; None if there is none. */
  def text(node: JsonNode, name: String): Option[String] = Some(node.path(name)).filter(_.isTextual).map(_.textValue)

  def elements(node: JsonNode): Vector[JsonNode] = node.elements.asScala.toVector

  def addAll(array: ArrayNode, texts: Iterable[String]): Unit = texts.foreach(array.add)
  def texts(node: JsonNode): Vector[String] = elements(node).map(_.asText)
}
