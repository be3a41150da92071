package org.sparkzorder.commit.log

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8

import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.storage.Listing
import org.sparkzorder.compat._

/**
 * Reads the file that has a line for each operation whose retired files are gone: a JSON object on each
 * line, newest first. See [[HistoryWriter]].
 */
private[commit] object HistoryLines {
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.log.History")

  /** How often the folder is listed again. */
  private val Attempts = 5

  /**
   * The lines of the file with the highest number that can be read, newest first. Damaged lines are left
   * out, with a warning.
   *
   * @param list lists the side folder. It is called again when the file is gone, since a newer one replaces it
   */
  def read(folder: TableFolder, list: () => Seq[FileMeta]): Seq[HistoryLine] = {
    @scala.annotation.tailrec
    def attempt(left: Int): Seq[HistoryLine] = {
      val files = SideListing.histories(list())
      val found =
        try Some(files.iterator.flatMap(readable(folder, _)).nextOption().getOrElse(Nil))
        catch { case _: FileNotFoundException if left > 0 => None }
      found match {
        case Some(lines) => lines
        case None        => attempt(left - 1)
      }
    }
    attempt(Attempts)
  }

  private def readable(folder: TableFolder, file: HistoryFile): Option[Seq[HistoryLine]] =
    if (file.meta.length > RecordJson.ReadLimit) {
      log.warn(s"${file.meta.path} is left out of the history, since it has ${file.meta.length} bytes")
      None
    } else {
      val text = new String(folder.ops.read(file.meta.path, RecordJson.ReadLimit), UTF_8)
      val lines = text.split('\n').toSeq.filter(_.nonEmpty).flatMap(line(file, _))
      // Newest first whatever the file says, and each once.
      Option.when(lines.nonEmpty)(lines.sortBy(-_.version).distinctBy(_.version))
    }

  /** Whether each line of it can be read, so that a newer file has all that it has. */
  def isWhole(folder: TableFolder, file: HistoryFile): Boolean =
    file.meta.length <= RecordJson.ReadLimit &&
      new String(folder.ops.read(file.meta.path, RecordJson.ReadLimit), UTF_8).split('\n').toSeq.filter(_.nonEmpty)
        .forall(line(file, _).isDefined)

  private def line(file: HistoryFile, text: String): Option[HistoryLine] =
    try Some(RecordJson.parseLine(text.getBytes(UTF_8), file.meta.path))
    catch {
      case e: UnreadableRecordException =>
        log.warn("a line is left out of the history", e)
        None
    }

  /**
   * Whether the operation of a version was published: its record says so, or there is a line of it or of a
   * later one.
   *
   * @param statuses a listing of the side folder
   */
  def isPublished(folder: TableFolder, statuses: Seq[FileMeta], version: Long): Boolean = {
    val published = SideListing.records(statuses).filter(_.state.isPublished).map(_.version)
    published.contains(version) || published.exists(_ > version) && SideListing.histories(statuses).nonEmpty &&
    read(folder, Listing.first(folder, Some(statuses))).headOption.exists(_.version >= version)
  }
}
