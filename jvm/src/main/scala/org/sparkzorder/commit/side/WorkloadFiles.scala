package org.sparkzorder.commit.side

import java.io.{FileNotFoundException, IOException}
import java.util.{Locale, UUID}

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.sparkzorder.commit.{FileMeta, SideListing, SideNames, TableFolder}
import org.sparkzorder.commit.storage.AtomicFile

/**
 * A file in which one process has recorded queries. It is never changed: the process's next file
 * has the next number, and the highest number counts.
 *
 * @param id of the process
 */
final case class WorkloadFile(id: String, number: Long, meta: FileMeta)

/**
 * The files of `_zorder/workload`, see `docs/design/layout.md`: a few small ones, each by one
 * process. The table needs none of them, and they need no lock. A writer makes no folder but this
 * one, so that a side folder that was deleted stays deleted.
 */
object WorkloadFiles {

  val MaxBytes: Int = 64 << 10

  /** So many files are kept. A new process takes over the content of the oldest ones. */
  val MaxFiles = 12

  /** The most bytes of all files, less room for two that are being written. */
  private val MaxTotal = (1L << 20) - 2 * MaxBytes

  /** A temporary file that is older was left behind. */
  private val LeftOverMillis = 10L * 60 * 1000

  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))
  private val Name = """_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d{1,15})\.json""".r

  def folderOf(folder: TableFolder): Path = new Path(folder.side, "workload")

  /** The newest file of each process, oldest first. Files whose names we do not give are ignored. */
  def list(folder: TableFolder): Seq[WorkloadFile] = newest(all(folder.ops.list(folderOf(folder))))

  private def all(statuses: Seq[FileMeta]): Seq[WorkloadFile] = statuses.flatMap { meta =>
    meta.name match {
      case Name(id, number) if !meta.isDirectory => Some(WorkloadFile(id, number.toLong, meta))
      case _                                     => None
    }
  }

  private def newest(files: Seq[WorkloadFile]): Seq[WorkloadFile] =
    files.groupBy(_.id).values.map(_.maxBy(_.number)).toVector.sortBy(f => (f.meta.modificationTime, f.id))

  /** The parsed content of the newest files, with a warning for each that cannot be read. */
  def read[T](folder: TableFolder)(parse: Array[Byte] => T): Seq[T] = {
    val files =
      try list(folder)
      catch {
        case e: IOException =>
          log.warn(s"The recorded queries in ${folderOf(folder)} cannot be listed and are ignored: ${e.getMessage}")
          Nil
      }
    files.takeRight(2 * MaxFiles).flatMap(f => read(folder, f.meta.path)(parse))
  }

  /** The parsed content of a file; None, with a warning, if it cannot be read. */
  def read[T](folder: TableFolder, path: Path)(parse: Array[Byte] => T): Option[T] =
    try Some(parse(folder.ops.read(path, MaxBytes.toLong)))
    catch {
      case _: FileNotFoundException => None
      case e: IOException           =>
        log.warn(s"The recorded queries in $path cannot be read and are ignored: ${e.getMessage}")
        None
    }

  /**
   * Writes a process's next file, and deletes its last one. Users who may read the index may read it.
   *
   * @param last this process's file
   * @return None when the table has no side folder or no index any more
   */
  def write(folder: TableFolder, id: String, last: Option[WorkloadFile], bytes: Array[Byte]): Option[WorkloadFile] =
    SideListing.indexes(folder.ops.list(folder.side)).headOption.map { index =>
      val ops = folder.ops
      val dir = folderOf(folder)
      if (!ops.exists(dir)) ops.mkdir(dir)
      val number = last.fold(1L)(_.number + 1)
      val target = new Path(dir, s"${SideNames.Hidden}$id-${String.format(Locale.ROOT, "%06d", Long.box(number))}.json")
      val temporary = new Path(dir, s"${SideNames.TemporaryPrefix}${UUID.randomUUID()}")
      AtomicFile.put(ops, temporary, target, bytes, Some(OwnerOnly))(ops.adoptRights(
        Seq(temporary),
        Seq(index.meta.path)
      ))
      last.foreach(f => ops.delete(f.meta.path))
      WorkloadFile(id, number, AtomicFile.written(ops, target))
    }

  /** The rights `rw-------`. */
  private val OwnerOnly = 0x180

  /**
   * Makes room for one more process: removes the oldest files and returns their parsed content.
   * Each is renamed first, so that only one process takes it.
   */
  def takeOldest[T](folder: TableFolder)(parse: Array[Byte] => T): Seq[T] = {
    val files = list(folder)
    files.take(files.length - MaxFiles + 1).flatMap { f =>
      val taken = new Path(folderOf(folder), s"${SideNames.TemporaryPrefix}${UUID.randomUUID()}")
      try {
        folder.ops.rename(f.meta.path, taken)
        val parsed = read(folder, taken)(parse)
        folder.ops.delete(taken)
        parsed
      } catch { case _: FileNotFoundException => None }
    }
  }

  /** Deletes files that are left over, superseded or too large, and the oldest ones if all together are too large. */
  def prune(folder: TableFolder, now: Long): Unit = {
    val statuses = folder.ops.list(folderOf(folder))
    val files = all(statuses)
    val (counting, tooLarge) = newest(files).partition(_.meta.length <= MaxBytes)
    val leftOver = statuses.filter { m =>
      !m.isDirectory && m.name.startsWith(SideNames.TemporaryPrefix) && m.modificationTime < now - LeftOverMillis
    }
    tooLarge.map(_.meta).foreach { m =>
      log.warn(s"The recorded queries in ${m.path} are ignored and deleted: ${m.length} bytes are more than $MaxBytes")
    }
    val superseded = files.diff(counting).map(_.meta)
    val sizes = counting.reverse.scanLeft(0L)((sum, f) => sum + f.meta.length).tail
    val tooMany = counting.reverse.zip(sizes).collect { case (f, sum) if sum > MaxTotal => f.meta }
    (leftOver ++ superseded ++ tooMany).foreach(m => folder.ops.delete(m.path))
  }

  def clear(folder: TableFolder): Unit = {
    val statuses = folder.ops.list(folderOf(folder))
    val temporary = statuses.filter(m => !m.isDirectory && m.name.startsWith(SideNames.TemporaryPrefix))
    (all(statuses).map(_.meta) ++ temporary).foreach(m => folder.ops.delete(m.path))
    folder.ops.deleteEmpty(folderOf(folder))
    ()
  }
}
