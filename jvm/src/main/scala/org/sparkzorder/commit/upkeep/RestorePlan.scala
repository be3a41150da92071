package org.sparkzorder.commit.upkeep

import scala.collection.mutable

import org.sparkzorder.commit._
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

  private def keyOf(file: InputFile): FileKey =
    (file.path, file.length, file.etag.toRight(file.modificationTime))
}
