package org.sparkzorder.write.task

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, LocalDirAllocator, Path}
import org.apache.hadoop.io.IOUtils

/**
 * A file that is written on a local disk first, and then copied to an object store. It is in the
 * folder in which S3A keeps the parts of a file until they are uploaded.
 */
private[write] final class LocalFirst(conf: Configuration) {
  private val disk = FileSystem.getLocal(conf)

  val path: Path = disk.makeQualified(
    new LocalDirAllocator(LocalFirst.BufferFolder).getLocalPathForWrite(s"zorder-${UUID.randomUUID()}", conf)
  )

  def copyTo(target: Path): Unit =
    IOUtils.copyBytes(disk.open(path), target.getFileSystem(conf).create(target, true), conf, true)

  /** Deletes the file with its checksum file. */
  def delete(): Unit = {
    disk.delete(path, false)
    ()
  }
}

private object LocalFirst {
  private val BufferFolder = "fs.s3a.buffer.dir"
}
