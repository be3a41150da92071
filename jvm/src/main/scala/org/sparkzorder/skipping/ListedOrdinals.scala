package org.sparkzorder.skipping

import java.lang.ref.{ReferenceQueue, SoftReference, WeakReference}
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.execution.datasources.{FileIndex, FileStatusWithMetadata}

import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.table.RelativePath

/**
 * Files of one directory of a listing.
 *
 * @param ordinals of each file in the index, -1 for one that the index does not know
 */
private[skipping] final class ListedFiles(val files: Array[FileStatus], val ordinals: Array[Int]) {

  /** Those of the directory that came next in the latest listing. */
  @volatile private[skipping] var next: ListedFiles = null

  /** Of all files together. */
  lazy val bytes: Long = {
    var sum = 0L
    files.foreach(sum += _.getLen)
    sum
  }

  def are(those: Seq[FileStatusWithMetadata]): Boolean = files.length == those.length && {
    val other = those.iterator
    var i = 0
    while (i < files.length && (other.next().fileStatus eq files(i))) i += 1
    i == files.length
  }

  /** Some of these files, in the same order; None when others are among them. */
  def part(those: Array[FileStatus]): Option[ListedFiles] = {
    val found = new Array[Int](those.length)
    var (i, at) = (0, 0)
    while (i < those.length && at < files.length) {
      if (files(at) eq those(i)) {
        found(i) = ordinals(at)
        i += 1
      }
      at += 1
    }
    if (i == those.length) Some(new ListedFiles(those, found)) else None
  }
}

/**
 * Which files of an index those of a listing are: found out once for each listing, not by each query. Listings are asked
 * for the same files in the same order again and again, and hand out the same objects as long as they are not made anew.
 */
private[skipping] final class ListedOrdinals(names: RelativePath, val snapshot: IndexSnapshot) {

  private val known = new ConcurrentHashMap[Path, ListedFiles]

  // The directory that was listed first, as each knows the one that came next.
  @volatile private var first: ListedFiles = null

  /** @param directories the files of each directory, in the order of the listing */
  def of(directories: Seq[Seq[FileStatusWithMetadata]]): Seq[ListedFiles] = {
    var before: ListedFiles = null
    directories.map { directory =>
      val expected = if (before == null) first else before.next
      val listed = if (expected != null && expected.are(directory)) expected else find(directory)
      if (!(listed eq expected)) if (before == null) first = listed else before.next = listed
      before = listed
      listed
    }
  }

  private def find(directory: Seq[FileStatusWithMetadata]): ListedFiles =
    if (directory.isEmpty) new ListedFiles(Array.empty, Array.emptyIntArray)
    else {
      val folder = directory.head.getPath.getParent
      val those = Option(known.get(folder))
      those.filter(_.are(directory)).getOrElse {
        val files = directory.iterator.map(_.fileStatus).toArray
        // Less than a folder is listed where a filter asks for names or times of files.
        those.flatMap(_.part(files)).getOrElse {
          val made = new ListedFiles(files, ordinalsOf(files))
          known.put(folder, made)
          made
        }
      }
    }

  private def ordinalsOf(files: Array[FileStatus]): Array[Int] = {
    val ordinals = new Array[Int](files.length)
    // Files that were written together are listed in the order in which the index has them.
    var next = 0
    var i = 0
    while (i < files.length) {
      val file = files(i)
      val start = names.start(file.getPath)
      ordinals(i) =
        if (start < 0) -1
        else snapshot.ordinalOf(file.getPath.toUri.getPath, start, file.getLen, file.getModificationTime, next)
      if (ordinals(i) >= 0) next = ordinals(i) + 1
      i += 1
    }
    ordinals
  }
}

private[skipping] object ListedOrdinals {

  /** A table within a listing. Listings are told apart by identity: those of one folder are equal, however old each is. */
  private final class Key(listing: FileIndex, val root: Path, queue: ReferenceQueue[FileIndex])
      extends WeakReference[FileIndex](listing, queue) {
    override val hashCode: Int = 31 * System.identityHashCode(listing) + root.hashCode

    override def equals(other: Any): Boolean = other match {
      case that: Key => (this eq that) || (get != null && (get eq that.get) && root == that.root)
      case _         => false
    }
  }

  private val gone = new ReferenceQueue[FileIndex]
  private val all = new ConcurrentHashMap[Key, SoftReference[ListedOrdinals]]

  /** Those of a listing under an index, forgotten with the listing, with the index, or when memory is short. */
  def of(listing: FileIndex, root: Path, names: RelativePath, snapshot: IndexSnapshot): ListedOrdinals = {
    Iterator.continually(gone.poll()).takeWhile(_ != null).foreach(all.remove(_))
    val found = Option(all.get(new Key(listing, root, null))).flatMap(r => Option(r.get)).filter(_.snapshot eq snapshot)
    found.getOrElse {
      val made = new ListedOrdinals(names, snapshot)
      all.put(new Key(listing, root, gone), new SoftReference(made))
      made
    }
  }
}
