package org.sparkzorder.index

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.{ArrayNode, JsonNodeFactory, ObjectNode}
import org.apache.spark.sql.types.DataType
import org.slf4j.LoggerFactory

import org.sparkzorder.footer.WritersTable
import org.sparkzorder.stats.ColumnKey

/** A column and its block in the file. */
private[index] final case class IndexedColumn(key: ColumnKey, block: Block)

/**
 * The JSON at the end of an index file, which tells what is in the file and where. No column is used if `writers` is not
 * the number of this release's [[WritersTable]].
 */
private[index] final case class IndexFooter(
    id: Array[Byte],
    files: Int,
    fileBlock: Block,
    columns: Seq[IndexedColumn],
    properties: Map[String, String],
    intervals: Option[Block] = None,
    origins: Option[Block] = None,
    members: Seq[IndexedColumn] = Nil,
    writers: Long = WritersTable.Number
) {

  def toJson: Array[Byte] = {
    val node = JsonNodeFactory.instance.objectNode()
    node.put("version", IndexFooter.Version).put("id", IndexFooter.hex(id)).put("files", files).put("writers", writers)
    val props = node.putObject("properties")
    properties.toSeq.sorted.foreach { case (k, v) => props.put(k, v) }
    put(node.putObject("fileBlock"), fileBlock)
    intervals.foreach(put(node.putObject("intervals"), _))
    origins.foreach(put(node.putObject("origins"), _))
    val textsOf = IndexFooter.memo(TypeTexts.of)
    def putAll(array: ArrayNode, columns: Seq[IndexedColumn]): Unit = columns.foreach { c =>
      val column = array.addObject()
      val path = column.putArray("path")
      c.key.path.foreach(path.add)
      val (text, field) = textsOf(c.key.dataType)
      column.put("type", text).put("kind", ColumnBlock.kind(c.key.dataType))
      field.foreach(column.put("field", _))
      put(column.putObject("block"), c.block)
    }
    putAll(node.putArray("columns"), columns)
    if (members.nonEmpty) putAll(node.putArray("members"), members)
    IndexJson.mapper.writeValueAsBytes(node)
  }

  private def put(node: ObjectNode, b: Block): Unit =
    node.put("offset", b.offset).put("length", b.length).put("rawLength", b.rawLength).put("crc", b.crc)
}

private[index] object IndexFooter {
  import IndexJson._

  private val log = LoggerFactory.getLogger(classOf[IndexFooter])

  val Version = 1

  /** Most bytes of a footer: enough for some ten thousand columns. */
  val MaxBytes: Int = 16 << 20

  /**
   * @param blocksEnd the first byte behind the blocks
   * @param limit bytes that a block may have in memory
   * @param name the name of the index, for messages
   */
  def parse(json: Array[Byte], blocksEnd: Long, limit: Long, name: String): IndexFooter = {
    val root = tree(json)
    checkVersion(number(root, "version"))
    val files = filesOf(root)
    val writers = Option(root.get("writers")).fold(0L)(_ => number(root, "writers"))
    val isOfToday = writers == WritersTable.Number
    if (!isOfToday) log.warn(s"The statistics in the index $name are not used, since another release of spark-zorder " +
      "believed other writers of files when it made them: REFRESH SKIPPING INDEX makes it again")
    val columns = if (isOfToday) columnsOf(array(root, "columns"), blocksEnd, limit) else Nil
    val properties = field(root, "properties").properties.asScala.map(e => e.getKey -> text(e.getValue, e.getKey)).toMap
    val id = unhex(text(field(root, "id"), "id"))
    def optional(field: String, most: Long) = optionalBlock(root, field, blocksEnd, math.min(limit, most), name)
    val intervals = optional("intervals", CurveIntervals.maxBytes(files.toLong))
    val origins = optional("origins", FileOrigins.maxBytes(files.toLong))
    val fileBlock = block(field(root, "fileBlock"), blocksEnd, limit)
    val members = if (isOfToday) membersOf(root, blocksEnd, limit, name) else Nil
    IndexFooter(id, files, fileBlock, columns, properties, intervals, origins, members, writers)
  }

  /** The directories of the columns' values. The index is of use without them. */
  private def membersOf(root: JsonNode, blocksEnd: Long, limit: Long, name: String): Seq[IndexedColumn] =
    if (!root.has("members")) Nil
    else
      try columnsOf(array(root, "members"), blocksEnd, limit)
      catch {
        case e: IndexFormatException =>
          log.warn(s"The columns' values in the index $name are not used: ${e.getMessage}")
          Nil
      }

  private def checkVersion(version: Long): Unit = {
    if (version > Version) {
      throw new IndexFormatException(
        s"the format is version $version, this release reads up to $Version: a newer spark-zorder wrote it"
      )
    }
    if (version < 1) throw new IndexFormatException(s"there is no format version $version")
  }

  private def filesOf(root: JsonNode): Int = {
    val files = number(root, "files")
    if (files < 0 || files > FileTable.MaxFiles) throw new IndexFormatException(s"$files files")
    files.toInt
  }

  private def block(node: JsonNode, blocksEnd: Long, limit: Long): Block = Block.checked(
    number(node, "offset"),
    number(node, "length"),
    number(node, "rawLength"),
    number(node, "crc"),
    blocksEnd,
    limit
  )

  /**
   * The columns whose types this Spark has, and stores in the same way. The others are left out.
   */
  private def columnsOf(nodes: Seq[JsonNode], blocksEnd: Long, limit: Long): Seq[IndexedColumn] = {
    // There may be thousands of columns, but only of a few types.
    val typeOf = memo[(String, Option[String]), Option[DataType]] { case (json, field) =>
      TypeTexts.dataType(json, field)
    }
    nodes.flatMap { node =>
      val path = array(node, "path").map(p => text(p, "path"))
      if (path.isEmpty) throw new IndexFormatException("a column without a name")
      val at = block(field(node, "block"), blocksEnd, limit)
      val ofField = Option(node.get("field")).map(text(_, "field"))
      val kind = text(field(node, "kind"), "kind")
      typeOf(text(field(node, "type"), "type") -> ofField).filter(ColumnBlock.kind(_) == kind)
        .map(dt => IndexedColumn(ColumnKey(path, dt), at))
    }
  }

  /** A block that not every index has. The index is of use without it, so a broken entry is only logged. */
  private def optionalBlock(root: JsonNode, field: String, blocksEnd: Long, limit: Long, name: String): Option[Block] =
    Option(root.get(field)).flatMap { node =>
      try Some(block(node, blocksEnd, limit))
      catch {
        case e: IndexFormatException =>
          log.warn(s"The $field of the index $name are not used: ${e.getMessage}")
          None
      }
    }

  /**
   * The same function, but called only once for each argument. Not safe for use by several threads.
   */
  private def memo[A, B](f: A => B): A => B = {
    val known = mutable.HashMap.empty[A, B]
    a => known.getOrElseUpdate(a, f(a))
  }

  private def hex(id: Array[Byte]): String = id.map(b => f"$b%02x").mkString

  private def unhex(s: String): Array[Byte] =
    if (s.matches(s"[0-9a-f]{${2 * Block.IdSize}}")) s.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray
    else throw new IndexFormatException("the file's id is invalid")
}
