package org.sparkzorder.s3

import java.io.{ByteArrayInputStream, IOException}

import scala.annotation.tailrec
import scala.collection.JavaConverters._
import scala.util.{Failure, Try}

import com.amazonaws.{AmazonClientException, AmazonWebServiceRequest}
import com.amazonaws.services.s3.AmazonS3
import com.amazonaws.services.s3.model._
import com.amazonaws.services.s3.model.DeleteObjectsRequest.KeyVersion
import com.amazonaws.util.IOUtils
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.fs.s3a.{S3AEncryptionMethods, S3AFileSystem, S3AUtils}
import org.apache.hadoop.fs.s3a.api.RequestFactory

import org.sparkzorder.commit.{FileMeta, ObjectStore, OpenUpload, Removal, StoredBytes, UploadFolder}

/**
 * [[ObjectStore]] over a bucket that Hadoop's S3A opens, with its client and its settings. Requests
 * are made by S3A's own factory, so that encryption and access rights are as the user has set them.
 * The client of Hadoop 3.3 is older than conditions of writes, so they are sent as headers, which it
 * signs.
 *
 * Etags are in quotation marks, as the store sends them and as the newer client returns them. This
 * client removes the marks. Sparks with either client may work on a table.
 *
 * @param partBytes larger files are copied in parts of this size
 */
