package org.sparkzorder.index

import java.io.{EOFException, IOException}
import java.lang.ref.SoftReference
import java.nio.ByteBuffer
import java.util.Arrays
import java.util.concurrent.ExecutionException
import java.util.zip.CRC32

import scala.util.Using

import com.github.luben.zstd.Zstd
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, FileSystem, Path}

import org.sparkzorder.compat.ZstdFrames

/**
 * Compressed bytes (zstd) in an index file, and then their CRC-32: a page of Parquet, or the values of a column in one
 * file. The checksum also depends on the file's random id: when a block is read, another index may have this name.
 */
private[index] object Block {
  // The JVM's arrays have a little less than 2^31 elements.
  val MaxSize: Long = Int.MaxValue - 1024L
  val CrcBytes = 4
  private val Level = 3

  def pack(id: String, raw: Array[Byte]): Array[Byte] = {
    val bytes = Zstd.compress(raw, Level)
    ByteBuffer.allocate(bytes.length + CrcBytes).put(bytes).putInt(crc(id, bytes, bytes.length)).array
  }

  private def crc(id: String, bytes: Array[Byte], length: Int): Int = {
    val sum = new CRC32
    sum.update(id.getBytes("UTF-8"))
    sum.update(bytes, 0, length)
    sum.getValue.toInt
  }

  /** The most bytes of a block in the file, if it has so many in memory. */
  def maxLength(limit: Long): Long = CrcBytes + Zstd.compressBound(math.min(limit, MaxSize))

  /**
   * @param limit bytes that the block may have in memory
   * @throws IndexFormatException when the bytes are not a block of the file with this id
   */
  def unpack(id: String, block: Array[Byte], limit: Long): Array[Byte] = {
    val length = block.length - CrcBytes
    if (length < 0 || crc(id, block, length) != ByteBuffer.wrap(block).getInt(length))
      throw new IndexFormatException("a block has a wrong checksum")
    // Checked before the array is made: a small block must not fill the memory.
    val size = ZstdFrames.contentSize(block, 0, length)
    if (size < 0 || size > math.min(limit, MaxSize)) throw new IndexFormatException(
      s"a block of $size bytes is more than the $limit that it may take in memory"
    )
    val raw = new Array[Byte](size.toInt)
    if (Zstd.decompressByteArray(raw, 0, raw.length, block, 0, length) != size)
      throw new IndexFormatException("a block cannot be decompressed")
    raw
  }
}

/** An index file that cannot be used: it is truncated, damaged, or of a newer format. */
final class IndexFormatException(message: String, cause: Throwable = null) extends IOException(message, cause)

/**
 * A file on a Hadoop file system. Each read opens it anew: reads are few and large, and so no
 * snapshot has to be closed.
 *
 * @param whole reads a whole file by one request to an object store, if it has no more bytes than
 *              the limit. So a small index takes one request, however many columns are read.
 */
final class HadoopSource(
    @volatile private var fs: FileSystem,
    status: FileStatus,
    @volatile private var whole: Option[(Path, Long) => Array[Byte]] = None
) extends BlockSource {
  private val path: Path = status.getPath

  /** A file of so many bytes is read at once. */
  private final val MostAtOnce = 256L << 10

  @volatile private var content = new SoftReference[Array[Byte]](null)

  def name: String = path.toString

  def length: Long = status.getLen

  /** Goes on with the file system of another session: that of the first one may have been closed. */
  private[index] def use(fs: FileSystem, whole: Option[(Path, Long) => Array[Byte]]): Unit = {
    this.fs = fs
    this.whole = whole
  }

  def read(offset: Long, length: Int): Array[Byte] = whole match {
    case Some(get) if status.getLen <= MostAtOnce =>
      val all = Option(content.get).getOrElse {
        val bytes = get(path, status.getLen)
        if (bytes.length != status.getLen)
          throw new IOException(s"$path has ${bytes.length} bytes in place of ${status.getLen}")
        content = new SoftReference(bytes)
        bytes
      }
      if (offset + length > all.length) throw new EOFException(s"$path ends before byte ${offset + length}")
      Arrays.copyOfRange(all, offset.toInt, offset.toInt + length)
    case _ =>
      val bytes = new Array[Byte](length)
      Using.resource(opened())(_.readFully(offset, bytes))
      bytes
  }

  // An object store that knows the length from us need not be asked for it.
  private def opened(): FSDataInputStream =
    if (fs.getScheme == "file") fs.open(path)
    else
      try fs.openFile(path).opt("fs.option.openfile.length", status.getLen.toString).build().get()
      catch { case e: ExecutionException if e.getCause.isInstanceOf[IOException] => throw e.getCause }
}
