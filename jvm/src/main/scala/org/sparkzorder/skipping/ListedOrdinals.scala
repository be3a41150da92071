package org.sparkzorder.skipping

import java.lang.ref.{ReferenceQueue, SoftReference, WeakReference}
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.execution.datasources.{FileIndex, FileStatusWithMetadata}

import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.table.RelativePath

/**
 * The files of one directory of a listing.
 *
 * @param ordinals of the files in the index; -1 if the index does not know the file
 */
private[skipping] final class ListedFiles(val files: Array[FileStatus], val ordinals: Array[Int]) {

  /** The directory that came after this one in the latest listing. */
  @volatile private[skipping] var next: ListedFiles = null

  /** Bytes of all files. */
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

  /** A selection of these files in the same order; None if `those` has other files. */
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
 * The ordinals in an index of the files of a listing. They are found once for each listing, not by each query: a listing
 * gives the same file objects in the same order until it is made anew.
 */
private[skipping] final class ListedOrdinals(
    names: RelativePath,
    val snapshot: IndexSnapshot,
    hasOutside: Boolean = false
) {

  private val known = new ConcurrentHashMap[Path, ListedFiles]

  // Each directory knows the next one, so this is the head of the list.
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
        those.flatMap(_.part(files)).getOrElse {
          val made = new ListedFiles(files, ordinalsOf(files))
          known.put(folder, made)
          made
        }
      }
    }

  private def ordinalsOf(files: Array[FileStatus]): Array[Int] = {
    val ordinals = new Array[Int](files.length)
    // Files of one operation are listed in the order of the index, so the next ordinal is tried first.
    var next = 0
    var i = 0
    while (i < files.length) {
      val file = files(i)
      val start = names.start(file.getPath)
      ordinals(i) =
        if (start >= 0)
          snapshot.ordinalOf(file.getPath.toUri.getPath, start, file.getLen, file.getModificationTime, next)
        else if (hasOutside)
          snapshot.ordinalOf(file.getPath.toString, 0, file.getLen, file.getModificationTime, next)
        else -1
      if (ordinals(i) >= 0) next = ordinals(i) + 1
      i += 1
    }
    ordinals
  }
}

private[skipping] object ListedOrdinals {

  /** A table in a listing. Listings are compared by identity: two of one folder are equal, whatever their age. */
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

  /**
   * Kept until the listing is garbage, the index changes, or memory is short.
   *
   * @param hasOutside whether files outside of the root may be the table's. The index of a folder says nothing about
   *   files of another folder that the query reads as well
   */
  def of(listing: FileIndex, root: Path, snapshot: IndexSnapshot, hasOutside: Boolean = false): ListedOrdinals = {
    Iterator.continually(gone.poll()).takeWhile(_ != null).foreach(all.remove(_))
    val found = Option(all.get(new Key(listing, root, null))).flatMap(r => Option(r.get)).filter(_.snapshot eq snapshot)
    found.getOrElse {
      val made = new ListedOrdinals(new RelativePath(root), snapshot, hasOutside)
      all.put(new Key(listing, root, gone), new SoftReference(made))
      made
    }
  }
}
