package org.sparkzorder.scan

import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import com.google.common.cache.CacheBuilder
import org.apache.hadoop.fs.Path

import org.sparkzorder.compat._

/**
 * The files that a listing shows, of one folder if each folder may have been listed at another time.
 *
 * @param isKnown whether it shows all files that any other query of the folder would read
 */
private[scan] final class ListedFolder(val files: Seq[Path], isKnown: Boolean) {

  /** A hash of the names of a folder and its files, if they may be remembered. */
  lazy val names: Option[BigInteger] = Option.when(isKnown && files.nonEmpty) {
    val digest = MessageDigest.getInstance("SHA-256")
    (files.head.getParent.toString +: files.map(_.getName).sorted).foreach { name =>
      digest.update(name.getBytes(UTF_8))
      digest.update(0: Byte)
    }
    new BigInteger(digest.digest())
  }
}

/**
 * Up to which operation the files of a folder were found to be whole. Spark makes an index of its own for each query of
 * some partitions. If that shows the same names in a folder, it is as whole there, and need not be made anew.
 */
private[scan] final class SeenFolders {
  import SeenFolders._

  private val seen = CacheBuilder.newBuilder().maximumSize(MostFolders).build[(Path, BigInteger), SeenOperations]()

  def get(folder: ListedFolder, table: Path): Option[SeenOperations] =
    folder.names.flatMap(names => Option(seen.getIfPresent((table, names))))

  def put(folder: ListedFolder, table: Path, operations: SeenOperations): Unit =
    folder.names.foreach(names => seen.put((table, names), operations))
}

private object SeenFolders {

  /** Some 30 MB. */
  private val MostFolders = 50000L
}
