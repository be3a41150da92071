package org.sparkzorder.commit

import java.util.{Locale, UUID}

import org.apache.hadoop.fs.Path

/**
 * A table's root, and the paths of everything that we put below it.
 *
 * @param threads in how many folders files are looked at or moved at the same time. A folder that
 *                is alone gets all of them
 */
final case class TableFolder(root: Path, ops: FileOps, threads: Int) {
  import SideNames._
  import TableFolder._

  val side: Path = new Path(root, SideNames.Side)

  /** The root that the table had when an operation under way began, if it is another one: it was moved or copied since. */
  def otherRoot(record: Record): Option[String] = record.root.filterNot { text =>
    val other = new Path(text)
    // A link may give it two names.
    isSame(other, root) || isSame(ops.realPath(other), ops.realPath(root))
  }

  def newLock(): Path = new Path(side, s"$LockPrefix${UUID.randomUUID()}")

  /** A name for a file that is renamed once it is complete. Only the lock's owner writes such files. */
  def newTemporary(): Path = new Path(side, s"$TemporaryPrefix${UUID.randomUUID()}")

  /** A name for an empty file whose time stamp tells the file system's clock. */
  def newProbe(): Path = new Path(side, s"$ProbePrefix${UUID.randomUUID()}")

  /**
   * A version is given again after an operation was undone, and after a table was overwritten with its history. So a
   * record under way has the operation's id in its name: no process that was slow takes the record of another one for
   * its own. Where files are exchanged on an object store, the name is what only one operation gets.
   */
  def record(record: Record, state: RecordState): Path = {
    val isOwn = state.isUnfinished && record.way != CommitProtocol.ObjectStore
    new Path(side, s"${recordName(record.version)}${if (isOwn) s"-${record.operationId}" else ""}.${state.suffix}")
  }

  /**
   * The record of an operation that is published.
   *
   * @param publishMillis how long files were being exchanged. The time is in the name because the record was written
   *                      long before it was known, and because one rename must make the record part of the history
   */
  def published(record: Record, publishMillis: Long): Path =
    new Path(side, s"${recordName(record.version)}-${publishMillis}ms.${RecordState.Done.suffix}")

  /** The record of an operation that was undone. The next operation gets the same version, so the id is in the name. */
  def undone(record: Record): Path =
    new Path(side, s"${recordName(record.version)}-${record.operationId}.${RecordState.Undone.suffix}")

  /** Why an operation was undone, or which process finished it for a dead owner; see [[Outcome]]. */
  def outcome(record: Record): Path =
    new Path(side, s"${recordName(record.version)}-${record.operationId}$OutcomeSuffix")

  /** The name of a published record once its retired files are being deleted. */
  def vacuumed(published: RecordFile): Path =
    new Path(side, published.meta.name.stripSuffix(RecordState.Done.suffix) + RecordState.Vacuumed.suffix)

  def index(number: Long): Path =
    new Path(side, Hidden + String.format(Locale.ROOT, "index-%010d.zidx", Long.box(number)))

  def manifest(operationId: String): Path = new Path(side, s"${Hidden}staging-$operationId.json")

  /** The path of a file or folder named relative to the root, "" being the root. */
  def resolve(relative: String): Path = if (relative.isEmpty) root else FileNames.child(root, relative)

  def relative(path: Path): Option[String] = {
    val prefix = root.toUri.getPath.stripSuffix("/") + "/"
    val sameStore = path.toUri.getScheme == null || root.toUri.getScheme == null ||
      (path.toUri.getScheme == root.toUri.getScheme && path.toUri.getAuthority == root.toUri.getAuthority)
    val own = path.toUri.getPath
    if (sameStore && own.startsWith(prefix) && own.length > prefix.length) Some(own.substring(prefix.length)) else None
  }

  def sideOf(folder: String): Path = new Path(resolve(folder), SideNames.Side)

  def stagingsOf(folder: String): Path = new Path(sideOf(folder), StagingName)

  def stagingOf(folder: String, operationId: String): Path = FileNames.child(stagingsOf(folder), s"$Hidden$operationId")

  /** Where tasks may write on an object store, see [[UploadFolder]]. */
  def uploads(operationId: String): Seq[Path] = UploadFolder.all(operationId).map(new Path(root, _))

  /** Where tasks write the files of one folder. S3A takes what is below `__base` for the files' places. */
  def uploadsOf(folder: String, operationId: String, store: ObjectStore): Path = {
    val base = new Path(new Path(root, store.uploadFolder(operationId)), "__base")
    if (folder.isEmpty) base else FileNames.child(base, folder)
  }

  def trashesOf(folder: String): Path = new Path(sideOf(folder), TrashName)

  /** The trash of one operation in one folder. Two tables may share a folder, so the operation's id is in the name. */
  def trashOf(folder: String, record: Record): Path = new Path(trashesOf(folder), trashName(record))

  def staged(file: String, operationId: String): Path =
    FileNames.child(stagingOf(FileNames.parent(file), operationId), FileNames.stagedName(file))

  def retired(file: String, record: Record): Path = retiredIn(trashOf(FileNames.parent(file), record), file)
  private[commit] def retiredIn(trash: Path, file: String): Path = FileNames.child(trash, FileNames.retiredName(file))
}

object TableFolder {
  def apply(root: Path, ops: FileOps): TableFolder = TableFolder(root, ops, ops.threads)

  /** The scheme may be another one, such as `s3` for `s3a`. A path that was made from a URI may end with a slash. */
  private[commit] def isSame(one: Path, other: Path): Boolean = {
    def place(path: Path) = (path.toUri.getAuthority, path.toUri.getPath.stripSuffix("/"))
    place(one) == place(other)
  }

  private[commit] def recordName(version: Long): String = s"${SideNames.Hidden}${SideNames.versionName(version)}"

  def trashName(record: Record): String = s"${recordName(record.version)}-${record.operationId}"
}
