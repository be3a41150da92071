package org.sparkzorder.skipping

import java.util.BitSet
import java.util.concurrent.ConcurrentHashMap

import com.google.common.cache.CacheBuilder
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.execution.datasources.{FileIndex, FileStatusWithMetadata}

import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.table.RelativePath

/** The files of a directory of a listing, with their ordinals in the index; -1 if the index does not know the file. */
private[skipping] final class FilesWithOrdinals(val files: Array[FileStatus], val ordinals: Array[Int]) {

  /** The directory that came after this one in the latest listing. */
  @volatile private[skipping] var next: FilesWithOrdinals = null

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

  def only(places: BitSet): FilesWithOrdinals = {
    val kept = places.stream.toArray
    new FilesWithOrdinals(kept.map(files(_)), kept.map(ordinals(_)))
  }

  /** A selection of these files in the same order; None if `those` has other files. */
  def part(those: Array[FileStatus]): Option[FilesWithOrdinals] = {
    val places = new BitSet(files.length)
    var i = 0
    files.indices.foreach { at =>
      if (i < those.length && (files(at) eq those(i))) {
        places.set(at)
        i += 1
      }
    }
    if (i == those.length) Some(only(places)) else None
  }
}

/**
 * The ordinals in an index of the files of a listing. They are found once for each listing, not by each query: a
 * listing gives the same file objects in the same order until it is made anew.
 */
private[skipping] final class FileOrdinals(
    names: RelativePath,
    val snapshot: IndexSnapshot,
    hasOutside: Boolean = false
) {

  private val known = new ConcurrentHashMap[Path, FilesWithOrdinals]

  // Each directory knows the next one, so this is the head of the list.
  @volatile private var first: FilesWithOrdinals = null

  /** @param directories the files of each directory, in the order of the listing */
  def of(directories: Seq[Seq[FileStatusWithMetadata]]): Seq[FilesWithOrdinals] = {
    var before: FilesWithOrdinals = null
    directories.map { directory =>
      val expected = if (before == null) first else before.next
      val listed = if (expected != null && expected.are(directory)) expected else find(directory)
      if (!(listed eq expected)) if (before == null) first = listed else before.next = listed
      before = listed
      listed
    }
  }

  private def find(directory: Seq[FileStatusWithMetadata]): FilesWithOrdinals =
    if (directory.isEmpty) new FilesWithOrdinals(Array.empty, Array.emptyIntArray)
    else {
      val folder = directory.head.getPath.getParent
      val those = Option(known.get(folder))
      those.filter(_.are(directory)).getOrElse {
        val files = directory.iterator.map(_.fileStatus).toArray
        those.flatMap(_.part(files)).getOrElse {
          val made = new FilesWithOrdinals(files, ordinalsOf(files))
          known.put(folder, made)
          made
        }
      }
    }

  private def ordinalsOf(files: Array[FileStatus]): Array[Int] = {
    // Files of one operation are listed in the order of the index, so the next ordinal is tried first.
    var next = 0
    files.map { file =>
      val (path, start) = (file.getPath, names.start(file.getPath))
      val ordinal =
        if (start >= 0)
          snapshot.ordinalOf(path.toUri.getPath, start, file.getLen, file.getModificationTime, next)
        else if (hasOutside) snapshot.ordinalOf(path.toString, 0, file.getLen, file.getModificationTime, next)
        else -1
      if (ordinal >= 0) next = ordinal + 1
      ordinal
    }
  }
}

private[skipping] object FileOrdinals {

  // By identity: two listings of one folder are equal, whatever their age.
  private val all =
    CacheBuilder.newBuilder().weakKeys().softValues().build[FileIndex, ConcurrentHashMap[Path, FileOrdinals]]()

  /**
   * Kept until the listing is garbage, the index changes, or memory is short.
   *
   * @param hasOutside whether files outside of the root may be the table's. The index of a folder says nothing about
   *   files of another folder that the query reads as well
   */
  def of(listing: FileIndex, root: Path, snapshot: IndexSnapshot, hasOutside: Boolean = false): FileOrdinals =
    all.get(listing, () => new ConcurrentHashMap[Path, FileOrdinals]).compute(
      root,
      (_, found) =>
        if (found != null && (found.snapshot eq snapshot)) found
        else new FileOrdinals(new RelativePath(root), snapshot, hasOutside)
    )
}
