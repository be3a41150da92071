package org.sparkzorder.write.check

import java.io.FileNotFoundException

import org.apache.hadoop.fs.{EtagSource, FileStatus}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.util.{AccumulatorV2, SerializableConfiguration}

import org.sparkzorder.compat._

/**
 * The rows that the tasks before the shuffle have read: for each of their partitions, the rows of each input file.
 *
 * A task may run again after its result was lost, or twice at the same time. So the last result of a partition replaces
 * earlier ones, and nothing is counted twice. A task adds its result once, after its last row; Spark drops the results
 * of failed tasks.
 *
 * @param onRows called on the driver with the number of rows that a task has added
 */
private[write] final class ReadRows(
    @volatile private var ofPartition: Map[Int, Map[Int, RowSum]],
    @transient private val onRows: Long => Unit
) extends AccumulatorV2[(Int, Map[Int, RowSum]), Map[Int, Map[Int, RowSum]]] {

  def this(onRows: Long => Unit = _ => ()) = this(Map.empty, onRows)

  override def isZero: Boolean = ofPartition.isEmpty
  override def copy(): ReadRows = new ReadRows(ofPartition, _ => ())
  override def reset(): Unit = ofPartition = Map.empty
  override def value: Map[Int, Map[Int, RowSum]] = ofPartition

  override def add(result: (Int, Map[Int, RowSum])): Unit = synchronized {
    ofPartition += result
  }

  override def merge(other: AccumulatorV2[(Int, Map[Int, RowSum]), Map[Int, Map[Int, RowSum]]]): Unit = synchronized {
    val before = rowsOf(other.value.keySet)
    ofPartition ++= other.value
    onRows(rowsOf(other.value.keySet) - before)
  }

  private def rowsOf(partitions: Set[Int]): Long =
    partitions.iterator.flatMap(ofPartition.get).flatMap(_.values).map(_.rows).sum

  def ofFiles: Map[Int, RowSum] = ofPartition.values.toVector.flatten.groupMapReduce(_._1)(_._2)(_ + _)
}

/** Another file was in the place of a file of the rewrite when a task read it. */
final class FileExchangedException(val path: String)
    extends RuntimeException(s"$path was another file when its rows were read")

/**
 * The files of a rewrite as the statement listed them.
 *
 * Another file may take the place of one while it is read, and then go again. Before and afterwards all looks the same.
 * So a task looks at a file when it has the first row of it. By then its reader has opened the file, and reads no
 * other.
 */
private[write] final class ListedInputs(files: Broadcast[Array[FileStatus]], conf: Broadcast[SerializableConfiguration])
    extends Serializable {

  /** @throws FileExchangedException if another file, or none, is there now */
  def confirm(ordinal: Int): Unit = {
    val listed = files.value(ordinal)
    val path = listed.getPath
    val now =
      try Some(path.getFileSystem(conf.value.value).getFileStatus(path))
      catch { case _: FileNotFoundException => None }
    if (!now.exists(ListedInputs.isSame(listed, _))) throw new FileExchangedException(path.toString)
  }

  def destroy(): Unit = {
    files.destroy()
    conf.destroy()
  }
}

private[write] object ListedInputs {

  /** Stores may give times to the millisecond in a listing only. Where there are etags, they decide. */
  def isSame(listed: FileStatus, now: FileStatus): Boolean = listed.getLen == now.getLen && {
    (etag(listed), etag(now)) match {
      case (Some(before), Some(after)) => before == after
      case _                           => listed.getModificationTime == now.getModificationTime
    }
  }

  private def etag(status: FileStatus): Option[String] = status match {
    case s: EtagSource => Option(s.getEtag).map(_.replace("\"", "")).filter(_.nonEmpty)
    case _             => None
  }
}
