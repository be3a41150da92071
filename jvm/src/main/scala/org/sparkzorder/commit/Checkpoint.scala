package org.sparkzorder.commit

import java.io.{BufferedReader, ByteArrayInputStream, InputStreamReader}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}
import java.util.Base64
import java.util.zip.{CRC32, GZIPInputStream}

import com.fasterxml.jackson.databind.ObjectMapper

/**
 * A published record as a checkpoint keeps it.
 *
 * @param file the record's file as it was listed before it was gathered; its name says state and time of publishing
 * @param outcome as JSON, if there was one
 * @param json the record's file, byte by byte
 */
private[commit] final case class CheckpointLine(file: RecordFile, outcome: Option[String], json: String) {

  /** @throws UnreadableRecordException when it is damaged */
  lazy val record: Record = checked(RecordJson.parse(json.getBytes(UTF_8), file.meta.path))

  /**
   * The same for a record without its inputs: see [[WrittenFiles]].
   *
   * @throws UnreadableRecordException when it is damaged
   */
  def thinned: Record = checked(RecordJson.parseThinned(json.getBytes(UTF_8), file.meta.path))

  /**
   * The same without files, which are not read: one record may have 10,000 of them. The checkpoint's checksum holds for them.
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
 * The file has two sections of text, compressed by gzip. The first has a head, a line of hashes (see [[RetiredNames]]), a line
 * of folders, and a line for each record that still counts, without its inputs (see [[WrittenFiles]]). The second has a line for
 * each record, newest first. It may consist of several streams of gzip one after the other, so that a new checkpoint takes over
 * the older records as they are. The length of the first section, a magic word and the CRC-32 of all bytes before follow.
 *
 * Checkpoints of the first format are read as well. They have one section, without folders and records that still count.
 *
 * @param prunedAt when old records were last looked for, by the file system's clock
 * @param retired hashes of the names that these records retired and did not bring back, in ascending order
 * @param folders of all files that these records name; None in the first format
 */
private[commit] final class Checkpoint private (
    val file: CheckpointFile,
    val prunedAt: Long,
    val retired: Array[Long],
    val folders: Option[Set[String]],
    bytes: Array[Byte],
    first: Int,
    end: Int
) {

  /** Newest first. Reads no more of the file than is asked for. */
  def lines(folder: TableFolder): Iterator[CheckpointLine] = {
    val from = if (folders.isDefined) first else 0
    if (from == end) Iterator.empty
    else rest(folder, Checkpoint.open(bytes, from, end), if (folders.isDefined) 0 else Checkpoint.HeadLines1)
  }

  /** Newest first: records that say how files were written that may be in the table. None in the first format. */
  def written(folder: TableFolder): Option[Iterator[CheckpointLine]] =
    folders.map(_ => rest(folder, Checkpoint.open(bytes, 0, first), Checkpoint.HeadLines2))

  /** The section of records; None in the first format, which has none. */
  def records: Option[ByteBuffer] = folders.map(_ => ByteBuffer.wrap(bytes, first, end - first))

  private def rest(folder: TableFolder, text: BufferedReader, skipped: Int): Iterator[CheckpointLine] = {
    (1 to skipped).foreach(_ => text.readLine())
    Iterator.continually(text.readLine()).takeWhile(_ != null).map(Checkpoint.line(folder, file, _))
  }
}

private[commit] object Checkpoint {
  private[commit] val Format = "zorder-checkpoint 2"
  private val Format1 = "zorder-checkpoint 1"
  private[commit] val Magic = "zoc2"
  private val Magic1 = "zocp"

  /** Magic word and checksum; before them the second format has a length. */
  private val EndBytes = Magic.length + 8
  private val LengthBytes = 8
  private val HeadLines1 = 2
  private val HeadLines2 = 3
  private val BufferBytes = 65536

  private[commit] val mapper = new ObjectMapper()

  /** @throws UnreadableRecordException when it is damaged
    * @throws java.io.IOException when it cannot be read at all */
  def read(folder: TableFolder, file: CheckpointFile): Checkpoint =
    parse(file, folder.ops.read(file.meta.path, RecordJson.ReadLimit))

  /** @throws UnreadableRecordException when it is damaged */
  private[commit] def parse(file: CheckpointFile, bytes: Array[Byte]): Checkpoint = {
    def fail(reason: String): Nothing = throw new UnreadableRecordException(file.meta.path, reason)
    def magic = new String(bytes, bytes.length - EndBytes, Magic.length, US_ASCII)
    if (bytes.length < EndBytes || magic != Magic1 && (magic != Magic || bytes.length < EndBytes + LengthBytes))
      fail("it has no end")
    val isFirst = magic == Magic1
    val sealedBytes = if (isFirst) bytes.length - EndBytes else bytes.length - 8
    if (crc(bytes, sealedBytes) != ByteBuffer.wrap(bytes, bytes.length - 8, 8).getLong) fail("it has another checksum")
    val end = if (isFirst) bytes.length - EndBytes else bytes.length - EndBytes - LengthBytes
    val first = if (isFirst) end else ByteBuffer.wrap(bytes, end, LengthBytes).getLong.toInt
    val text = open(bytes, 0, first)
    Option(text.readLine()).getOrElse("").split('\t') match {
      case Array(Format1, time) if isFirst && time.toLongOption.isDefined =>
        new Checkpoint(file, time.toLong, hashes(text.readLine()), None, bytes, first, end)
      case Array(Format, time) if !isFirst && time.toLongOption.isDefined =>
        val retired = hashes(text.readLine())
        new Checkpoint(file, time.toLong, retired, Some(names(text.readLine())), bytes, first, end)
      case _ => fail("its format is not known")
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
    val numbers = ByteBuffer.wrap(Base64.getDecoder.decode(text)).asLongBuffer
    val all = new Array[Long](numbers.remaining)
    numbers.get(all)
    all
  }

  private def names(text: String): Set[String] = {
    val found = Set.newBuilder[String]
    mapper.readTree(text).elements.forEachRemaining(n => found += n.asText)
    found.result()
  }
}
