package org.sparkzorder.index

import java.io.IOException

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.core.{JsonFactory, JsonParser, StreamReadConstraints}
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}
import org.apache.spark.sql.types.{DataType, StructType}
import org.slf4j.LoggerFactory

import org.sparkzorder.stats.ColumnKey

/** A column's place in the file. */
private[index] final case class IndexedColumn(key: ColumnKey, block: Block)

/** The JSON at the end of an index file: what is in it and where. */
private[index] final case class IndexFooter(
    id: Array[Byte],
    files: Int,
    fileBlock: Block,
    columns: Seq[IndexedColumn],
    properties: Map[String, String],
    intervals: Option[Block] = None
) {

  def toJson: Array[Byte] = {
    val node = JsonNodeFactory.instance.objectNode()
    node.put("version", IndexFooter.Version).put("id", IndexFooter.hex(id)).put("files", files)
    val props = node.putObject("properties")
    properties.toSeq.sorted.foreach { case (k, v) => props.put(k, v) }
    put(node.putObject("fileBlock"), fileBlock)
    intervals.foreach(put(node.putObject("intervals"), _))
    val array = node.putArray("columns")
    val textsOf = IndexFooter.memo(IndexFooter.texts)
    columns.foreach { c =>
      val column = array.addObject()
      val path = column.putArray("path")
      c.key.path.foreach(path.add)
      val (text, field) = textsOf(c.key.dataType)
      column.put("type", text).put("kind", ColumnBlock.kind(c.key.dataType))
      field.foreach(column.put("field", _))
      put(column.putObject("block"), c.block)
    }
    IndexFooter.mapper.writeValueAsBytes(node)
  }

  private def put(node: ObjectNode, b: Block): Unit =
    node.put("offset", b.offset).put("length", b.length).put("rawLength", b.rawLength).put("crc", b.crc)
}

