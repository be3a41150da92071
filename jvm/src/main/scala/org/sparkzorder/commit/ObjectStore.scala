package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

import org.sparkzorder.compat._

/**
 * The requests to an object store that the commit without renames needs, see `docs/design/commit.md`. A
 * listing and a read show every write that has ended. Every method throws `java.io.IOException` when the store does not
 * answer, or answers with an error: the request may then have taken effect, or take effect later.
 */
trait ObjectStore {

  /** What the settings keep the store from doing that a commit needs, in words for an error; None if nothing. */
  def lacks: Option[String] = None
  def uploadFolder(operationId: String): String = UploadFolder.ofJob(operationId)

  /** Objects and folders directly below a folder; objects have etags. */
  def list(dir: Path): Seq[FileMeta]

  /** What [[list]] gives, if one request has it all. */
  def listIfShort(dir: Path): Option[Seq[FileMeta]] = Some(list(dir))

  /** All objects below a folder, those in folders of it as well. */
  def below(dir: Path): Seq[Path]

  def objectAt(path: Path): Option[FileMeta]

  def isFolder(path: Path): Boolean

  /** The object at `path`, or the folder if there is an object below it; None when there is neither. */
  def status(path: Path): Option[FileMeta] =
    objectAt(path).orElse(Option.when(isFolder(path))(FileMeta(path, 0, 0, isDirectory = true)))

  /**
   * The content of an object and its etag; None when there is none.
   *
   * @param limit bytes; more are an `IOException`
   */
  def get(path: Path, limit: Long): Option[StoredBytes]

  /** Writes an object if there is none at `path`. Returns its etag, or None when there is one. */
  def putIfAbsent(path: Path, bytes: Array[Byte]): Option[String]

  /** Replaces an object that has the given etag. Returns its new etag, or None when it is gone or has another one. */
  def putIfMatch(path: Path, bytes: Array[Byte], etag: String): Option[String]

  /** Makes a file of an upload. False when the store knows no such upload: it was aborted, or completed before. */
  def complete(path: Path, upload: OpenUpload): Boolean

  /** Ends an upload without a file. Not an error when it has ended already. */
  def abort(path: Path, uploadId: String): Unit

  /** The open uploads of files below a folder, as paths with the uploads' ids. */
  def openUploads(dir: Path): Seq[(Path, String)]

  /**
   * Copies an object that has the given etag. False when it is gone or has another one.
   *
   * @param length of the object, in bytes
   */
  def copy(from: Path, etag: String, length: Long, to: Path): Boolean

  /**
   * Begins an upload of a copy of an object, and leaves it open. None when the object is gone or has another etag.
   *
   * @param length of the object, in bytes
   */
  def startCopy(from: Path, etag: String, length: Long, to: Path): Option[OpenUpload]

  def delete(path: Path, etag: String): Removal

  /** Deletes objects, whatever they hold. Not an error when some are gone already. */
  def deleteAll(paths: Seq[Path]): Unit
}

final case class StoredBytes(bytes: Array[Byte], etag: String)

/** How a delete on condition of an etag ended. */
sealed trait Removal
object Removal {
  case object Removed extends Removal

  /** There is no such object, or there was none any more. */
  case object Gone extends Removal

  /** It has another etag, and stays. */
  case object Changed extends Removal
}

/**
 * The folder of a table where tasks write on an object store. S3A leaves an upload open when its
 * file is written below a folder of such a name, as its magic committer does.
 */
object UploadFolder {

  /** Its path below the table, since Hadoop 3.4. */
  def ofJob(operationId: String): String = s"__magic_job-$operationId"

  /** The same before. There the name is `__magic` and nothing else. */
  def inMagic(operationId: String): String = s"__magic/job-$operationId"

  /** Another Spark may clean up than the one that wrote. */
  def all(operationId: String): Seq[String] = Seq(ofJob(operationId), inMagic(operationId))
}
