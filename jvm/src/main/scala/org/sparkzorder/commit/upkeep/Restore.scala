package org.sparkzorder.commit.upkeep

import scala.collection.mutable

import org.sparkzorder.commit._
import org.sparkzorder.commit.catalog.StaleAppends
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.log.{PublishedRecords, RecordJson}
import org.sparkzorder.commit.storage.ObjectFileOps
import org.sparkzorder.compat._

/**
 * The files that take a table back to an earlier version.
 *
 * @param inputs files in the table that go to the trash
 * @param outputs files in the trash of later versions that come back
 * @param lost files that would go to the trash, but that others have deleted
 * @param twice paths of files that were retired, put back by others and retired again: they are there only once
 */
final case class RestorePlan(
    inputs: Seq[InputFile],
    outputs: Seq[OutputFile],
    lost: Seq[InputFile] = Nil,
    twice: Seq[String] = Nil
) {

  /** Whether the table's files are those of that version already. */
  def isNothing: Boolean = inputs.isEmpty && outputs.isEmpty

  /** How many files come back by another name, because theirs are taken. */
  def renamed: Int = outputs.count(o => o.pathBefore != o.path)
}

object RestorePlan {

  /**
   * Goes back through the records and reverses each exchange in thought. A file that came and went
   * in between is not moved. A file that others appended stays if it is still in the table. If a
   * later operation rewrote it, it comes back by its own name.
   *
   * An earlier RESTORE may have brought a file back by another name. It is the same file as the one
   * that was retired, so the two names cancel out as well.
   *
   * @param records the records of all later versions, newest first
   */
  def of(folder: TableFolder, records: Seq[Record]): RestorePlan = {
    val away = mutable.LinkedHashMap.empty[FileKey, InputFile]
    val back = mutable.LinkedHashMap.empty[FileKey, InputFile]
    // A file may have been retired, restored and retired again. It is where the newest of these operations has put it.
    val trash = mutable.HashMap.empty[FileKey, Option[String]]
    // A file that is in the table under another name, since a RESTORE brought it back so.
    val now = mutable.HashMap.empty[FileKey, InputFile]
    val twice = mutable.LinkedHashSet.empty[String]
    records.foreach { record =>
      record.outputs.foreach { o =>
        val file = o.asInput
        val key = keyOf(file)
        // The name that it had before this record.
        val before = keyOf(file.copy(path = o.pathBefore, etag = o.etagBefore.orElse(o.etag)))
        trash.get(key).foreach(place => trash.getOrElseUpdate(before, place))
        if (back.remove(key).isEmpty) away(before) = now.getOrElse(key, file)
      }
      // A lost file is in no trash. So there is no way back to a version with it, but there is one past it.
      (record.inputs ++ record.lost).foreach { file =>
        trash.getOrElseUpdate(keyOf(file), folder.relative(folder.retired(file.path, record)))
        away.remove(keyOf(file)) match {
          case Some(there) => now(keyOf(file)) = there
          case None        => if (back.put(keyOf(file), file).isDefined) twice += file.path
        }
      }
    }
    val outputs = back.toSeq.map { case (key, f) =>
      OutputFile(f.path, f.length, f.modificationTime, f.rows, trash(key), etagBefore = f.etag)
    }
    RestorePlan(away.values.toVector.sortBy(_.path), outputs.sortBy(_.path), twice = twice.toVector)
  }

  /**
   * Gives files whose names are taken other names, which no other file can have.
   *
   * @param isTaken whether a name of the plan is taken
   * @param operationId of the RESTORE
   */
  private[commit] def renaming(plan: RestorePlan, operationId: String, isTaken: String => Boolean): RestorePlan = {
    // Two files may have had one name, one after the other: the older one keeps it.
    val owners = plan.outputs.groupBy(_.path).view.mapValues(_.minBy(_.modificationTime)).toMap
    plan.copy(outputs = plan.outputs.zipWithIndex.map { case (o, i) =>
      if (isTaken(o.path) || owners(o.path) != o) {
        val id = operationId.filter(c => c.isLetterOrDigit || c == '-')
        o.copy(path = FileNames.in(o.folder, LongNames.marked(o.name, s"-restored-$id-$i")))
      } else o
    })
  }

  private val Renamed = "(?:.*-)?restored-[A-Za-z0-9-]+-\\d+(?:\\..*)?".r

  /** Whether [[renaming]] may have given a file this name. */
  private[sparkzorder] def isRenamed(name: String): Boolean = Renamed.matches(name)

  /** Path, length, and the etag, or the modification time where there is none. */
  private type FileKey = (String, Long, Either[Long, String])

  private def keyOf(file: InputFile): FileKey = (file.path, file.length, file.etag.toRight(file.modificationTime))
}

/** Finds the files that RESTORE has to exchange. [[Committer]] exchanges them, as for any operation. */
object Restore {
  import NotRestorableException.refuse
  import RestoreObstacle._

