package org.sparkzorder.commit

/**
 * Takes away what an operation leaves beside the data. Deletes what is named in its record, and folders only when
 * empty.
 */
private[commit] object Cleanup {

  /**
   * Rolls back a record that has not passed its commit point, or came back from behind it: staged outputs go, the
   * record
   * last, so that a crash in between starts over.
   */
  def pending(folder: TableFolder, record: Record): Unit = {
    val ops = folder.ops
    record.folders.foreach { work =>
      work.outputs.foreach { output =>
        val staged = folder.staged(output.path, record.operationId)
        output.source.map(folder.resolve) match {
          case None         => ops.delete(staged)
          case Some(source) => if (ops.exists(staged)) ops.rename(staged, source)
        }
      }
      folders(folder, work.folder, record)
    }
    ops.delete(folder.record(record.version, RecordState.Pending))
  }

  /** Removes what the record's operation left in its folders once it is done. */
  def done(folder: TableFolder, record: Record): Unit =
    record.folders.foreach(work => folders(folder, work.folder, record))

  /** Removes the empty ones of an operation's folders within one data folder. */
  private def folders(folder: TableFolder, dir: String, record: Record): Unit = {
    val ops = folder.ops
    // The root's staging is the job's as well: other files may still be written there.
    ops.deleteEmpty(folder.stagingOf(dir, record.operationId))
    ops.deleteEmpty(folder.stagingsOf(dir))
    ops.deleteEmpty(folder.trashOf(dir, record.version))
    ops.deleteEmpty(folder.trashesOf(dir))
    if (dir.nonEmpty) ops.deleteEmpty(folder.sideOf(dir))
    ()
  }

  /** Removes what the job of an operation wrote and did not hand over. */
  def job(folder: TableFolder, operationId: String): Unit = {
    val staging = folder.jobStaging(operationId)
    if (folder.ops.exists(staging)) folder.ops.deleteRecursive(staging)
    folder.ops.deleteEmpty(folder.stagings)
    ()
  }
}
