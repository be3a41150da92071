package org.sparkzorder.index

import java.io.IOException
import java.nio.charset.StandardCharsets.US_ASCII
import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.core.util.JsonParserDelegate
import com.fasterxml.jackson.core.{JsonFactory, JsonParseException, JsonParser, JsonToken, StreamReadConstraints}
import com.fasterxml.jackson.databind.node.ObjectNode
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIfNeeded
import org.apache.spark.sql.types.{DataType, StructType}
import org.slf4j.LoggerFactory

import org.sparkzorder.codec.Json
import org.sparkzorder.footer.WritersTable
import org.sparkzorder.stats.ColumnKey

/** A column of the table, and the beginning of the names that it has in the index file. */
private[index] final case class IndexedColumn(key: ColumnKey, name: String)

/**
 * The JSON near the end of an index file, which tells what is in the file and where. No column is used if `writers` is
 * not the number of this release's [[WritersTable]].
 *
 * @param id a random one. Every checksum depends on it
 * @param places of the file's columns, by their names: offset and length, which are checked when they are used
 */
private[index] final case class IndexFooter(
    files: Int,
    columns: Seq[IndexedColumn],
    properties: Map[String, String],
    writers: Long,
    id: String = "",
    places: ObjectNode = Json.newObject()
) {

  def toJson: Array[Byte] = {
    val node = Json.newObject()
    node.put("version", IndexFooter.Version).put("id", id).put("files", files).put("writers", writers)
    val props = node.putObject("properties")
    properties.toSeq.sorted.foreach { case (k, v) => props.put(k, v) }
    val textOf = TypeTexts.memo(TypeTexts.of)
    val array = node.putArray("columns")
    columns.foreach { c =>
      val column = array.addObject().put("name", c.name).put("type", textOf(c.key.dataType))
      Json.addAll(column.putArray("path"), c.key.path)
    }
    node.set[JsonNode]("places", places)
    Json.bytes(node)
  }

  def has(name: String): Boolean = places.has(name)

  /** The offset and the length of a column; -1 if there is none. */
  def place(name: String): (Long, Long) = {
    val at = places.path(name)
    (at.path(0).asLong(-1L), at.path(1).asLong(-1L))
  }
}

private[index] object IndexFooter {
  private val log = LoggerFactory.getLogger(classOf[IndexFooter])

  val Version = 1

  /** Behind our footer. */
  val Magic: Array[Byte] = "ZORDIDX\n".getBytes(US_ASCII)

  /** At both ends of a file of Parquet. */
  val ParquetMagic: Array[Byte] = "PAR1".getBytes(US_ASCII)

  // With more files the hash table of FileTable would not fit an array.
  val MaxFiles: Int = 1 << 28

  /** Most bytes of a footer: enough for some ten thousand columns. */
  val MaxBytes: Int = 16 << 20

  /** The columns with their names. A path may come several times, with different types. */
  def named(columns: Seq[ColumnKey]): Seq[IndexedColumn] = {
    val taken = mutable.HashSet.empty[String]
    columns.zipWithIndex.map { case (key, i) =>
      val plain = key.path.map(quoteIfNeeded).mkString(".")
      val others = Iterator(s"$plain:${key.dataType.simpleString}", s"$plain:$i")
      IndexedColumn(key, (Iterator(plain) ++ others).find(taken.add).get)
    }
  }

  /** A value of a wrong kind counts as 0, or as an empty text, and no index has these. The name is for messages. */
  def parse(json: Array[Byte], name: String): IndexFooter = {
    val root = IndexJson.tree(json)
    val version = root.path("version").asLong
    if (version > Version) throw new IndexFormatException(
      s"the format is version $version, this release reads up to $Version: a newer spark-zorder wrote it"
    )
    if (version < 1) throw new IndexFormatException(s"there is no format version $version")
    val files = root.path("files").asLong(-1L)
    if (files < 0 || files > MaxFiles) throw new IndexFormatException(s"$files files")
    val writers = root.path("writers").asLong
    val isOfToday = writers == WritersTable.Number
    if (!isOfToday) log.warn(s"The statistics in the index $name are not used, since another release of spark-zorder " +
      "believed other writers of files when it made them: REFRESH SKIPPING INDEX makes it again")
    val properties = root.path("properties").properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap
    val places = root.path("places") match {
      case o: ObjectNode => o
      case _             => throw new IndexFormatException("the footer names no places")
    }
    val columns = if (isOfToday) columnsOf(Json.elements(root.path("columns"))) else Nil
    IndexFooter(files.toInt, columns, properties, writers, root.path("id").asText, places)
  }

  /** Without columns of types that this Spark lacks. */
  private def columnsOf(nodes: Seq[JsonNode]): Seq[IndexedColumn] = {
    val typeOf = TypeTexts.memo(TypeTexts.dataType)
    for (node <- nodes; dt <- typeOf(node.path("type").asText))
      yield IndexedColumn(ColumnKey(Json.texts(node.path("path")), dt), node.path("name").asText)
  }
}

/** Reads the JSON of an index file, which is not trusted. */
private[index] object IndexJson {

  // A text that consists of brackets takes many times its bytes when it is parsed, so tokens and depth are limited.
  private val MaxTokens = 2000000L

  val mapper: ObjectMapper = {
    val factory = new JsonFactory()
    factory.setStreamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(200).build())
    new ObjectMapper(factory.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION))
  }

  def tree(json: Array[Byte]): JsonNode =
    try mapper.readTree[JsonNode](new LimitedTokens(mapper.getFactory.createParser(json), MaxTokens))
    // The exception is not passed on as the cause: it would bring a piece of the file into the log.
    catch { case _: IOException => throw new IndexFormatException("the footer is not JSON") }

  /** Stops after so many tokens. Jackson's own constraint for this is unknown to the Jackson of Spark 3.5. */
  private class LimitedTokens(parser: JsonParser, most: Long) extends JsonParserDelegate(parser) {
    private var read = 0L

    override def nextToken(): JsonToken = {
      read += 1
      if (read > most) throw new JsonParseException(this, s"more than $most tokens")
      super.nextToken()
    }
  }
}

private[index] object TypeTexts {

  /** The JSON of a field of the type. Other than that of the type alone, it has collations. */
  def of(dt: DataType): String = new StructType().add("f", dt).json

  /**
   * The type that [[of]] describes. None for a type that this Spark does not know. None too for a user-defined type:
   * its text names a class, and Spark would load this class and create an instance of it.
   */
  def dataType(json: String): Option[DataType] =
    try
      if (namesClass(IndexJson.mapper.readTree(json))) None
      else Some(DataType.fromJson(json)).collect { case StructType(Array(f)) => f.dataType }
    catch {
      // The text is not trusted, and Spark fails in many ways here, from a MatchError to errors of its JSON parser.
      case NonFatal(_) => None
    }

  private def namesClass(node: JsonNode): Boolean =
    node.path("type").asText == "udt" || node.elements.asScala.exists(namesClass)

  /**
   * The same function, but called only once for each argument: there may be thousands of columns of a few types. Not
   * safe for use by several threads.
   */
  def memo[A, B](f: A => B): A => B = {
    val known = mutable.HashMap.empty[A, B]
    a => known.getOrElseUpdate(a, f(a))
  }
}
