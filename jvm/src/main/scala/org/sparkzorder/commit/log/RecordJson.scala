package org.sparkzorder.commit.log

import java.io.{CharConversionException, IOException}
import java.nio.charset.StandardCharsets.{ISO_8859_1, US_ASCII}

import scala.collection.mutable

import com.fasterxml.jackson.core.{JsonFactory, JsonParser, JsonProcessingException, JsonToken, StreamReadConstraints}
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.fs.Path

import org.sparkzorder.codec.{Checksum, Json}
import org.sparkzorder.commit._
import org.sparkzorder.commit.storage.ObjectFileOps

/**
 * A [[Record]] as JSON. Unknown fields are ignored, but another format is not read.
 *
 * The last field is the CRC-32 of all bytes before it. Files are renamed by what the record says,
 * so a damaged record must not pass.
 */
object RecordJson {

  /**
   * The most bytes of a record: some millions of file names, but no more than an eighth of our
   * memory.
   */
  val ReadLimit: Long = math.max(16L << 20, math.min(1L << 30, Runtime.getRuntime.maxMemory / 8))

  private val Format = 1L

  private val factory = {
    val made = new JsonFactory()
    // A layout of a wide table may be long, but no name is longer than this.
    made.setStreamReadConstraints(
      StreamReadConstraints.builder().maxStringLength(16 << 20).maxNestingDepth(200).build()
    )
    made.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
  }

  /** @throws java.io.IOException when it is longer than the limit for reading it */
  def write(record: Record): Array[Byte] = {
    val root = Json.newObject()
    root.put("format", Format)
    root.put("way", record.way.name)
    root.put("version", record.version)
    root.put("operationId", record.operationId)
    root.put("operation", record.operation)
    root.put("timestamp", record.timestamp)
    root.put("userId", record.userId)
    texts(root.putObject("parameters"), record.parameters)
    texts(root.putObject("metrics"), record.metrics)
    record.layout.foreach(root.put("layout", _))
    record.root.foreach(root.put("root", _))
    writeFiles(root, record.inputs, record.outputs, record.lost)
    if (record.locationChanges.nonEmpty) {
      val changes = root.putArray("locationChanges")
      record.locationChanges.foreach(s => writeChange(changes.addObject(), s))
    }
    val bytes = sealing(Json.bytes(root))
    if (bytes.length > ReadLimit) {
      throw new IOException(
        s"the record of ${record.inputs.length + record.outputs.length} files is longer than $ReadLimit"
      )
    }
    bytes
  }

  private def writeFiles(root: ObjectNode, inputs: Seq[InputFile], outputs: Seq[OutputFile], lost: Seq[InputFile]) = {
    def write(name: String, files: Seq[ExchangedFile]): Unit = {
      val array = root.putArray(name)
      files.foreach(f => writeFile(array.addObject(), f))
    }
    write("inputs", inputs)
    write("outputs", outputs)
    if (lost.nonEmpty) write("lost", lost)
  }

  private def writeFile(node: ObjectNode, file: ExchangedFile): Unit = {
    node.put("path", file.path)
    node.put("length", file.length)
    node.put("modificationTime", file.modificationTime)
    node.put("rows", file.rows)
    file.etag.foreach(node.put("etag", _))
    file match {
      case _: InputFile  => ()
      case f: OutputFile =>
        f.source.foreach(node.put("source", _))
        f.etagBefore.foreach(node.put("etagBefore", _))
        f.upload.foreach { upload =>
          node.put("upload", upload.id)
          node.put("parts", upload.parts.mkString(" "))
        }
    }
  }

  private def writeChange(node: ObjectNode, change: LocationChange): Unit = {
    // An array, since the order of partition columns counts.
    change.partition.values.foldLeft(node.putArray("partition")) { case (array, (column, value)) =>
      array.add(column).add(value)
    }
    node.put("from", change.from)
    node.put("to", change.to)
    writeFiles(node, change.inputs, change.outputs, change.lost)
  }

  /** The object with its checksum as one more field. */
  private[commit] def sealing(json: Array[Byte]): Array[Byte] =
    json.dropRight(1) ++ s""","$Crc":${Checksum.crc32(json, json.length - 1)}}""".getBytes(US_ASCII)

  private val Crc = "crc"
  private val Ending = s""".*(,"$Crc":(\\d+)\\})""".r

