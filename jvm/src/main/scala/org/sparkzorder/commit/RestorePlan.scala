package org.sparkzorder.commit

import scala.collection.mutable

/**
 * The files that take a table back to an earlier version, whatever lies between.
 *
 * @param inputs lie in the table and go to the trash
 * @param outputs lie in the trash of a later version and come back
 */
final case class RestorePlan(inputs: Seq[InputFile], outputs: Seq[OutputFile]) {

  /** Whether the table's files are those of that version already. */
  def isNothing: Boolean = inputs.isEmpty && outputs.isEmpty

  /** Files that come back by another name, since somebody has taken theirs. */
  def renamed: Int = outputs.count(o => o.pathBefore != o.path)
}

object RestorePlan {

  /**
   * Goes back through the records and takes each one's exchange back, in thought: a file that comes and goes on the way
   * stays where it is. What others appended was no file of an operation when it came: if it lies there still, it stays;
   * if a later operation rewrote it, it comes back by its own name.
   *
   * A RESTORE may have brought a file back by another name. It is the same file as the one that was retired, so the two names
   * cancel out as well.
   *
   * @param records of the versions after the one asked for, newest first
   */
  def of(folder: TableFolder, records: Seq[Record]): RestorePlan = {
    val away = mutable.LinkedHashMap.empty[FileKey, InputFile]
    val back = mutable.LinkedHashMap.empty[FileKey, InputFile]
    // A file may have been retired, restored and retired again: it lies where the newest of these has put it.
    val trash = mutable.HashMap.empty[FileKey, Option[String]]
    records.foreach { record =>
      record.outputs.foreach { o =>
        val file = InputFile(o.path, o.length, o.modificationTime, o.rows)
        val key = keyOf(file)
        // Before this record it had this name.
        val before = keyOf(file.copy(path = o.pathBefore))
        trash.get(key).foreach(place => trash.getOrElseUpdate(before, place))
        if (back.remove(key).isEmpty) away(before) = file
      }
      record.inputs.foreach { file =>
        trash.getOrElseUpdate(keyOf(file), folder.relative(folder.retired(file.path, record)))
        if (away.remove(keyOf(file)).isEmpty) back(keyOf(file)) = file
      }
    }
    val outputs = back.toSeq.map { case (key, f) =>
      OutputFile(f.path, f.length, f.modificationTime, f.rows, trash(key))
    }
    RestorePlan(away.values.toSeq.sortBy(_.path), outputs.sortBy(_.path))
  }

  /**
   * Gives files whose names are taken other ones, which nobody can have.
   *
   * @param isTaken asked for names of the plan
   * @param operationId of the RESTORE
   */
  private[commit] def renaming(plan: RestorePlan, operationId: String, isTaken: String => Boolean): RestorePlan = {
    // Two files may have had one name, one after the other: the older one keeps it.
    val owners = plan.outputs.groupBy(_.path).view.mapValues(_.minBy(_.modificationTime)).toMap
    plan.copy(outputs = plan.outputs.zipWithIndex.map { case (o, i) =>
      if (isTaken(o.path) || owners(o.path) != o) {
        val (stem, ending) = FileNames.name(o.path).span(_ != '.')
        val id = operationId.filter(c => c.isLetterOrDigit || c == '-')
        val name = s"$stem-restored-$id-$i$ending"
        // The longest that a file system takes, less what is added to a name in staging and trash.
        val fits =
          if (name.getBytes("UTF-8").length <= MostBytes) name else s"restored-$id-$i$ending".takeRight(MostBytes)
        o.copy(path = if (o.folder.isEmpty) fits else s"${o.folder}/$fits")
      } else o
    })
  }

  private val MostBytes = 200

  private type FileKey = (String, Long, Long)

  private def keyOf(file: InputFile): FileKey = (file.path, file.length, file.modificationTime)
}
