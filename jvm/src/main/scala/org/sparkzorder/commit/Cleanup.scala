package org.sparkzorder.commit

/**
 * Removes what an operation leaves beside the data: files that its record names, and folders that
 * are empty.
 */
private[commit] object Cleanup {

  /**
   * Rolls back an operation that has not passed its commit point. Staged outputs go first and the
   * record last, so that after a crash in between the next statement starts over.
   */
  def pending(folder: TableFolder, record: Record): Unit = {
    outputs(folder, record)
    folder.ops.delete(folder.record(record, RecordState.Pending))
  }

  /**
   * Ends an undo, once the record is renamed to `.undoing`. Again the record comes last. Its time
   * stamp tells from then on when the undo ended.
   */
  def undoing(folder: TableFolder, record: Record): Unit = {
    WorkerThreads.each(record.folders, folder.threads) { work =>
      // Inputs whose names somebody has taken stay in the trash. They get another name there,
      // because the next operation gets the same version and may retire files of the same names.
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
   * Gives a folder up: its staged outputs go, then the staging. Its absence tells everybody that
   * the folder is given up.
   *
   * @throws UnclearException when outputs of other folders are in it: somebody has renamed folders
   */
  def withdrawn(folder: TableFolder, record: Record, work: FolderWork): Unit = {
    work.outputs.foreach { output =>
      // Somebody may have deleted the output, but not its checksum file.
      if (output.source.isEmpty && !folder.ops.exists(folder.resolve(output.path)))
        folder.ops.delete(folder.resolve(output.path))
      unstage(folder, record, output)
    }
    val staging = folder.stagingOf(work.folder, record)
    val others =
      record.outputs.map(o => FileNames.stagedName(o.path)).toSet -- work.outputs.map(o => FileNames.stagedName(o.path))
    // A folder of failed attempts has outputs of this folder only.
    folder.ops.list(staging).filterNot(m => others(m.name)).foreach { m =>
      if (m.isDirectory) folder.ops.deleteRecursive(m.path) else folder.ops.delete(m.path)
    }
    if (folder.ops.exists(staging) && !folder.ops.deleteEmpty(staging)) throw new UnclearException(work.folder)
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
          // All files were taken out of this trash. So somebody may have removed it as an empty
          // folder.
          if (!folder.ops.exists(source.getParent)) folder.ops.remakeInSide(source.getParent)
          folder.ops.rename(staged, source)
        }
    }
  }

  /** Removes the empty folders that a published operation, or a VACUUM of it, has left. */
  def done(folder: TableFolder, record: Record): Unit = {
    val sources = record.outputs.flatMap(_.source).map(FileNames.parent).distinct
    sources.foreach(trash => folder.ops.deleteEmpty(folder.resolve(trash)))
    WorkerThreads.each(record.folders, folder.threads)(work => folders(folder, work.folder, record))
  }

  /** Removes the operation's empty folders in one data folder. */
  private def folders(folder: TableFolder, dir: String, record: Record): Unit = {
    val ops = folder.ops
    // Failed attempts of tasks may have left files in it. Then it stays until the whole job is
    // cleaned up.
    ops.deleteEmpty(folder.stagingOf(dir, record))
    ops.deleteEmpty(folder.stagingsOf(dir))
    ops.deleteEmpty(folder.trashOf(dir, record))
    ops.deleteEmpty(folder.trashesOf(dir))
    if (dir.nonEmpty) ops.deleteEmpty(folder.sideOf(dir))
    ()
  }

  /**
   * Removes files that an operation's job wrote and did not hand over. The manifest goes last, so
   * that after a crash in between the next statement starts over.
   */
  def job(folder: TableFolder, operationId: String): Unit = {
    (Manifest.read(folder, operationId) :+ "").distinct.foreach { dir =>
      val staging = folder.stagingOf(dir, operationId)
      if (folder.ops.exists(staging)) folder.ops.deleteRecursive(staging)
      // If another operation is publishing, its staging stays: its absence would say that somebody
      // overwrote the folder.
      folder.ops.deleteEmpty(folder.stagingsOf(dir))
      if (dir.nonEmpty) folder.ops.deleteEmpty(folder.sideOf(dir))
    }
    folder.ops.delete(folder.manifest(operationId))
  }
}
