package org.sparkzorder.scan

import java.nio.charset.StandardCharsets.UTF_8

import com.google.common.cache.CacheBuilder
import com.google.common.hash.{HashCode, Hashing}
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.datasources.FileIndex

import org.sparkzorder.commit.{FileMeta, RecordFile}
import org.sparkzorder.commit.log.TableState
import org.sparkzorder.compat._

/** The operations that a listing was checked against: all up to the newest published one, and those undone. */
private[scan] final case class VerifiedOperations(newest: Option[FileMeta], undone: Set[FileMeta]) {

  /**
   * Whether [[unseen]] may lack operations that VACUUM has forgotten: versions since the newest seen one are missing.
   */
  def mayLack(state: TableState.SideFolder): Boolean = {
    val seen = state.done.find(file => newest.contains(file.meta)).fold(0L)(_.version)
    state.done.count(_.version > seen).toLong != state.version - seen
  }

  /** Records that the listing was not checked against, newest first. */
  def unseen(state: TableState.SideFolder): Seq[RecordFile] = {
    val published = state.done.takeWhile(file => !newest.contains(file.meta)).map(_ -> 0)
    val others = state.undone.filterNot(file => undone.contains(file.meta)).map(_ -> 1)
    (published ++ others).sortBy { case (file, rank) => (-file.version, rank) }.map(_._1)
  }
}

private[scan] object VerifiedOperations {
  val none: VerifiedOperations = VerifiedOperations(None, Set.empty)

  def of(state: TableState): VerifiedOperations = state match {
    case s: TableState.SideFolder => VerifiedOperations(s.newestDone.map(_.meta), s.undone.map(_.meta).toSet)
    case TableState.NoSideFolder  => none
  }
}

/**
 * Up to which operation each listing was found to be whole. An entry lives as long as its listing.
 *
 * Operations are compared by the status of their record's file, since a table that is made anew counts its versions
 * from 1 again.
 */
private[scan] final class VerifiedListings {
  // By identity, since Spark's own listings are equal whenever they are of the same folder.
  private val seen = CacheBuilder.newBuilder().weakKeys().build[FileIndex, Map[Path, VerifiedOperations]]()

  def get(listing: FileIndex, table: Path): VerifiedOperations =
    Option(seen.getIfPresent(listing)).flatMap(_.get(table)).getOrElse(VerifiedOperations.none)

  def put(listing: FileIndex, table: Path, operations: VerifiedOperations): Unit = {
    seen.asMap.merge(listing, Map(table -> operations), (before, added) => before ++ added)
    ()
  }
}

/** The files of a listing, or of a folder of it; `isKnown` if any other query of the folder would read the same. */
private[scan] final class ListedFolder(val files: Seq[Path], isKnown: Boolean) {

  /** A hash of the names of a folder and its files, if they may be remembered. */
  lazy val names: Option[HashCode] = Option.when(isKnown && files.nonEmpty) {
    val digest = Hashing.sha256.newHasher()
    (files.head.getParent.toString +: files.map(_.getName).sorted).foreach(digest.putString(_, UTF_8).putByte(0: Byte))
    digest.hash()
  }
}

/**
 * Up to which operation the files of a folder were found to be whole. Spark makes an index of its own for each query of
 * some partitions. If that shows the same names in a folder, it is as whole there, and need not be made anew.
 */
private[scan] final class VerifiedFolders {

  /** Some 30 MB. */
  private final val MostFolders = 50000L

  private val seen = CacheBuilder.newBuilder().maximumSize(MostFolders).build[(Path, HashCode), VerifiedOperations]()

  def get(folder: ListedFolder, table: Path): Option[VerifiedOperations] =
    folder.names.flatMap(names => Option(seen.getIfPresent((table, names))))

  def put(folder: ListedFolder, table: Path, operations: VerifiedOperations): Unit =
    folder.names.foreach(names => seen.put((table, names), operations))
}
