package org.sparkzorder.commit

import java.io.{BufferedReader, ByteArrayInputStream, EOFException, IOException, InputStreamReader}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}
import java.util.Base64
import java.util.zip.{CRC32, GZIPInputStream}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

/**
 * A published record as a checkpoint keeps it.
 *
 * @param file the record's file as it was listed before it was gathered; its name says state and
 *             time of publishing
 * @param outcome as JSON, if there was one
 * @param json the content of the record's file, byte by byte
 */
private[commit] final case class CheckpointLine(file: RecordFile, outcome: Option[String], json: String) {

  /** @throws UnreadableRecordException when it is damaged */
  lazy val record: Record = checked(RecordJson.parse(json.getBytes(UTF_8), file.meta.path))

  /**
   * A record from which the inputs were left out, see [[WrittenFiles]].
   *
   * @throws UnreadableRecordException when it is damaged
   */
  def thinned: Record = checked(RecordJson.parseThinned(json.getBytes(UTF_8), file.meta.path))

  /**
   * The record without its files, which are not read: there may be 10,000 of them. The checkpoint's
   * checksum was checked, so the record's own is not.
   *
   * @throws UnreadableRecordException when it is damaged
   */
  def summary: Record = RecordJson.parseSummary(json.getBytes(UTF_8), file.meta.path).fold(record)(checked)

  private def checked(record: Record): Record = {
    if (record.version != file.version)
      throw new UnreadableRecordException(file.meta.path, s"it says version ${record.version}")
    record
  }
}

/**
 * The published records up to a version, in one file.
 *
 * The file has two sections of text, compressed by gzip:
 *  - The first has a head, a line of hashes (see [[RetiredNames]]), a line of folders, and thinned
 *    records (see [[WrittenFiles]]), one on each line.
 *  - The second has a line for each record, newest first. It may consist of several gzip streams
 *    one after the other, so that a new checkpoint takes over the older records as they are.
 *
 * Then follow the length of the first section, a magic word, and the CRC-32 of all bytes before it.
 *
 * @param prunedAt when old records were last looked for, by the file system's clock
 * @param retired hashes of the names that these records retired and did not bring back, in
 *                ascending order
 * @param folders the folders of all files that these records name
 * @param first length of the first section
 * @param end length of both sections
 */
private[commit] final class Checkpoint private (
    val file: CheckpointFile,
    val prunedAt: Long,
    val retired: Array[Long],
    val folders: Set[String],
    bytes: Array[Byte],
    first: Int,
    end: Int
) {

  /** All records, newest first. Lines are decompressed when they are asked for. */
  def lines(folder: TableFolder): Iterator[CheckpointLine] =
    if (first == end) Iterator.empty else rest(folder, Checkpoint.open(bytes, first, end), 0)

  /** The thinned records, newest first, see [[WrittenFiles]]. */
  def written(folder: TableFolder): Iterator[CheckpointLine] =
    rest(folder, Checkpoint.open(bytes, 0, first), Checkpoint.HeadLines)

  /** The bytes of the second section. */
  def records: ByteBuffer = ByteBuffer.wrap(bytes, first, end - first)

  private def rest(folder: TableFolder, text: BufferedReader, skipped: Int): Iterator[CheckpointLine] = {
    (1 to skipped).foreach(_ => text.readLine())
    Iterator.continually(text.readLine()).takeWhile(_ != null).map(Checkpoint.line(folder, file, _))
  }
}