  /**
   * Plans a RESTORE, and looks at every file that it would move. Needs the lock.
   *
   * If the name of a file is taken, the file comes back by another name.
   *
   * @param version to go back to; 0 is the table before its first operation
   * @param restoresLost whether to go back also where others have deleted files that would move
   * @throws VersionNotFoundException when there is no such version
   * @throws NotRestorableException when files or records are gone or changed
   * @throws UnreadableRecordException when a record since is damaged
   */
  def plan(folder: TableFolder, lock: Lock, version: Long, restoresLost: Boolean): RestorePlan = {
    val since = recordsSince(folder, lock, version)
    val whole = RestorePlan.of(folder, since.map(_._2))
    val changed = this.changed(folder, whole)
    val lost = changed.filterNot(i => folder.ops.exists(folder.resolve(i.path)))
    val plan = whole.copy(inputs = whole.inputs.diff(lost), lost = lost)
    val vacuumed = since.filter(_._1.state == RecordState.Vacuumed).map(p => TableFolder.trashName(p._2)).toSet
    val gone = this.gone(folder, plan, vacuumed)
    // The option is named only where it helps.
    if (lost != changed || !restoresLost && gone.nonEmpty) refuse(version, Changed, changed.map(_.path))
    refuse(version, Gone, gone)
    refuse(version, Beside, beside(folder, whole, lost))
    if (!restoresLost) refuse(version, Lost, lost.map(_.path))
    refuse(version, Changed, whole.twice)
    if (whole.inputs.map(_.rows).sum != plan.outputs.map(_.rows).sum)
      throw new UnreadableRecordException(since.head._1.meta.path, "its rows are not those of the records before it")
    // On an object store no name is given twice, see docs/design/commit.md.
    val isTaken: String => Boolean = if (isOnStore(folder)) _ => true else taken(folder, plan) ++ lost.map(_.path)
    RestorePlan.renaming(plan, lock.operationId, isTaken)
  }

  /**
   * The records of all operations since a version, newest first. Needs the lock.
   *
   * @throws VersionNotFoundException when there is no such version
   * @throws NotRestorableException when one of them is gone
   * @throws UnreadableRecordException when one of them is damaged
   */
  def recordsSince(folder: TableFolder, lock: Lock, version: Long): Seq[(RecordFile, Record)] = {
    val listing = lock.listing()
    val current = SideListing.newestPublished(listing)
    if (version < 0 || version > current) throw new VersionNotFoundException(version, current)
    val since =
      new PublishedRecords(folder, () => lock.listing()).newestFirst.takeWhile(_._1.version > version).toVector
    val gaps = missing(folder, listing, version, current, since)
    refuse(version, Forgotten, gaps.map(v => s"version $v"))
    since
  }

  private def isOnStore(folder: TableFolder): Boolean = ObjectFileOps.storeOf(folder).isDefined

  /** The versions since that one that have no record. */
  private def missing(
      folder: TableFolder,
      listing: Seq[FileMeta],
      version: Long,
      current: Long,
      since: Seq[(RecordFile, Record)]
  ): Seq[Long] = {
    // On an object store no number is given twice, so an operation that was undone leaves a gap.
    val undone = if (isOnStore(folder)) SideListing.records(listing).filter(_.state == RecordState.Undone) else Nil
    val read = since.map(_._1.version).toSet
    val known = read ++ undone.map(_.version).filter(v => v > version && v <= current)
    // A record that is there but was left out is damaged. Reading it throws the exception that says so.
    SideListing.records(listing)
      .filter(f => f.state.isPublished && f.version > version && !read(f.version))
      .foreach(RecordJson.read(folder, _))
    if (known.size.toLong == current - version) Nil
    else Iterator.iterate(current)(_ - 1).takeWhile(_ > version).filterNot(known).take(MostNamed).toVector
  }

  private val MostNamed = 100

  private def changed(folder: TableFolder, plan: RestorePlan): Seq[InputFile] =
    plan.inputs.groupBy(_.folder).toSeq.flatMap { case (dir, inputs) =>
      val there = listed(folder, dir)
      CompanionNames.refuse(there.values.toVector, inputs.map(i => i.name).toSet, CompanionFileException.Moves)
      inputs.filterNot(i => there.get(i.name).exists(i.isSame))
    }.sortBy(_.path)

  /** Files of others, as young as a lost file of the same folder. It may have been renamed or rewritten to them. */
  private def beside(folder: TableFolder, plan: RestorePlan, lost: Seq[InputFile]): Seq[String] =
    lost.groupBy(_.folder).toSeq.flatMap { case (dir, gone) =>
      val (own, since) = (plan.inputs.map(_.path).toSet, gone.map(_.modificationTime).min)
      listed(folder, dir).values.filter(m => StaleAppends.isVisible(m) && m.modificationTime >= since)
        .map(m => FileNames.in(dir, m.name)).filterNot(own)
    }.sorted

  private def gone(folder: TableFolder, plan: RestorePlan, vacuumed: Set[String]): Seq[String] =
    plan.outputs.groupBy(o => FileNames.parent(o.source.get)).toSeq.flatMap { case (trash, outputs) =>
      val there = if (vacuumed(FileNames.name(trash))) Map.empty[String, FileMeta] else listed(folder, trash)
      // A copy on an object store has a time of its own.
      val timed = !isOnStore(folder)
      outputs.filterNot(o => there.get(FileNames.name(o.source.get)).exists(o.isThis(_, timed))).map(_.path)
    }.sorted

  /** Names that are taken. The listing may be late and show a file that is in the trash by now. */
  private def taken(folder: TableFolder, plan: RestorePlan): Set[String] =
    plan.outputs.groupBy(_.folder).toSeq.flatMap { case (dir, outputs) =>
      val there = listed(folder, dir)
      outputs.map(_.path).filter(p => there.contains(FileNames.name(p)) && folder.ops.exists(folder.resolve(p)))
    }.toSet

  private def listed(folder: TableFolder, dir: String): Map[String, FileMeta] =
    folder.ops.list(folder.resolve(dir)).map(m => m.name -> m).toMap
}