  private def isSealed(bytes: Array[Byte], asRead: Long): Boolean =
    new String(bytes, math.max(0, bytes.length - 24), math.min(24, bytes.length), ISO_8859_1) match {
      case Ending(end, digits) =>
        digits == asRead.toString && Checksum.crc32(bytes, bytes.length - end.length) == asRead
      case _ => false
    }

  /** @throws UnreadableRecordException naming `from` */
  def parse(bytes: Array[Byte], from: Path): Record =
    try {
      val json = factory.createParser(bytes)
      try new Reader(from, json, isSealed(bytes, _)).record
      finally json.close()
    } catch {
      // The parser's message quotes the file, which does not belong in a log. So only the place is
      // told.
      case e: JsonProcessingException =>
        val place = Option(e.getLocation).map(_.getByteOffset).filter(_ >= 0).fold("")(n => s" from byte $n on")
        throw new UnreadableRecordException(from, s"not JSON$place")
      // Its first bytes look like those of another encoding.
      case _: CharConversionException => throw new UnreadableRecordException(from, "not JSON")
    }

  /** @throws UnreadableRecordException when it is damaged
    * @throws java.io.IOException when it cannot be read at all */
  def read(folder: TableFolder, file: RecordFile): Record = {
    val path = file.meta.path
    if (file.meta.length > ReadLimit) throw new UnreadableRecordException(path, s"it has ${file.meta.length} bytes")
    val record = parse(folder.ops.read(path, ReadLimit), path)
    if (record.version != file.version) throw new UnreadableRecordException(path, s"it says version ${record.version}")
    // The table may have been copied from one to the other in the midst of an operation.
    val onStore = record.way == Way.ObjectStore
    if (file.state == RecordState.Publishing && onStore != ObjectFileOps.storeOf(folder).isDefined) {
      val where = if (onStore) "an object store" else "a file system"
      throw new UnreadableRecordException(path, s"its operation began on $where, and can be ended only there")
    }
    if (file.state.isUnfinished && !onStore && !file.note.contains(record.operationId))
      throw new UnreadableRecordException(path, s"its name lacks the id of its operation, ${record.operationId}")
    record
  }

  private def texts(node: ObjectNode, values: Map[String, String]): Unit =
    values.toSeq.sorted.foreach { case (k, v) => node.put(k, v) }

  /**
   * Reads token by token, because a tree may take many times the bytes of a text that was made for
   * it.
   */
  private final class Reader(from: Path, json: JsonParser, isSealed: Long => Boolean) {

    def record: Record = recordOf(root)

    private def root: Fields = {
      json.nextToken()
      val all = fields()
      if (!all.optionalLong(Crc).forall(isSealed)) fail("it has another checksum")
      if (json.nextToken() != null) fail("something follows the record")
      all
    }

    private def recordOf(root: Fields): Record = {
      if (root.long("format") != Format) fail(s"format ${root.long("format")} is not known")
      val record = Record(
        root.long("version"),
        root.text("operationId"),
        root.text("operation"),
        root.long("timestamp"),
        root.text("userId"),
        root.texts("parameters"),
        root.texts("metrics"),
        root.files("inputs").map(_.asInput),
        root.files("outputs"),
        root.optional("layout"),
        Way.all.find(_.name == root.text("way")).getOrElse(fail(s"the way '${root.text("way")}' is not known")),
        root.locationChanges("locationChanges"),
        root.optional("root"),
        root.lost
      )
      Record.fault(record).foreach(fail)
      record
    }

    private def fail(reason: String): Nothing = throw new UnreadableRecordException(from, reason)

    /** The object that begins here: its scalars, and the lists and objects that a record has. */
    private def fields(): Fields = {
      val found = mutable.HashMap.empty[String, Any]
      if (json.currentToken != JsonToken.START_OBJECT) fail("not an object")
      while (json.nextToken() != JsonToken.END_OBJECT) {
        val name = json.currentName
        json.nextToken() match {
          case JsonToken.VALUE_STRING if Reader.texts(name) => found(name) = json.getText
          case JsonToken.VALUE_NUMBER_INT if json.getNumberType != JsonParser.NumberType.BIG_INTEGER =>
            found(name) = json.getLongValue
          case JsonToken.START_ARRAY if Reader.lists(name)        => found(name) = files()
          case JsonToken.START_OBJECT if Reader.objects(name)     => found(name) = texts(name)
          case JsonToken.START_ARRAY if name == "locationChanges" => found(name) = locationChanges()
          case JsonToken.START_ARRAY if name == "partition"       => found(name) = partition()
          case JsonToken.VALUE_NULL                               => ()
          case _                                                  =>
            json.skipChildren()
            if (Reader.known(name)) found(name) = None
        }
      }
      new Fields(found)
    }

