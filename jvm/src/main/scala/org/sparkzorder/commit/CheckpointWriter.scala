package org.sparkzorder.commit

import java.io.{ByteArrayOutputStream, IOException}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}
import java.util.Base64
import java.util.zip.{Deflater, GZIPOutputStream}

/**
 * The first section of a checkpoint.
 *
 * @param prunedAt when old records were last looked for, by the file system's clock
 * @param retired see [[RetiredNames]], in ascending order
 * @param folders the folders of all files that the records name
 * @param written the thinned records, see [[WrittenFiles]], newest first
 */
private[commit] final case class CheckpointHead(
    prunedAt: Long,
    retired: Array[Long],
    folders: Set[String],
    written: Iterable[CheckpointLine]
)

/**
 * Takes records one by one, newest first, and compresses each at once, so that memory need not hold
 * all of them.
 */
private[commit] final class CheckpointWriter(head: CheckpointHead) {
  import CheckpointWriter._

  private val bytes = new Bytes
  private var stream = new Stream(bytes)
  put(s"${Checkpoint.Format}\t${head.prunedAt}")
  put {
    val numbers = ByteBuffer.allocate(8 * head.retired.length)
    head.retired.foreach(numbers.putLong)
    new String(Base64.getEncoder.encode(numbers.array), US_ASCII)
  }
  put {
    val names = Checkpoint.mapper.createArrayNode()
    head.folders.toSeq.sorted.foreach(names.add)
    Checkpoint.mapper.writeValueAsString(names)
  }
  head.written.foreach(put)
  private val first = ended()
  private var isEmpty = true

  private def put(line: String): Unit = {
    stream.write(line.getBytes(UTF_8))
    stream.write('\n')
  }

  private def put(line: CheckpointLine): Unit = {
    val meta = line.file.meta
    put(s"${meta.name}\t${meta.length}\t${meta.modificationTime}\t${line.outcome.getOrElse("")}\t${line.json}")
  }

  /** Ends a gzip stream and begins the next one. Returns the number of bytes so far. */
  private def ended(): Int = {
    stream.close()
    stream = new Stream(bytes)
    bytes.size
  }

  def add(line: CheckpointLine): Unit = {
    put(line)
    isEmpty = false
  }

  /**
   * Takes over the records of an earlier checkpoint as they are. They are older than all that were
   * added.
   */
  def append(records: ByteBuffer): Unit = {
    if (!isEmpty) ended()
    isEmpty = true
    bytes.write(records.array, records.arrayOffset + records.position(), records.remaining)
  }

  /** @throws java.io.IOException when the checkpoint is longer than the limit for reading it */
  def result(): Array[Byte] = {
    if (!isEmpty) ended()
    bytes.write(ByteBuffer.allocate(8).putLong(first.toLong).array)
    bytes.write(Checkpoint.Magic.getBytes(US_ASCII))
    bytes.write(ByteBuffer.allocate(8).putLong(bytes.crc).array)
    if (bytes.size > RecordJson.ReadLimit)
      throw new IOException(s"the checkpoint is longer than ${RecordJson.ReadLimit}")
    bytes.toByteArray
  }
}

private object CheckpointWriter {
  private val BufferBytes = 65536

  private final class Bytes extends ByteArrayOutputStream {
    def crc: Long = Checkpoint.crc(buf, count)
  }

  /** A gzip stream. It adds no byte before something is written. */
  private final class Stream(bytes: Bytes) {
    private lazy val out = new java.io.BufferedOutputStream(
      new GZIPOutputStream(bytes, BufferBytes) { `def`.setLevel(Deflater.BEST_SPEED) },
      BufferBytes
    )
    def write(text: Array[Byte]): Unit = out.write(text)
    def write(byte: Int): Unit = out.write(byte)
    def close(): Unit = out.close()
  }
}
