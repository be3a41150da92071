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
}

object RestorePlan {

  /**
   * Goes back through the records and takes each one's exchange back, in thought: a file that comes and goes on the way
   * stays where it is. What others appended was no file of an operation when it came: if it lies there still, it stays;
   * if a later operation rewrote it, it comes back by its own name.
   *
   * @param records of the versions after the one asked for, newest first
   */
  def of(folder: TableFolder, records: Seq[Record]): RestorePlan = {
    val away = mutable.LinkedHashMap.empty[FileKey, InputFile]
    val back = mutable.LinkedHashMap.empty[FileKey, InputFile]
    // A file may have been retired, restored and retired again: it lies where the newest of these has put it.
    val trash = mutable.HashMap.empty[FileKey, Record]
    records.foreach { record =>
      record.outputs.foreach { o =>
        val file = InputFile(o.path, o.length, o.modificationTime, o.rows)
        if (back.remove(keyOf(file)).isEmpty) away(keyOf(file)) = file
      }
      record.inputs.foreach { file =>
        trash.getOrElseUpdate(keyOf(file), record)
        if (away.remove(keyOf(file)).isEmpty) back(keyOf(file)) = file
      }
    }
    val outputs = back.toSeq.map { case (key, f) =>
      val source = folder.relative(folder.retired(f.path, trash(key)))
      OutputFile(f.path, f.length, f.modificationTime, f.rows, source)
    }
    RestorePlan(away.values.toSeq.sortBy(_.path), outputs.sortBy(_.path))
  }

  private type FileKey = (String, Long, Long)

  private def keyOf(file: InputFile): FileKey = (file.path, file.length, file.modificationTime)
}