private[commit] object Checkpoint {
  private[commit] val Format = "zorder-checkpoint 1"
  private[commit] val Magic = "zocp"

  private val CrcBytes = 8
  private val LengthBytes = 8

  /** A length, the magic word and the checksum. */
  private val EndBytes = LengthBytes + Magic.length + CrcBytes
  private val HeadLines = 3
  private val BufferBytes = 65536

  private[commit] val mapper = new ObjectMapper()

  /** @throws UnreadableRecordException when it is damaged
    * @throws java.io.IOException when it cannot be read at all */
  def read(folder: TableFolder, file: CheckpointFile): Checkpoint =
    parse(file, folder.ops.read(file.meta.path, RecordJson.ReadLimit))

  /** @throws UnreadableRecordException when it is damaged */
  private[commit] def parse(file: CheckpointFile, bytes: Array[Byte]): Checkpoint = {
    def fail(reason: String): Nothing = throw new UnreadableRecordException(file.meta.path, reason)
    val end = bytes.length - EndBytes
    if (end < 0 || new String(bytes, end + LengthBytes, Magic.length, US_ASCII) != Magic) fail("it has no end")
    val sealedBytes = bytes.length - CrcBytes
    if (crc(bytes, sealedBytes) != ByteBuffer.wrap(bytes, sealedBytes, CrcBytes).getLong)
      fail("it has another checksum")
    val first = ByteBuffer.wrap(bytes, end, LengthBytes).getLong
    if (first < 0 || first > end) fail(s"its first section is said to have $first of $end bytes")
    try head(file, bytes, first.toInt, end)
    catch {
      // All bytes are in memory, so these come from their content: from gzip, JSON or Base64.
      case e @ (_: IOException | _: IllegalArgumentException) =>
        throw new UnreadableRecordException(file.meta.path, "its first section is damaged", e)
    }
  }

  /** Reads the lines of the first section that come before the records. */
  private def head(file: CheckpointFile, bytes: Array[Byte], first: Int, end: Int): Checkpoint = {
    val text = open(bytes, 0, first)
    def line(): String = Option(text.readLine()).getOrElse(throw new EOFException("a line is missing"))
    line().split('\t') match {
      case Array(Format, time) if time.toLongOption.isDefined =>
        new Checkpoint(file, time.toLong, hashes(line()), names(line()), bytes, first, end)
      case _ => throw new UnreadableRecordException(file.meta.path, "its format is not known")
    }
  }

  private def open(bytes: Array[Byte], from: Int, until: Int): BufferedReader = {
    val in = new GZIPInputStream(new ByteArrayInputStream(bytes, from, until - from), BufferBytes)
    new BufferedReader(new InputStreamReader(in, UTF_8), BufferBytes)
  }

  private[commit] def crc(bytes: Array[Byte], length: Int): Long = {
    val sum = new CRC32
    sum.update(bytes, 0, length)
    sum.getValue
  }

  private def line(folder: TableFolder, from: CheckpointFile, text: String): CheckpointLine =
    text.split("\t", 5) match {
      case Array(name, length, time, outcome, json) if length.toLongOption.isDefined && time.toLongOption.isDefined =>
        val meta = FileMeta(folder.inSide(name), length.toLong, time.toLong, isDirectory = false)
        SideListing.records(Seq(meta)).headOption.filter(_.state.isPublished)
          .map(CheckpointLine(_, Some(outcome).filter(_.nonEmpty), json))
          .getOrElse(throw new UnreadableRecordException(from.meta.path, s"not the name of a record: '$name'"))
      case _ => throw new UnreadableRecordException(from.meta.path, "a line is not a record")
    }

  private def hashes(text: String): Array[Long] = {
    val bytes = Base64.getDecoder.decode(text)
    if (bytes.length % java.lang.Long.BYTES != 0) throw new IllegalArgumentException("a hash is cut off")
    val numbers = ByteBuffer.wrap(bytes).asLongBuffer
    val all = new Array[Long](numbers.remaining)
    numbers.get(all)
    all
  }

  private def names(text: String): Set[String] = {
    val array = mapper.readTree(text)
    if (!array.isArray || !array.elements.asScala.forall(_.isTextual))
      throw new IllegalArgumentException("the folders are not an array of names")
    array.elements.asScala.map(_.textValue).toSet
  }
}
