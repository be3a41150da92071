package org.sparkzorder.write

import java.io.{FileNotFoundException, IOException}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.hadoop.fs.{FileSystem, Path}

import org.sparkzorder.commit.ObjectStores

/**
 * The parts of a file that are on an object store, while the upload is open. S3A leaves an upload
 * open when a file is written below a folder that is named `__magic_job-..`, and writes what is
 * needed to complete it into a small file beside it. See Hadoop's page on the magic committer.
 *
 * @param parts their etags, in order; with checksums `etag;algorithm;checksum`
 */
final case class StagedUpload(id: String, parts: Seq[String])

object StagedUpload {
  private val mapper = new ObjectMapper()

  private val Suffix = ".pending"

  /** It has a line for each of at most 10,000 parts. */
  private val ReadLimit = 64L << 20

  /**
   * The upload of a file that was written and closed, and the file's length.
   *
   * @throws java.io.IOException if there is none: this version of S3A does not leave uploads open
   */
  private[write] def read(fs: FileSystem, path: Path): (StagedUpload, Long) = {
    val pending = path.suffix(Suffix)
    val found = ObjectStores.storeOf(fs).flatMap(_.get(pending, ReadLimit))
      .getOrElse(throw new FileNotFoundException(s"no upload in $pending"))
    try {
      val root = mapper.readTree(found.bytes)
      val parts = root.path("etags").elements.asScala.map(part).toSeq
      val id = root.path("uploadId").asText
      if (id.isEmpty || parts.isEmpty || parts.exists(_.isEmpty) || !root.path("length").isNumber)
        throw new IOException(s"no upload in $pending")
      (StagedUpload(id, parts), root.path("length").asLong)
    } catch { case e: JsonProcessingException => throw new IOException(s"cannot read $pending", e) }
  }

  // Since Hadoop 3.4 an object with a checksum, if S3A is told to make any.
  private def part(node: JsonNode): String =
    if (node.isTextual) node.asText
    else Seq("etag", "checksumAlgorithm", "checksum").map(node.path(_)).takeWhile(_.isTextual).map(_.asText)
      .mkString(";")
}
