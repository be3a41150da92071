package org.sparkzorder.write.task

import java.io.IOException
import java.util.UUID

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.JsonNode
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, LocalDirAllocator, Path}
import org.apache.hadoop.io.IOUtils

import org.sparkzorder.codec.Json
import org.sparkzorder.commit.OpenUpload

/**
 * The parts of a file that are on an object store, while the upload is open. S3A leaves an upload
 * open when a file is written below a folder that is named `__magic_job-..`, and writes what is
 * needed to complete it into a small file beside it. See Hadoop's page on the magic committer.
 */
object StagedUpload {
  private val Suffix = ".pending"

  /**
   * The upload of a file that was written and closed, and the file's length.
   *
   * @param bytes of a small file
   * @throws java.io.IOException if there is none: this version of S3A does not leave uploads open
   */
  private[write] def read(path: Path, bytes: Path => Array[Byte]): (OpenUpload, Long) = {
    val pending = path.suffix(Suffix)
    try {
      val root = Json.read(bytes(pending))
      val parts = Json.elements(root.path("etags")).map(part)
      val id = root.path("uploadId").asText
      if (id.isEmpty || parts.isEmpty || parts.exists(_.isEmpty) || !root.path("length").isNumber)
        throw new IOException(s"no upload in $pending")
      (OpenUpload(id, parts), root.path("length").asLong)
    } catch { case e: JsonProcessingException => throw new IOException(s"cannot read $pending", e) }
  }

  // Since Hadoop 3.4 an object with a checksum, if S3A is told to make any.
  private def part(node: JsonNode): String =
    if (node.isTextual) node.asText
    else Seq("etag", "checksumAlgorithm", "checksum").map(node.path(_)).takeWhile(_.isTextual).map(_.asText)
      .mkString(";")
}

/**
 * How tasks write files on an object store: as uploads that are left open.
 *
 * @param operationId is in the names of the files
 * @param read all bytes of a small file, or an `IOException`
 */
final case class OpenUploads(operationId: String, read: (FileSystem, Path) => Array[Byte])

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

  def delete(): Unit = {
    disk.delete(path, false)
    ()
  }
}

private object LocalFirst {
  private val BufferFolder = "fs.s3a.buffer.dir"
}
