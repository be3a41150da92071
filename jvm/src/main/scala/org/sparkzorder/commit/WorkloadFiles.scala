package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}
import java.util.{Locale, UUID}

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

/**
 * A file that one process has recorded queries in. It is never changed: the next one has the next number, and the highest
 * counts.
 *
 * @param id of the process
 */
final case class WorkloadFile(id: String, number: Long, meta: FileMeta)

/**
 * The files of `_zorder/workload`: a few small ones, each by one process, none of which the table needs. Nobody takes a lock for
 * them. Who writes one makes no folder but `workload` itself, so that a side folder that somebody has deleted stays deleted.
 */
object WorkloadFiles {

  val Folder = "workload"

  /** Bytes of one file. */
  val MaxBytes: Int = 64 << 10

  /** Files that are kept: of older processes they become part of a new one's. */
  val MaxFiles = 12

  /** Bytes that all of them may have. */
  private val MaxTotal = (1L << 20) - 2 * MaxBytes

  /** A temporary file that is older, in milliseconds, was left behind. */
  private val Forgotten = 10L * 60 * 1000

  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))
  private val Name = """_?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d{1,15})\.json""".r

  def folderOf(folder: TableFolder): Path = new Path(folder.side, Folder)

  /** The newest file of each process, oldest first. What is none of ours by its name is passed over. */
  def list(folder: TableFolder): Seq[WorkloadFile] = newest(all(folder.ops.list(folderOf(folder))))

  private def all(statuses: Seq[FileMeta]): Seq[WorkloadFile] = statuses.flatMap { meta =>
    meta.name match {
      case Name(id, number) if !meta.isDirectory => Some(WorkloadFile(id, number.toLong, meta))
      case _                                     => None
    }
  }

  private def newest(files: Seq[WorkloadFile]): Seq[WorkloadFile] =
    files.groupBy(_.id).values.map(_.maxBy(_.number)).toSeq.sortBy(f => (f.meta.modificationTime, f.id))

  /** What the newest of them hold, with a warning for each that cannot be read. */
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

  private def read[T](folder: TableFolder, path: Path)(parse: Array[Byte] => T): Option[T] =
    try Some(parse(folder.ops.read(path, MaxBytes.toLong)))
    catch {
      case _: FileNotFoundException => None
      case e: IOException           =>
        log.warn(s"The recorded queries in $path cannot be read and are ignored: ${e.getMessage}")
        None
    }

  /**
   * Writes a process's next file, and takes its last one away. It may be read by whoever may read the index.
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
      val target =
        new Path(dir, s"${SideNames.Hidden}$id-${String.format(Locale.ROOT, "%06d", Long.box(number))}.json")
      val temporary = new Path(dir, s"${SideNames.TemporaryPrefix}${UUID.randomUUID()}")
      AtomicFile.put(ops, temporary, target, bytes, Some(OwnerOnly))(ops.adoptRights(
        Seq(temporary),
        Seq(index.meta.path)
      ))
      last.foreach(f => ops.delete(f.meta.path))
      WorkloadFile(id, number, ops.status(target).getOrElse(throw new FileNotFoundException(s"$target vanished")))
    }

  private val OwnerOnly = 0x180

  /**
   * Makes room for one more process: takes the oldest files away, so that nobody else does, and says what they hold.
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

  /** Deletes what is left over, what nobody would read, and the oldest files where there is too much of them. */
  def prune(folder: TableFolder, now: Long): Unit = {
    val statuses = folder.ops.list(folderOf(folder))
    val files = all(statuses)
    val (counting, tooLarge) = newest(files).partition(_.meta.length <= MaxBytes)
    val leftOver = statuses.filter { m =>
      !m.isDirectory && SideNames.hasPrefix(
        m.name,
        SideNames.TemporaryPrefix
      ) && m.modificationTime < now - Forgotten
    }
    tooLarge.map(_.meta).foreach { m =>
      log.warn(s"The recorded queries in ${m.path} are ignored and deleted: ${m.length} bytes are more than $MaxBytes")
    }
    val superseded = files.diff(counting).map(_.meta)
    val sizes = counting.reverse.scanLeft(0L)((sum, f) => sum + f.meta.length).tail
    val tooMany = counting.reverse.zip(sizes).collect { case (f, sum) if sum > MaxTotal => f.meta }
    (leftOver ++ superseded ++ tooMany).foreach(m => folder.ops.delete(m.path))
  }

  /** Forgets all that was recorded: it tells what it should not. */
  def clear(folder: TableFolder): Unit = {
    val statuses = folder.ops.list(folderOf(folder))
    val temporary = statuses.filter(m => !m.isDirectory && SideNames.hasPrefix(m.name, SideNames.TemporaryPrefix))
    (all(statuses).map(_.meta) ++ temporary).foreach(m => folder.ops.delete(m.path))
    folder.ops.deleteEmpty(folderOf(folder))
    ()
  }
}
