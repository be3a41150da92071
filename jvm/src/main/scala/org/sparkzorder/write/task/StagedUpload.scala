package org.sparkzorder.write.task

import java.io.IOException

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.JsonNode
import org.apache.hadoop.fs.Path

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
