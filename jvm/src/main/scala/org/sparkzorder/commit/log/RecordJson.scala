package org.sparkzorder.commit.log

import java.io.{CharConversionException, IOException}
import java.nio.charset.StandardCharsets.{ISO_8859_1, US_ASCII}

import scala.collection.immutable.TreeMap

import com.fasterxml.jackson.annotation.{JsonIgnoreProperties, JsonProperty}
import com.fasterxml.jackson.core.JsonProcessingException
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

  /** The most bytes of a record: some millions of file names, but no more than an eighth of our memory. */
  val ReadLimit: Long = math.max(16L << 20, math.min(1L << 30, Runtime.getRuntime.maxMemory / 8))

  private val Format = 1L

  @JsonIgnoreProperties(ignoreUnknown = true)
  private final case class RecordText(
      format: Long,
      way: String,
      version: Long,
      operationId: String,
      operation: String,
      timestamp: Long,
      userId: String,
      @JsonProperty(required = true) parameters: Map[String, String],
      @JsonProperty(required = true) metrics: Map[String, String],
      layout: Option[String],
      root: Option[String],
      @JsonProperty(required = true) inputs: Seq[FileText],
      @JsonProperty(required = true) outputs: Seq[FileText],
      lost: Option[Seq[FileText]],
      locationChanges: Option[Seq[ChangeText]],
      crc: Option[java.lang.Long]
  )

  /** @param parts of the upload, separated by blanks */
  @JsonIgnoreProperties(ignoreUnknown = true)
  private final case class FileText(
      path: String,
      length: Long,
      modificationTime: Long,
      rows: Long,
      etag: Option[String],
      source: Option[String] = None,
      etagBefore: Option[String] = None,
      upload: Option[String] = None,
      parts: Option[String] = None
  )

  /** @param partition names of columns, each with its value. Their order counts */
  @JsonIgnoreProperties(ignoreUnknown = true)
  private final case class ChangeText(
      @JsonProperty(required = true) partition: Seq[String],
      from: String,
      to: String,
      @JsonProperty(required = true) inputs: Seq[FileText],
      @JsonProperty(required = true) outputs: Seq[FileText],
      lost: Option[Seq[FileText]]
  )

  /** @throws java.io.IOException when it is longer than the limit for reading it */
  def write(record: Record): Array[Byte] = {
    def sorted(texts: Map[String, String]) = TreeMap(texts.toSeq: _*)
    val bytes = sealing(Json.write(RecordText(
      Format,
      record.way.name,
      record.version,
      record.operationId,
      record.operation,
      record.timestamp,
      record.userId,
      sorted(record.parameters),
      sorted(record.metrics),
      record.layout,
      record.root,
      record.inputs.map(text),
      record.outputs.map(text),
      nonEmpty(record.lost.map(text)),
      nonEmpty(record.locationChanges.map(text)),
      None
    )))
    val files = record.inputs.length + record.outputs.length
    if (bytes.length > ReadLimit) throw new IOException(s"the record of $files files is longer than $ReadLimit")
    bytes
  }

  private def nonEmpty[A](all: Seq[A]): Option[Seq[A]] = Some(all).filter(_.nonEmpty)

  private def text(f: InputFile): FileText = FileText(f.path, f.length, f.modificationTime, f.rows, f.etag)

  private def text(f: OutputFile): FileText =
    text(f.asInput)
      .copy(
        source = f.source,
        etagBefore = f.etagBefore,
        upload = f.upload.map(_.id),
        parts = f.upload.map(_.parts.mkString(" "))
      )

  private def text(c: LocationChange): ChangeText = ChangeText(
    c.partition.values.flatMap { case (column, value) => Seq(column, value) },
    c.from,
    c.to,
    c.inputs.map(text),
    c.outputs.map(text),
    nonEmpty(c.lost.map(text))
  )

  private def output(f: FileText): OutputFile = OutputFile(
    f.path,
    f.length,
    f.modificationTime,
    f.rows,
    f.source,
    f.etag,
    f.etagBefore,
    f.upload.map(OpenUpload(_, f.parts.toSeq.flatMap(_.split(' ')).filter(_.nonEmpty)))
  )

  private def inputs(files: Iterable[FileText]): Seq[InputFile] = files.map(output(_).asInput).toVector

  private def change(c: ChangeText): LocationChange = LocationChange(
    CatalogPartition(c.partition.grouped(2).map(pair => pair.head -> pair.last).toVector),
    c.from,
    c.to,
    inputs(c.inputs),
    c.outputs.map(output).toVector,
    inputs(c.lost.toSeq.flatten)
  )

  /** The object with its checksum as one more field. */
  private[commit] def sealing(json: Array[Byte]): Array[Byte] =
    json.dropRight(1) ++ s""","crc":${Checksum.crc32(json, json.length - 1)}}""".getBytes(US_ASCII)

  private val Ending = """.*(,"crc":(\d+)\})""".r

  private def isSealed(bytes: Array[Byte], asRead: Long): Boolean =
    new String(bytes, math.max(0, bytes.length - 24), math.min(24, bytes.length), ISO_8859_1) match {
      case Ending(end, digits) =>
        digits == asRead.toString && Checksum.crc32(bytes, bytes.length - end.length) == asRead
      case _ => false
    }

  /** @throws UnreadableRecordException naming `from` */
  def parse(bytes: Array[Byte], from: Path): Record = {
    def fail(reason: String): Nothing = throw new UnreadableRecordException(from, reason)
    val text =
      try Json.read(bytes, classOf[RecordText])
      catch {
        // The parser's message quotes the file, which does not belong in a log. So only the place is told.
        case e: JsonProcessingException =>
          val at = Option(e.getLocation).map(_.getByteOffset).filter(_ >= 0)
          fail(s"not a record${at.fold("")(n => s" from byte $n on")}")
        // Its first bytes look like those of another encoding.
        case _: CharConversionException => fail("not JSON")
      }
    if (!text.crc.forall(isSealed(bytes, _))) fail("it has another checksum")
    if (text.format != Format) fail(s"format ${text.format} is not known")
    if (text.locationChanges.toSeq.flatten.exists(_.partition.length % 2 != 0))
      fail("a partition is not an array of pairs")
    val record = Record(
      text.version,
      text.operationId,
      text.operation,
      text.timestamp,
      text.userId,
      text.parameters,
      text.metrics,
      inputs(text.inputs),
      text.outputs.map(output).toVector,
      text.layout,
      CommitProtocol.all.find(_.name == text.way).getOrElse(fail(s"the way '${text.way}' is not known")),
      text.locationChanges.toSeq.flatten.map(change),
      text.root,
      inputs(text.lost.toSeq.flatten)
    )
    Record.fault(record).foreach(fail)
    record
  }

  /** @throws UnreadableRecordException when it is damaged
    * @throws java.io.IOException when it cannot be read at all */
  def read(folder: TableFolder, file: RecordFile): Record = {
    val path = file.meta.path
    if (file.meta.length > ReadLimit) throw new UnreadableRecordException(path, s"it has ${file.meta.length} bytes")
    val record = parse(folder.ops.read(path, ReadLimit), path)
    if (record.version != file.version) throw new UnreadableRecordException(path, s"it says version ${record.version}")
    // The table may have been copied from one to the other in the midst of an operation.
    val onStore = record.way == CommitProtocol.ObjectStore
    if (file.state == RecordState.Publishing && onStore != ObjectFileOps.storeOf(folder).isDefined) {
      val where = if (onStore) "an object store" else "a file system"
      throw new UnreadableRecordException(path, s"its operation began on $where, and can be ended only there")
    }
    if (file.state.isUnfinished && !onStore && !file.note.contains(record.operationId))
      throw new UnreadableRecordException(path, s"its name lacks the id of its operation, ${record.operationId}")
    record
  }
}
