package org.sparkzorder.commit

import java.io.{
  BufferedOutputStream,
  BufferedReader,
  ByteArrayInputStream,
  ByteArrayOutputStream,
  IOException,
  InputStreamReader
}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}
import java.util.Base64
import java.util.zip.{CRC32, Deflater, GZIPInputStream, GZIPOutputStream}

/**
 * A published record as a checkpoint keeps it.
 *
 * @param file the record's file as it was listed before it was gathered; its name says state and time of publishing
 * @param outcome as JSON, if there was one
 * @param json the record's file, byte by byte
 */
private[commit] final case class CheckpointLine(file: RecordFile, outcome: Option[String], json: String) {

  /** @throws UnreadableRecordException when it is damaged */
  def record: Record = {
    val record = RecordJson.parse(json.getBytes(UTF_8), file.meta.path)
    if (record.version != file.version)
      throw new UnreadableRecordException(file.meta.path, s"it says version ${record.version}")
    record
  }
}

/**
 * The published records up to a version, in one file.
 *
 * The file is text compressed by gzip: a head, a line of hashes (see [[RetiredNames]]), then a line for each record,
 * newest first. A magic word and the CRC-32 of the compressed bytes follow.
 *
 * @param prunedAt when old records were last looked for, by the file system's clock
 * @param retired hashes of the names that these records retired and did not bring back, in ascending order
 */
private[commit] final class Checkpoint private (
    val file: CheckpointFile,
    val prunedAt: Long,
    val retired: Array[Long],
    bytes: Array[Byte]
) {

  /** Newest first. Reads no more of the file than is asked for. */
  def lines(folder: TableFolder): Iterator[CheckpointLine] = {
    val text = Checkpoint.open(bytes)
    text.readLine()
    text.readLine()
    Iterator.continually(text.readLine()).takeWhile(_ != null).map(Checkpoint.line(folder, file, _))
  }
}

private[commit] object Checkpoint {
  private val Format = "zorder-checkpoint 1"
  private val Magic = "zocp"
  private val EndBytes = Magic.length + 8

  /** @throws UnreadableRecordException when it is damaged
    * @throws java.io.IOException when it cannot be read at all */
  def read(folder: TableFolder, file: CheckpointFile): Checkpoint = {
    val bytes = folder.ops.read(file.meta.path, RecordJson.ReadLimit)
    def fail(reason: String): Nothing = throw new UnreadableRecordException(file.meta.path, reason)
    if (bytes.length < EndBytes || new String(bytes, bytes.length - EndBytes, Magic.length, US_ASCII) != Magic)
      fail("it has no end")
    if (crc(bytes, bytes.length - EndBytes) != ByteBuffer.wrap(bytes, bytes.length - 8, 8).getLong)
      fail("it has another checksum")
    val text = open(bytes)
    Option(text.readLine()).getOrElse("").split('\t') match {
      case Array(Format, prunedAt) if prunedAt.toLongOption.isDefined =>
        new Checkpoint(file, prunedAt.toLong, hashes(text.readLine()), bytes)
      case _ => fail("its format is not known")
    }
  }

  private def open(bytes: Array[Byte]): BufferedReader = {
    val in = new GZIPInputStream(new ByteArrayInputStream(bytes, 0, bytes.length - EndBytes), 65536)
    new BufferedReader(new InputStreamReader(in, UTF_8), 65536)
  }

  private def crc(bytes: Array[Byte], length: Int): Long = {
    val sum = new CRC32
    sum.update(bytes, 0, length)
    sum.getValue
  }

  private def line(folder: TableFolder, from: CheckpointFile, text: String): CheckpointLine =
    text.split("\t", 5) match {
      case Array(name, length, time, outcome, json) if length.toLongOption.isDefined && time.toLongOption.isDefined =>
        val meta = FileMeta(folder.inSide(name), length.toLong, time.toLong, isDirectory = false)
        TableFolder.records(Seq(meta)).headOption.filter(_.state.isPublished)
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

  /** Takes lines one by one, newest first, and so never has all of them in memory but compressed. */
  final class Writer(prunedAt: Long, retired: Array[Long]) {
    private val bytes = new ByteArrayOutputStream
    private val out = new BufferedOutputStream(
      new GZIPOutputStream(bytes, 65536) { `def`.setLevel(Deflater.BEST_SPEED) },
      65536
    )
    put(s"$Format\t$prunedAt")
    put {
      val numbers = ByteBuffer.allocate(8 * retired.length)
      retired.foreach(numbers.putLong)
      new String(Base64.getEncoder.encode(numbers.array), US_ASCII)
    }

    private def put(line: String): Unit = {
      out.write(line.getBytes(UTF_8))
      out.write('\n')
    }

    def add(line: CheckpointLine): Unit = {
      val meta = line.file.meta
      put(s"${meta.name}\t${meta.length}\t${meta.modificationTime}\t${line.outcome.getOrElse("")}\t${line.json}")
    }

    /** @throws java.io.IOException when it is longer than what is read */
    def result(): Array[Byte] = {
      out.close()
      val sum = crc(bytes.toByteArray, bytes.size)
      bytes.write(Magic.getBytes(US_ASCII))
      bytes.write(ByteBuffer.allocate(8).putLong(sum).array)
      if (bytes.size > RecordJson.ReadLimit)
        throw new IOException(s"the checkpoint is longer than ${RecordJson.ReadLimit}")
      bytes.toByteArray
    }
  }
}
