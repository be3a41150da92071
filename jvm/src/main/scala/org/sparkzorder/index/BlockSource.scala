package org.sparkzorder.index

import java.io.{EOFException, IOException}
import java.lang.ref.SoftReference
import java.util.concurrent.ExecutionException

import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, FileSystem, Path}

/** The bytes of an index file, which are read when they are needed. Safe for use by many threads. */
trait BlockSource {

  /** For messages. */
  def name: String

  def length: Long

  /** @throws java.io.IOException when these bytes cannot be read */
  @throws[IOException]
  def read(offset: Long, length: Int): Array[Byte]
}

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

  @volatile private var content = new SoftReference[Array[Byte]](null)

  def name: String = path.toString

  def length: Long = status.getLen

  /** Goes on with the file system of another session: that of the first one may have been closed. */
  private[index] def use(fs: FileSystem, whole: Option[(Path, Long) => Array[Byte]]): Unit = {
    this.fs = fs
    this.whole = whole
  }

  def read(offset: Long, length: Int): Array[Byte] = whole match {
    case Some(get) if status.getLen <= HadoopSource.MostAtOnce =>
      val all = Option(content.get).getOrElse {
        val bytes = get(path, status.getLen)
        if (bytes.length != status.getLen)
          throw new IOException(s"$path has ${bytes.length} bytes in place of ${status.getLen}")
        content = new SoftReference(bytes)
        bytes
      }
      if (offset + length > all.length) throw new EOFException(s"$path ends before byte ${offset + length}")
      Arrays.copyOfRange(all, offset.toInt, offset.toInt + length)
    case _ => part(offset, length)
  }

  private def part(offset: Long, length: Int): Array[Byte] = {
    val bytes = new Array[Byte](length)
    val in = opened()
    try in.readFully(offset, bytes)
    finally in.close()
    bytes
  }

  // An object store that knows the length from us need not be asked for it.
  private def opened(): FSDataInputStream =
    if (fs.getScheme == "file") fs.open(path)
    else
      try fs.openFile(path).opt("fs.option.openfile.length", status.getLen.toString).build().get()
      catch { case e: ExecutionException if e.getCause.isInstanceOf[IOException] => throw e.getCause }
}

private object HadoopSource {

  /** A file of so many bytes is read at once. */
  val MostAtOnce: Long = 256L << 10
}