private[index] object IndexFooter {
  private val log = LoggerFactory.getLogger(classOf[IndexFooter])

  val Version = 1

  /** Bytes that a footer may have: some ten thousand columns. */
  val MaxBytes: Int = 16 << 20

  // As a tree, a text takes many times its bytes when it is made of nothing but brackets.
  private val mapper = {
    val factory = new JsonFactory()
    factory.setStreamReadConstraints(
      StreamReadConstraints.builder().maxTokenCount(2000000L).maxNestingDepth(200).build()
    )
    new ObjectMapper(factory.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION))
  }

  /**
   * @param blocksEnd the first byte of the file that is not of a block
   * @param limit bytes that a block may have in memory
   * @param name of the index, for people
   */
  def parse(json: Array[Byte], blocksEnd: Long, limit: Long, name: String): IndexFooter = {
    val root =
      try mapper.readTree(json)
      // The cause would bring a piece of the file into the log.
      catch { case _: IOException => throw new IndexFormatException("the footer is not JSON") }
    val version = number(root, "version")
    if (version > Version) {
      throw new IndexFormatException(
        s"the format is version $version, this release reads up to $Version: a newer spark-zorder wrote it"
      )
    }
    if (version < 1) throw new IndexFormatException(s"there is no format version $version")
    val files = number(root, "files")
    if (files < 0 || files > FileTable.MaxFiles) throw new IndexFormatException(s"$files files")

    def block(node: JsonNode, limit: Long = limit): Block = {
      val (offset, length, raw, crc) =
        (number(node, "offset"), number(node, "length"), number(node, "rawLength"), number(node, "crc"))
      if (offset < 0 || length < Block.IdSize || length > Int.MaxValue || offset > blocksEnd - length) {
        throw new IndexFormatException(s"a block at $offset of $length bytes lies outside of the file")
      }
      if (raw < 0 || raw > math.min(limit, RawBytes.MaxSize)) {
        throw new IndexFormatException(s"a block of $raw bytes is more than the $limit that it may take in memory")
      }
      if (length > Block.maxLength(raw)) {
        throw new IndexFormatException(s"a block of $length bytes cannot hold only $raw")
      }
      Block(offset, length.toInt, raw.toInt, crc)
    }

    // Thousands of columns have a handful of types.
    val typeOf = memo[(String, Option[String]), Option[DataType]] { case (json, field) => dataType(json, field) }
    val columns = array(root, "columns").flatMap { node =>
      val path = array(node, "path").map(p => text(p, "path"))
      if (path.isEmpty) throw new IndexFormatException("a column without a name")
      val at = block(field(node, "block"))
      // A type that this Spark lacks, or holds in another way, costs the index that column only.
      val ofField = Option(node.get("field")).map(text(_, "field"))
      val kind = text(field(node, "kind"), "kind")
      typeOf(text(field(node, "type"), "type") -> ofField).filter(ColumnBlock.kind(_) == kind)
        .map(dt => IndexedColumn(ColumnKey(path, dt), at))
    }
    val properties = field(root, "properties").properties.asScala.map(e => e.getKey -> text(e.getValue, e.getKey)).toMap
    val id = unhex(text(field(root, "id"), "id"))
    // Files can be told apart without them.
    val intervals = Option(root.get("intervals")).flatMap { node =>
      try Some(block(node, math.min(limit, CurveIntervals.maxBytes(files))))
      catch {
        case e: IndexFormatException =>
          log.warn(s"The intervals of the index $name are not used: ${e.getMessage}")
          None
      }
    }
    IndexFooter(id, files.toInt, block(field(root, "fileBlock")), columns, properties, intervals)
  }

  /** The type's JSON and, where that does not say all, the JSON of a field of the type, which has the collations. */
  def texts(dt: DataType): (String, Option[String]) =
    dt.json -> Option.unless(dataType(dt.json, None).contains(dt))(new StructType().add("", dt).json)

  /**
   * From those texts; None for a type that this Spark does not know, and for one that a user has defined: its text names
   * a class, which Spark would load and make an instance of.
   */
  def dataType(json: String, field: Option[String]): Option[DataType] =
    try
      if ((json +: field.toSeq).exists(text => namesClass(mapper.readTree(text)))) None
      else
        field match {
          case None       => Some(DataType.fromJson(json))
          case Some(text) => Some(DataType.fromJson(text)).collect { case StructType(Array(f)) => f.dataType }
        }
    catch {
      // Spark fails in many ways here, from a MatchError to those of its JSON parser, and the text is not ours to
      // trust.
      case NonFatal(_) => None
    }

  private def namesClass(node: JsonNode): Boolean =
    node.path("type").asText == "udt" || node.elements.asScala.exists(namesClass)

  /** The function, asked once for each argument. Not safe for use by several threads. */
  private def memo[A, B](f: A => B): A => B = {
    val known = mutable.HashMap.empty[A, B]
    a => known.getOrElseUpdate(a, f(a))
  }

  private def field(node: JsonNode, name: String): JsonNode =
    Option(node.get(name)).getOrElse(throw new IndexFormatException(s"the footer has no $name"))

  private def number(node: JsonNode, name: String): Long = {
    val n = field(node, name)
    if (n.isIntegralNumber && n.canConvertToLong) n.longValue
    else throw new IndexFormatException(s"$name in the footer is no whole number")
  }

  private def text(node: JsonNode, name: String): String =
    if (node.isTextual) node.textValue else throw new IndexFormatException(s"$name in the footer is no text")

  private def array(node: JsonNode, name: String): Seq[JsonNode] = {
    val a = field(node, name)
    if (a.isArray) a.elements.asScala.toVector else throw new IndexFormatException(s"$name in the footer is no list")
  }

  private def hex(id: Array[Byte]): String = id.map(b => f"$b%02x").mkString

  private def unhex(s: String): Array[Byte] =
    if (s.matches(s"[0-9a-f]{${2 * Block.IdSize}}")) s.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray
    else throw new IndexFormatException("the file's id is not one")
}
