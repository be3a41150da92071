package org.sparkzorder.scan

import java.io.{FileNotFoundException, IOException}
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.{Files, Paths}
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.{FileStatus, FileSystem, LocalFileSystem, Path}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession

import org.sparkzorder.commit.WorkerThreads
import org.sparkzorder.compat._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.table.Targets

/** Files of one folder that a query is about to leave out, and how many files of it the listing holds. */
private[sparkzorder] final case class LeftOut(folder: Path, files: Seq[FileStatus], listed: Int)

/**
 * Looks again at the files that a query is about to leave out. A session may keep a listing as long as it lives, while
 * other programs overwrite files in place. Then listing and index agree with each other, but not with the files.
 *
 * See `docs/design/index.md#a-fresh-look` for what this costs.
 *
 * @param fileSystem of a folder; must be cheap, since it is called often
 * @param failed is told of a folder whose files cannot be looked at
 */
private[sparkzorder] final class FileRevalidation(fileSystem: Path => FileSystem, failed: (Path, IOException) => Unit)
    extends Logging {
  import FileRevalidation._

  /** Those of some files that are gone or not as they were listed. */
  def changedOf(files: Seq[FileStatus]): Seq[FileStatus] =
    changed(files.groupBy(_.getPath.getParent).toSeq.map { case (folder, of) => LeftOut(folder, of, of.size) })

  /** Files that are gone or not as they were listed. A file that cannot be looked at is one of them. */
  def changed(folders: Seq[LeftOut]): Seq[FileStatus] = {
    // On a local disk each file is looked at by itself, so a large folder is shared between threads.
    val parts = folders.flatMap { f =>
      if (isLocal(fileSystem(f.folder))) f.files.grouped(MostAtOnce).map(part => f.copy(files = part)) else Seq(f)
    }
    val quick = parts.forall(p => isLocal(fileSystem(p.folder))) && parts.iterator.map(_.files.size).sum < FewFiles
    val found = WorkerThreads.map(parts, if (quick) 1 else Threads)(lookAt).flatten
    if (found.nonEmpty)
      logInfo(
        s"${found.size} files are read as well, since they changed after they were listed: ${found.head.getPath}.."
      )
    found
  }

  private def lookAt(part: LeftOut): Seq[FileStatus] = {
    val fs = fileSystem(part.folder)
    try {
      if (isLocal(fs)) part.files.filterNot(isSameOnDisk)
      else if (part.files.size <= 1 + part.listed / PageOfListing)
        part.files.filterNot(f => isSame(f, ifThere(fs.getFileStatus(f.getPath))))
      else {
        val now = ifThere(fs.listStatus(part.folder)).fold(Map.empty[String, FileStatus]) {
          _.iterator.map(s => s.getPath.getName -> s).toMap
        }
        part.files.filterNot(f => isSame(f, now.get(f.getPath.getName)))
      }
    } catch {
      case e: IOException =>
        failed(part.folder, e)
        part.files
    }
  }
}

private[sparkzorder] object FileRevalidation {

  /** None if the session trusts its listings. */
  def of(session: SparkSession, failed: (Path, IOException) => Unit): Option[FileRevalidation] =
    Option.when(!session.sessionState.conf.getConf(ZOrderConf.trustListing)) {
      val known = new ConcurrentHashMap[(String, String), FileSystem]
      def store(folder: Path) = (folder.toUri.getScheme, folder.toUri.getAuthority)
      new FileRevalidation(f => known.computeIfAbsent(store(f), _ => Targets.fileSystem(session, f)), failed)
    }

  /** Files of a local folder that one thread looks at before it takes others. */
  private val MostAtOnce = 2048

  /** Fewer files than this on a local disk are looked at without threads. */
  private val FewFiles = 512

  /** Looks at the same time. An object store answers each slowly, but many at once. */
  private val Threads = 32

  /** Files in one answer of HDFS or an object store to a listing. */
  private val PageOfListing = 1000

  private def isLocal(fs: FileSystem): Boolean = fs.getClass == classOf[LocalFileSystem]

  private def ifThere[A](look: => A): Option[A] =
    try Some(look)
    catch { case _: FileNotFoundException => None }

  private def isSame(listed: FileStatus, now: Option[FileStatus]): Boolean =
    now.exists(n => n.getLen == listed.getLen && n.getModificationTime == listed.getModificationTime)

  /** `java.nio` takes a tenth of the time of a Hadoop file status. */
  private def isSameOnDisk(listed: FileStatus): Boolean =
    try {
      val now = Files.readAttributes(Paths.get(listed.getPath.toUri.getPath), classOf[BasicFileAttributes])
      now.size == listed.getLen && now.lastModifiedTime.toMillis == listed.getModificationTime
    } catch { case _: java.nio.file.NoSuchFileException => false }
}
