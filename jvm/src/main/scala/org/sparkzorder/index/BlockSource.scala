package org.sparkzorder.index

import java.io.IOException
import java.util.concurrent.ExecutionException

import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, FileSystem, Path}

/**
 * The bytes of an index file, which are read when they are needed. Safe for use by many threads.
 */
trait BlockSource {

  /** The file's name, for messages. */
  def name: String

  /** The file's size in bytes. */
  def length: Long

  /** @throws java.io.IOException when these bytes cannot be read */
  @throws[IOException]
  def read(offset: Long, length: Int): Array[Byte]
}

/**
 * A file on a Hadoop file system. Each read opens it anew: reads are few and large, and so nobody
 * has to close a snapshot.
 */
final class HadoopSource(@volatile private[index] var fs: FileSystem, status: FileStatus) extends BlockSource {
  private val path: Path = status.getPath

  def name: String = path.toString

  def length: Long = status.getLen

  def read(offset: Long, length: Int): Array[Byte] = {
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