    private def files(): Seq[OutputFile] = {
      val all = mutable.ArrayBuffer.empty[OutputFile]
      while (json.nextToken() != JsonToken.END_ARRAY) {
        val f = fields()
        all += OutputFile(
          f.text("path"),
          f.long("length"),
          f.long("modificationTime"),
          f.long("rows"),
          f.optional("source"),
          f.optional("etag"),
          f.optional("etagBefore"),
          f.optional("upload").map(OpenUpload(_, f.text("parts").split(' ').toSeq.filter(_.nonEmpty)))
        )
      }
      all.toVector
    }

    private def locationChanges(): Seq[LocationChange] = {
      val all = mutable.ArrayBuffer.empty[LocationChange]
      while (json.nextToken() != JsonToken.END_ARRAY) {
        val f = fields()
        val (inputs, outputs) = (f.files("inputs").map(_.asInput), f.files("outputs"))
        all += LocationChange(f.partition, f.text("from"), f.text("to"), inputs, outputs, f.lost)
      }
      all.toVector
    }

    private def partition(): CatalogPartition = {
      val words = mutable.ArrayBuffer.empty[String]
      while (json.nextToken() != JsonToken.END_ARRAY) {
        if (json.currentToken != JsonToken.VALUE_STRING) fail("'partition' is not an array of texts")
        words += json.getText
      }
      if (words.length % 2 != 0) fail("'partition' is not an array of pairs")
      CatalogPartition(words.toVector.grouped(2).map(pair => pair.head -> pair.last).toVector)
    }

    private def texts(name: String): Map[String, String] = {
      val all = Map.newBuilder[String, String]
      while (json.nextToken() != JsonToken.END_OBJECT) {
        val key = json.currentName
        if (json.nextToken() != JsonToken.VALUE_STRING) fail(s"'$key' in '$name' is not a text")
        all += key -> json.getText
      }
      all.result()
    }

    private final class Fields(found: mutable.Map[String, Any]) {
      private def get(name: String): Any = found.getOrElse(name, fail(s"no '$name'"))

      def long(name: String): Long = get(name) match {
        case n: Long => n
        case _       => fail(s"'$name' is not a 64-bit integer")
      }

      def text(name: String): String = get(name) match {
        case s: String => s
        case _         => fail(s"'$name' is not a text")
      }

      def optionalLong(name: String): Option[Long] = if (found.contains(name)) Some(long(name)) else None

      def optional(name: String): Option[String] = if (found.contains(name)) Some(text(name)) else None

      def texts(name: String): Map[String, String] = get(name) match {
        case m: Map[_, _] => m.asInstanceOf[Map[String, String]]
        case _            => fail(s"'$name' is not an object")
      }

      def partition: CatalogPartition = get("partition") match {
        case s: CatalogPartition => s
        case _                   => fail("'partition' is not an array")
      }

      /** Empty when there is none. */
      def locationChanges(name: String): Seq[LocationChange] = found.get(name) match {
        case None            => Nil
        case Some(s: Seq[_]) => s.asInstanceOf[Seq[LocationChange]]
        case _               => fail(s"'$name' is not an array")
      }

      def lost: Seq[InputFile] = if (found.contains("lost")) files("lost").map(_.asInput) else Nil

      def files(name: String): Seq[OutputFile] = get(name) match {
        case s: Seq[_] => s.asInstanceOf[Seq[OutputFile]]
        case _         => fail(s"'$name' is not an array")
      }
    }
  }

  private object Reader {
    val lists: Set[String] = Set("inputs", "outputs", "lost")
    val objects: Set[String] = Set("parameters", "metrics")
    val texts: Set[String] =
      Set(
        "operationId",
        "operation",
        "userId",
        "way",
        "layout",
        "root",
        "path",
        "source",
        "etag",
        "etagBefore",
        "upload",
        "parts",
        "from",
        "to"
      )
    private val longs =
      Set("format", "version", "timestamp", "length", "modificationTime", "rows", Crc)
    val known: Set[String] = lists ++ objects ++ texts ++ longs ++ Set("locationChanges", "partition")
  }
}
