package org.sparkzorder.commit

import java.io.IOException

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.StreamReadConstraints
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.fs.Path

/** A [[Record]] as JSON. Fields that are not known are ignored; a higher format version is not read. */
object RecordJson {
  val Format = 1L

  /** Some millions of file names. */
  val ReadLimit: Long = 1L << 30

  private val mapper = {
    val made = new ObjectMapper()
    // A layout of a wide table may be long, but no name is longer than this.
    made.getFactory.setStreamReadConstraints(StreamReadConstraints.builder().maxStringLength(16 << 20).build())
    made
  }

  def write(record: Record): Array[Byte] = {
    val root = mapper.createObjectNode()
    root.put("format", Format)
    root.put("version", record.version)
    root.put("operationId", record.operationId)
    root.put("operation", record.operation)
    root.put("timestamp", record.timestamp)
    root.put("userId", record.userId)
    texts(root.putObject("parameters"), record.parameters)
    texts(root.putObject("metrics"), record.metrics)
    record.layout.foreach(root.put("layout", _))
    val inputs = root.putArray("inputs")
    record.inputs.foreach(f => file(inputs.addObject(), f.path, f.length, f.modificationTime, f.rows))
    val outputs = root.putArray("outputs")
    record.outputs.foreach { f =>
      val node = outputs.addObject()
      file(node, f.path, f.length, f.modificationTime, f.rows)
      f.source.foreach(node.put("source", _))
    }
    mapper.writeValueAsBytes(root)
  }

  /** @throws UnreadableRecordException naming `from` */
  def parse(bytes: Array[Byte], from: Path): Record = {
    val root =
      try mapper.readTree(bytes)
      catch { case e: IOException => throw new UnreadableRecordException(from, "not JSON", e) }
    val record = new Reader(from).record(root)
    Record.fault(record).foreach(why => throw new UnreadableRecordException(from, why))
    record
  }

  /** @throws UnreadableRecordException when it is damaged
    * @throws java.io.IOException when it cannot be read at all */
  def read(folder: TableFolder, file: RecordFile): Record = {
    val record = parse(folder.ops.read(file.meta.path, ReadLimit), file.meta.path)
    if (record.version != file.version)
      throw new UnreadableRecordException(file.meta.path, s"it says version ${record.version}")
    record
  }

  private def texts(node: ObjectNode, values: Map[String, String]): Unit =
    values.toSeq.sorted.foreach { case (k, v) => node.put(k, v) }

  private def file(node: ObjectNode, path: String, length: Long, time: Long, rows: Long): Unit = {
    node.put("path", path)
    node.put("length", length)
    node.put("modificationTime", time)
    node.put("rows", rows)
    ()
  }

  private final class Reader(from: Path) {

    def record(root: JsonNode): Record = {
      if (root == null || !root.isObject) fail("not an object")
      val format = long(root, "format")
      if (format < 1 || format > Format) fail(s"format $format is not known")
      Record(
        long(root, "version"),
        text(root, "operationId"),
        text(root, "operation"),
        long(root, "timestamp"),
        text(root, "userId"),
        map(root, "parameters"),
        map(root, "metrics"),
        nodes(root, "inputs").map(n =>
          InputFile(text(n, "path"), long(n, "length"), long(n, "modificationTime"), long(n, "rows"))
        ),
        nodes(root, "outputs").map { n =>
          OutputFile(
            text(n, "path"),
            long(n, "length"),
            long(n, "modificationTime"),
            long(n, "rows"),
            optional(n, "source")
          )
        },
        optional(root, "layout")
      )
    }

    private def fail(reason: String): Nothing = throw new UnreadableRecordException(from, reason)

    private def field(node: JsonNode, name: String): JsonNode = {
      val found = node.get(name)
      if (found == null || found.isNull) fail(s"no '$name'")
      found
    }

    private def long(node: JsonNode, name: String): Long = {
      val found = field(node, name)
      if (!found.isIntegralNumber || !found.canConvertToLong) fail(s"'$name' is not a 64-bit integer")
      found.longValue
    }

    private def text(node: JsonNode, name: String): String = {
      val found = field(node, name)
      if (!found.isTextual) fail(s"'$name' is not a text")
      found.textValue
    }

    private def optional(node: JsonNode, name: String): Option[String] =
      if (node.hasNonNull(name)) Some(text(node, name)) else None

    private def map(node: JsonNode, name: String): Map[String, String] = {
      val found = field(node, name)
      if (!found.isObject) fail(s"'$name' is not an object")
      found.fieldNames.asScala.map(key => key -> text(found, key)).toMap
    }

    private def nodes(node: JsonNode, name: String): Seq[JsonNode] = {
      val found = field(node, name)
      if (!found.isArray) fail(s"'$name' is not an array")
      val all = found.elements.asScala.toIndexedSeq
      if (all.exists(!_.isObject)) fail(s"'$name' holds something that is not an object")
      all
    }
  }
}
