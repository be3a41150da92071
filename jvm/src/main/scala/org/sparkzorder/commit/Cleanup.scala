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
    outputs(folder, record)
    folder.ops.delete(folder.record(record, RecordState.Pending))
  }

  /**
   * Ends an undo, when the record is out of the publishing moment. Again the record comes last; its time stamp says from
   * then on when the undo ended.
   */
  def undoing(folder: TableFolder, record: Record): Unit = {
    WorkerThreads.each(record.folders, folder.threads) { work =>
      // Somebody has taken their names. The next operation has the same version, and may retire files of these names.
      work.inputs.map(i => folder.retired(i.path, record) -> folder.replaced(i.path, record)).foreach {
        case (retired, replaced) => if (folder.ops.exists(retired)) folder.ops.rename(retired, replaced)
      }
    }
    outputs(folder, record)
    Failpoints.hit("undo-clean")
    folder.ops.touch(folder.record(record, RecordState.Undoing))
    folder.ops.rename(folder.record(record, RecordState.Undoing), folder.undone(record))
  }

  /**
   * Gives a folder up: what waits there to be published goes, and then its staging, by which everybody knows.
   */
  def withdrawn(folder: TableFolder, record: Record, work: FolderWork): Unit = {
    work.outputs.foreach { output =>
      // A checksum file may be left of an output that was deleted.
      if (output.source.isEmpty && !folder.ops.exists(folder.resolve(output.path)))
        folder.ops.delete(folder.resolve(output.path))
      unstage(folder, record, output)
    }
    folder.ops.deleteRecursive(folder.stagingOf(work.folder, record))
  }

  private def outputs(folder: TableFolder, record: Record): Unit =
    WorkerThreads.each(record.folders, folder.threads) { work =>
      work.outputs.foreach(unstage(folder, record, _))
      folders(folder, work.folder, record)
    }

  /** Deletes an output that waits in staging, or puts it back to where it was taken from. */
  def unstage(folder: TableFolder, record: Record, output: OutputFile): Unit = {
    val staged = folder.staged(output.path, record)
    output.source.map(folder.resolve) match {
      case None         => folder.ops.delete(staged)
      case Some(source) =>
        if (folder.ops.exists(staged)) {
          // Who removes empty folders removes a trash out of which all files were taken.
          if (!folder.ops.exists(source.getParent)) folder.ops.remakeInSide(source.getParent)
          folder.ops.rename(staged, source)
        }
    }
  }

  /** Removes the empty folders that the record's operation, or a VACUUM of it, left once it was done. */
  def done(folder: TableFolder, record: Record): Unit = {
    val sources = record.outputs.flatMap(_.source).map(FileNames.parent).distinct
    sources.foreach(trash => folder.ops.deleteEmpty(folder.resolve(trash)))
    WorkerThreads.each(record.folders, folder.threads)(work => folders(folder, work.folder, record))
  }

  /** Removes the empty ones of an operation's folders within one data folder. */
  private def folders(folder: TableFolder, dir: String, record: Record): Unit = {
    val ops = folder.ops
    // It may hold files that an attempt of the job left there.
    ops.deleteEmpty(folder.stagingOf(dir, record))
    ops.deleteEmpty(folder.stagingsOf(dir))
    ops.deleteEmpty(folder.trashOf(dir, record))
    ops.deleteEmpty(folder.trashesOf(dir))
    if (dir.nonEmpty) ops.deleteEmpty(folder.sideOf(dir))
    ()
  }

  /**
   * Removes what the job of an operation wrote and did not hand over. The manifest goes last, so that a crash in between
   * starts over.
   */
  def job(folder: TableFolder, operationId: String): Unit = {
    // Builds of before wrote all to the root's staging, and no manifest.
    val manifest = Manifest.find(folder, operationId)
    val isOfBefore = !manifest.exists(_._1 == folder.manifest(operationId))
    val dirs = (manifest.fold(Seq.empty[String])(_._2) :+ "").distinct
    dirs.foreach { dir =>
      val stagings =
        if (isOfBefore) folder.possibleStagingsOf(dir, operationId) else Seq(folder.stagingOf(dir, operationId))
      stagings.filter(folder.ops.exists).foreach(folder.ops.deleteRecursive)
      // Not another operation's staging: while it publishes, that folder says that nobody has overwritten its files.
      folder.ops.deleteEmpty(folder.stagingsOf(dir))
      if (dir.nonEmpty) folder.ops.deleteEmpty(folder.sideOf(dir))
    }
    folder.ops.delete(manifest.fold(folder.manifest(operationId))(_._1))
  }
}