private[s3] final class S3Objects(fs: S3AFileSystem, partBytes: Long = S3Objects.PartBytes) extends ObjectStore {
  import S3Objects._

  private val client: AmazonS3 = fs.getAmazonS3ClientForTesting("spark-zorder commits with conditions")
  private val requests = fs.getRequestFactory

  override def lacks: Option[String] =
    if (!fs.hasPathCapability(new Path("/"), MagicCommitter)) Some(UploadsNotOpen)
    else if (fs.hasMetadataStore) Some("show all objects to S3Guard, which `fs.s3a.metadatastore.impl` switches on")
    else if (requests.getServerSideEncryptionAlgorithm == S3AEncryptionMethods.CSE_KMS)
      Some("copy files as they are, since the client encrypts them")
    else None

  override def uploadFolder(operationId: String): String = UploadFolder.inMagic(operationId)

  override def list(dir: Path): Seq[FileMeta] = asking("list", dir) {
    pages(listing(dir)).flatMap(listed(dir, _))
  }

  override def listIfShort(dir: Path): Option[Seq[FileMeta]] = asking("list", dir) {
    Some(client.listObjectsV2(listing(dir))).filterNot(_.isTruncated).map(listed(dir, _))
  }

  private def listing(dir: Path): ListObjectsV2Request =
    requests.newListObjectsV2Request(prefixOf(dir), "/", PageOfListing)

  private def listed(dir: Path, page: ListObjectsV2Result): Seq[FileMeta] = {
    val prefix = prefixOf(dir)
    val files = page.getObjectSummaries.asScala.toSeq.filterNot(_.getKey.endsWith("/")).map { o =>
      val path = new Path(dir, childOf(o.getKey, prefix))
      FileMeta(path, o.getSize, o.getLastModified.getTime, isDirectory = false, quoted(o.getETag))
    }
    val folders = page.getCommonPrefixes.asScala.filter(_ != s"$prefix/")
      .map(p => childOf(p.stripSuffix("/"), prefix))
    files ++ folders.map(name => FileMeta(new Path(dir, name), 0, 0, isDirectory = true))
  }

  private def prefixOf(dir: Path): String = fs.pathToKey(dir) match {
    case "" => ""
    case k  => s"$k/"
  }

  private def pages(request: ListObjectsV2Request): Seq[ListObjectsV2Result] = {
    @tailrec def from(before: Vector[ListObjectsV2Result]): Vector[ListObjectsV2Result] = {
      val page = client.listObjectsV2(request)
      if (!page.isTruncated) before :+ page
      else {
        request.setContinuationToken(page.getNextContinuationToken)
        from(before :+ page)
      }
    }
    from(Vector.empty)
  }

  // A name may have a colon, which a path from a text would take for the end of a scheme.
  private def childOf(key: String, prefix: String): Path = new Path(null, null, key.substring(prefix.length))

  override def below(dir: Path): Seq[Path] = asking("list", dir) {
    val prefix = prefixOf(dir)
    pages(requests.newListObjectsV2Request(prefix, null, PageOfListing)).flatMap(_.getObjectSummaries.asScala)
      .map(_.getKey).filterNot(_.endsWith("/")).map(key => new Path(dir, childOf(key, prefix)))
  }

  override def objectAt(path: Path): Option[FileMeta] = asking("look at", path) {
    try {
      val head = client.getObjectMetadata(requests.newGetObjectMetadataRequest(fs.pathToKey(path)))
      val time = head.getLastModified.getTime
      Some(FileMeta(path, head.getContentLength, time, isDirectory = false, quoted(head.getETag)))
    } catch { case e: AmazonS3Exception if e.getStatusCode == NotFound => None }
  }

  override def isFolder(path: Path): Boolean = asking("look at", path) {
    val one = requests.newListObjectsV2Request(prefixOf(path), null, 1)
    !client.listObjectsV2(one).getObjectSummaries.isEmpty
  }

  override def get(path: Path, limit: Long): Option[StoredBytes] = asking("read", path) {
    try {
      val found = client.getObject(requests.newGetObjectRequest(fs.pathToKey(path)))
      try {
        val head = found.getObjectMetadata
        if (head.getContentLength > limit) {
          found.getObjectContent.abort()
          throw new IOException(s"$path has more than $limit bytes")
        }
        Some(StoredBytes(IOUtils.toByteArray(found.getObjectContent), quoted(head.getETag).get))
      } finally found.close()
    } catch { case e: AmazonS3Exception if e.getStatusCode == NotFound => None }
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
    def request = conditional(condition) {
      val content = new ByteArrayInputStream(bytes)
      requests.newPutObjectRequest(fs.pathToKey(path), requests.newObjectMetadata(bytes.length.toLong), content)
    }
    @tailrec def attempt(left: Int): Option[String] =
      Try(client.putObject(request).getETag) match {
        case Failure(e: AmazonS3Exception) if refusals(e.getStatusCode) => None
        // Another writer came at the same moment. Nothing says which of the two has written.
        case Failure(e: AmazonS3Exception) if e.getStatusCode == Conflict && left > 0 => attempt(left - 1)
        case answer                                                                   => quoted(answer.get)
      }
    attempt(MostConflicts)
  }

  private def conditional[R <: AmazonWebServiceRequest](condition: (String, String))(request: R): R = {
    request.putCustomRequestHeader(condition._1, condition._2)
    request
  }

  override def complete(path: Path, upload: OpenUpload): Boolean = asking("complete", path) {
    val parts = upload.parts.zipWithIndex.map { case (part, i) =>
      // Begun by a newer Spark whose S3A makes checksums.
      if (part.contains(';'))
        throw new IOException(s"S3A of Hadoop 3.3 cannot complete an upload with checksums: $path")
      new PartETag(i + 1, part)
    }
    try {
      client.completeMultipartUpload(
        requests.newCompleteMultipartUploadRequest(fs.pathToKey(path), upload.id, parts.toList.asJava)
      )
      true
    } catch { case e: AmazonS3Exception if e.getStatusCode == NotFound => false }
  }

  override def abort(path: Path, uploadId: String): Unit = asking("abort", path) {
    try client.abortMultipartUpload(requests.newAbortMultipartUploadRequest(fs.pathToKey(path), uploadId))
    catch { case e: AmazonS3Exception if e.getStatusCode == NotFound => () }
  }

  override def openUploads(dir: Path): Seq[(Path, String)] = asking("list the open uploads of", dir) {
    val prefix = s"${fs.pathToKey(dir)}/"
    val request = requests.newListMultipartUploadsRequest(prefix)
    @tailrec def from(before: Vector[MultipartUpload]): Vector[MultipartUpload] = {
      val page = client.listMultipartUploads(request)
      val found = before ++ page.getMultipartUploads.asScala
      if (!page.isTruncated) found
      else {
        request.setKeyMarker(page.getNextKeyMarker)
        request.setUploadIdMarker(page.getNextUploadIdMarker)
        from(found)
      }
    }
    from(Vector.empty).map(u => new Path(dir, childOf(u.getKey, prefix)) -> u.getUploadId)
  }

  // The client returns null if the source has another etag.
  override def copy(from: Path, etag: String, length: Long, to: Path): Boolean = asking("copy", from) {
    val (source, target) = (fs.pathToKey(from), fs.pathToKey(to))
    if (length <= partBytes) {
      // S3A takes from it what the copy is to keep. Of a file in the trash only the content counts.
      val head = new ObjectMetadata()
      head.setContentLength(length)
      val request = requests.newCopyObjectRequest(source, target, head).withMatchingETagConstraint(etag)
      try client.copyObject(request) != null
      catch { case e: AmazonS3Exception if e.getStatusCode == NotFound => false }
    } else copiedParts(source, etag, target, length).exists(complete(to, _))
  }

  /** Begins an upload that has the content of an object already. */
  private def copiedParts(source: String, etag: String, target: String, length: Long): Option[OpenUpload] = {
    val id = client.initiateMultipartUpload(requests.newMultipartUploadRequest(target)).getUploadId
    def copied(first: Long, number: Int): Option[String] = {
      val request = new CopyPartRequest()
        .withSourceBucketName(fs.getBucket).withSourceKey(source).withMatchingETagConstraint(etag)
        .withFirstByte(first).withLastByte(math.min(length, first + partBytes) - 1)
        .withDestinationBucketName(fs.getBucket).withDestinationKey(target).withUploadId(id).withPartNumber(number)
      if (requests.generateSSECustomerKey.isPresent) {
        request.setSourceSSECustomerKey(requests.generateSSECustomerKey.get)
        request.setDestinationSSECustomerKey(requests.generateSSECustomerKey.get)
      }
      try Option(client.copyPart(request)).map(_.getETag)
      catch { case e: AmazonS3Exception if e.getStatusCode == NotFound => None }
    }
    val firsts = (0L until length by partBytes).toVector
    val parts = firsts.zipWithIndex.map { case (first, i) => copied(first, i + 1) }
    if (parts.forall(_.isDefined)) Some(OpenUpload(id, parts.flatten))
    else {
      abort(new Path(s"/$target"), id)
      None
    }
  }

  override def startCopy(from: Path, etag: String, length: Long, to: Path): Option[OpenUpload] =
    asking("copy", from)(copiedParts(fs.pathToKey(from), etag, fs.pathToKey(to), length))

  override def delete(path: Path, etag: String): Removal = asking("delete", path) {
    try {
      client.deleteObject(conditional("If-Match" -> etag)(requests.newDeleteObjectRequest(fs.pathToKey(path))))
      Removal.Removed
    } catch {
      case e: AmazonS3Exception if e.getStatusCode == NotFound           => Removal.Gone
      case e: AmazonS3Exception if e.getStatusCode == PreconditionFailed =>
        if (objectAt(path).isDefined) Removal.Changed else Removal.Gone
    }
  }

  override def deleteAll(paths: Seq[Path]): Unit = paths.grouped(MostDeleted).foreach { some =>
    asking("delete", some.head) {
      val keys = some.map(p => new KeyVersion(fs.pathToKey(p)))
      if (some.size == 1) client.deleteObject(requests.newDeleteObjectRequest(keys.head.getKey))
      else {
        // It throws if an object could not be deleted.
        client.deleteObjects(requests.newBulkDeleteRequest(keys.toList.asJava, true))
        ()
      }
    }
  }

  private def quoted(etag: String): Option[String] = Option(etag).map(e => "\"" + e + "\"")

  /** Runs requests in one of S3A's spans, by which they are found in the store's own logs. */
  private def asking[A](what: String, path: Path)(work: => A): A = {
    val span = fs.createSpan(s"zorder $what", path.toString, null)
    try {
      span.activate()
      work
    } catch { case e: AmazonClientException => throw S3AUtils.translateException(what, path, e) }
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
    case s3: S3AFileSystem =>
      // Hadoop 3.3.5 changed it. What is missing is found here and not in the midst of a commit.
      classOf[RequestFactory].getMethod("newMultipartUploadRequest", classOf[String])
      Some(new S3Objects(s3))
    case _ => None
  }
}
