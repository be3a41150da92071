package org.sparkzorder.s3

import java.io.IOException

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._
import scala.util.{Failure, Try}

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.fs.s3a.{S3AFileSystem, S3AUtils}
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration
import software.amazon.awssdk.core.ResponseInputStream
import software.amazon.awssdk.core.exception.SdkException
import software.amazon.awssdk.core.sync.RequestBody
import software.amazon.awssdk.services.s3.S3Client
import software.amazon.awssdk.services.s3.model._

import org.sparkzorder.commit.{FileMeta, ObjectStore, OpenUpload, Removal, StoredBytes}

/**
 * [[ObjectStore]] over a bucket that Hadoop's S3A opens, with its client and its settings. Requests
 * are made by S3A's own factory, so that encryption, storage class and access rights are as the user
 * has set them. Conditions are sent as headers, which all versions of the client can do.
 *
 * @param partBytes larger files are copied in parts of this size
 */
private[s3] final class S3Objects(fs: S3AFileSystem, partBytes: Long = S3Objects.PartBytes) extends ObjectStore {
  import S3Objects._

  private val client: S3Client = fs.getS3AInternals.getAmazonS3Client("spark-zorder")
  private val requests = fs.getRequestFactory

  override def lacks: Option[String] =
    if (!fs.hasPathCapability(new Path("/"), MagicCommitter)) Some(UploadsNotOpen) else None

  override def list(dir: Path): Seq[FileMeta] = asking("list", dir) {
    client.listObjectsV2Paginator(listing(dir)).asScala.toSeq.flatMap(listed(dir, _))
  }

  override def listIfShort(dir: Path): Option[Seq[FileMeta]] = asking("list", dir) {
    Some(client.listObjectsV2(listing(dir))).filterNot(_.isTruncated).map(listed(dir, _))
  }

  private def listing(dir: Path): ListObjectsV2Request =
    requests.newListObjectsV2RequestBuilder(prefixOf(dir), "/", PageOfListing).build()

  private def listed(dir: Path, page: ListObjectsV2Response): Seq[FileMeta] = {
    val prefix = prefixOf(dir)
    val files = page.contents.asScala.toSeq.filterNot(_.key.endsWith("/")).map { o =>
      val path = new Path(dir, childOf(o.key, prefix))
      FileMeta(path, o.size, o.lastModified.toEpochMilli, isDirectory = false, Option(o.eTag))
    }
    val folders = page.commonPrefixes.asScala.filter(_.prefix != s"$prefix/")
      .map(p => childOf(p.prefix.stripSuffix("/"), prefix))
    files ++ folders.map(name => FileMeta(new Path(dir, name), 0, 0, isDirectory = true))
  }

  private def prefixOf(dir: Path): String = fs.pathToKey(dir) match {
    case "" => ""
    case k  => s"$k/"
  }

  // A name may have a colon, which a path from a text would take for the end of a scheme.
  private def childOf(key: String, prefix: String): Path = new Path(null, null, key.substring(prefix.length))

  override def below(dir: Path): Seq[Path] = asking("list", dir) {
    val prefix = prefixOf(dir)
    val request = requests.newListObjectsV2RequestBuilder(prefix, null, PageOfListing).build()
    client.listObjectsV2Paginator(request).contents.asScala.toSeq.map(_.key).filterNot(_.endsWith("/"))
      .map(key => new Path(dir, childOf(key, prefix)))
  }

  override def objectAt(path: Path): Option[FileMeta] = asking("look at", path) {
    try {
      val head = client.headObject(requests.newHeadObjectRequestBuilder(fs.pathToKey(path)).build())
      val time = head.lastModified.toEpochMilli
      Some(FileMeta(path, head.contentLength, time, isDirectory = false, Option(head.eTag)))
    } catch { case e: S3Exception if e.statusCode == NotFound => None }
  }

  override def isFolder(path: Path): Boolean = asking("look at", path) {
    val one = requests.newListObjectsV2RequestBuilder(prefixOf(path), null, 1).build()
    !client.listObjectsV2(one).contents.isEmpty
  }

  override def get(path: Path, limit: Long): Option[StoredBytes] = asking("read", path) {
    try {
      val found: ResponseInputStream[GetObjectResponse] =
        client.getObject(requests.newGetObjectRequestBuilder(fs.pathToKey(path)).build())
      try {
        if (found.response.contentLength > limit) throw new IOException(s"$path has more than $limit bytes")
        Some(StoredBytes(found.readAllBytes(), found.response.eTag))
      } finally found.close()
    } catch { case e: S3Exception if e.statusCode == NotFound => None }
  }

  override def putIfAbsent(path: Path, bytes: Array[Byte]): Option[String] =
    put(path, bytes, "If-None-Match" -> "*", Set(PreconditionFailed))

  override def putIfMatch(path: Path, bytes: Array[Byte], etag: String): Option[String] =
    put(path, bytes, "If-Match" -> etag, Set(PreconditionFailed, NotFound))

  private def put(
      path: Path,
      bytes: Array[Byte],
      condition: (String, String),
      refusals: Set[Int]
  ): Option[String] = asking("write", path) {
    val request = requests.newPutObjectRequestBuilder(fs.pathToKey(path), PutOptions(), bytes.length.toLong, false)
      .overrideConfiguration(header(condition)).build()
    @tailrec def attempt(left: Int): Option[String] =
      Try(client.putObject(request, RequestBody.fromBytes(bytes)).eTag) match {
        case Failure(e: S3Exception) if refusals(e.statusCode) => None
        // Another writer came at the same moment. Nothing says which of the two has written.
        case Failure(e: S3Exception) if e.statusCode == Conflict && left > 0 => attempt(left - 1)
        case answer                                                          => Some(answer.get)
      }
    attempt(MostConflicts)
  }

  override def complete(path: Path, upload: OpenUpload): Boolean = asking("complete", path) {
    val parts = upload.parts.zipWithIndex.map { case (part, i) => completed(part).partNumber(i + 1).build() }
    // S3A's own factory has another method for this in each version.
    val request = CompleteMultipartUploadRequest.builder().bucket(fs.getBucket).key(fs.pathToKey(path))
      .uploadId(upload.id).multipartUpload(CompletedMultipartUpload.builder().parts(parts.asJava).build())
    try {
      client.completeMultipartUpload(request.build())
      true
    } catch { case e: S3Exception if e.statusCode == NotFound => false }
  }

  private def completed(part: String): CompletedPart.Builder = part.split(';') match {
    case Array(etag, algorithm, checksum) =>
      val made = CompletedPart.builder().eTag(etag)
      algorithm match {
        case "CRC32"  => made.checksumCRC32(checksum)
        case "CRC32C" => made.checksumCRC32C(checksum)
        case "SHA1"   => made.checksumSHA1(checksum)
        case "SHA256" => made.checksumSHA256(checksum)
        case other    => throw new IOException(s"cannot complete an upload with checksums of $other")
      }
    case _ => CompletedPart.builder().eTag(part)
  }

  override def abort(path: Path, uploadId: String): Unit = asking("abort", path) {
    try client.abortMultipartUpload(
        requests.newAbortMultipartUploadRequestBuilder(fs.pathToKey(path), uploadId).build()
      )
    catch { case e: S3Exception if e.statusCode == NotFound => () }
    ()
  }

  override def openUploads(dir: Path): Seq[(Path, String)] = asking("list the open uploads of", dir) {
    val prefix = s"${fs.pathToKey(dir)}/"
    val request = requests.newListMultipartUploadsRequestBuilder(prefix).build()
    client.listMultipartUploadsPaginator(request).uploads.asScala.toSeq
      .map(u => new Path(dir, new Path(null, null, u.key.substring(prefix.length))) -> u.uploadId)
  }

  override def copy(from: Path, etag: String, length: Long, to: Path): Boolean = asking("copy", from) {
    val (source, target) = (fs.pathToKey(from), fs.pathToKey(to))
    try {
      if (length <= partBytes) {
        // S3A takes from it what the copy is to keep. Of a file in the trash only the content counts.
        val head = HeadObjectResponse.builder().contentLength(length).eTag(etag).build()
        client.copyObject(requests.newCopyObjectRequestBuilder(source, target, head).copySourceIfMatch(etag).build())
        true
      } else complete(to, copiedParts(source, etag, target, length))
    } catch { case e: S3Exception if e.statusCode == PreconditionFailed || e.statusCode == NotFound => false }
  }

  /** Begins an upload that has the content of an object already. */
  private def copiedParts(source: String, etag: String, target: String, length: Long): OpenUpload = {
    val id =
      client.createMultipartUpload(requests.newMultipartUploadRequestBuilder(target, PutOptions()).build()).uploadId
    val parts = (0L until length by partBytes).zipWithIndex.map { case (first, i) =>
      val last = math.min(length, first + partBytes) - 1
      val request = UploadPartCopyRequest.builder()
        .sourceBucket(fs.getBucket).sourceKey(source).copySourceIfMatch(etag).copySourceRange(s"bytes=$first-$last")
        .destinationBucket(fs.getBucket).destinationKey(target).uploadId(id).partNumber(i + 1)
      client.uploadPartCopy(request.build()).copyPartResult.eTag
    }
    OpenUpload(id, parts)
  }

  override def startCopy(from: Path, etag: String, length: Long, to: Path): Option[OpenUpload] =
    asking("copy", from) {
      try Some(copiedParts(fs.pathToKey(from), etag, fs.pathToKey(to), length))
      catch { case e: S3Exception if e.statusCode == PreconditionFailed || e.statusCode == NotFound => None }
    }

  override def delete(path: Path, etag: String): Removal = asking("delete", path) {
    val request = requests.newDeleteObjectRequestBuilder(fs.pathToKey(path))
      .overrideConfiguration(header("If-Match" -> etag)).build()
    try {
      client.deleteObject(request)
      Removal.Removed
    } catch {
      case e: S3Exception if e.statusCode == NotFound           => Removal.Gone
      case e: S3Exception if e.statusCode == PreconditionFailed =>
        if (objectAt(path).isDefined) Removal.Changed else Removal.Gone
    }
  }

  override def deleteAll(paths: Seq[Path]): Unit = paths.grouped(MostDeleted).foreach { some =>
    asking("delete", some.head) {
      val ids = some.map(p => ObjectIdentifier.builder().key(fs.pathToKey(p)).build())
      if (some.size == 1) client.deleteObject(requests.newDeleteObjectRequestBuilder(ids.head.key).build())
      else {
        val failed = client.deleteObjects(requests.newBulkDeleteRequestBuilder(ids.asJava).build()).errors.asScala
        failed.headOption.foreach(e => throw new IOException(s"cannot delete ${e.key}: ${e.code} ${e.message}"))
      }
    }
  }

  private def header(condition: (String, String)): AwsRequestOverrideConfiguration =
    AwsRequestOverrideConfiguration.builder().putHeader(condition._1, condition._2).build()

  /** Runs requests in one of S3A's spans, by which they are found in the store's own logs. */
  private def asking[A](what: String, path: Path)(work: => A): A = {
    val span = fs.createSpan(s"zorder $what", path.toString, null)
    try {
      span.activate()
      work
    } catch { case e: SdkException => throw S3AUtils.translateException(s"$what", path, e) }
    finally span.deactivate()
  }
}

/** The object stores that this build can commit to. */
object S3Objects {

  /** S3 copies no more than 5 GiB in one request. */
  private val PartBytes = 1L << 30
  private val PageOfListing = 1000
  private val MostDeleted = 1000
  private val NotFound = 404
  private val PreconditionFailed = 412
  private val Conflict = 409
  private val MostConflicts = 5
  private val MagicCommitter = "fs.s3a.capability.magic.committer"
  private val UploadsNotOpen = "leave uploads open, since `fs.s3a.committer.magic.enabled` is false"

  /** The store behind a file system; None if it is no S3A. */
  def of(fs: FileSystem): Option[ObjectStore] = fs match {
    case s3: S3AFileSystem => Some(new S3Objects(s3))
    case _                 => None
  }
}
