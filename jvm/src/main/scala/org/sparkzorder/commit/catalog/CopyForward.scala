package org.sparkzorder.commit.catalog

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.Lock

/** Copies files that others have written to earlier folders of a table to the folder that is in use. */
private[sparkzorder] object CopyForward {
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /**
   * Copies files to a folder. Each appears there whole. One that is there already is not copied again:
   * names of copies tell whose copies they are.
   *
   * @return the copies, in the order of the files
   */
  def copied(home: TableFolder, lock: Lock, files: Seq[FileMeta], to: Path)(name: FileMeta => String): Seq[FileMeta] = {
    if (files.nonEmpty) copy(home, lock, files.map(m => m -> FileNames.child(to, name(m))), to)
    val there = home.ops.list(to).map(m => m.name -> m).toMap
    files.map(m => there.getOrElse(name(m), throw new FileNotFoundException(s"the copy of ${m.path} in $to vanished")))
  }

  private def copy(home: TableFolder, lock: Lock, some: Seq[(FileMeta, Path)], to: Path): Unit = {
    val staging = new Path(new Path(new Path(to, SideNames.Side), SideNames.StagingName), s"_${lock.operationId}")
    lock.check()
    home.ops.mkdirs(staging)
    try WorkerThreads.each(some.zipWithIndex, home.threads) { case ((file, target), i) =>
        lock.checkInARow()
        if (!home.ops.exists(target))
          // The copy may take long, and others may take us for dead meanwhile.
          try home.ops.copy(file, FileNames.child(staging, s"_$i${FileNames.StagedSuffix}"), target)(lock.check())
          // Another process brings the same file at this moment.
          catch { case e: IOException if !home.ops.exists(target) => throw e }
      }
    finally discardStaging(home, staging)
  }

  private def discardStaging(home: TableFolder, staging: Path): Unit =
    try {
      home.ops.deleteRecursive(staging)
      home.ops.deleteEmpty(staging.getParent)
      home.ops.deleteEmpty(staging.getParent.getParent)
      ()
    } catch { case e: IOException => log.warn(s"cannot remove $staging", e) }

  def appended(home: TableFolder, lock: Lock, change: LocationChange, files: Seq[(FileMeta, Long)]): LocationChange = {
    val to = new Path(change.to)
    val outputs = carried(home, lock, files.map(_._1), to).zip(files).map { case (copy, (file, rows)) =>
      OutputFile(copy.path.toString, copy.length, copy.modificationTime, rows, source = Some(file.path.toString))
    }
    val inputs = files.map { case (m, rows) => InputFile.of(m, rows) }
    change.copy(inputs = change.inputs ++ inputs, outputs = change.outputs ++ outputs)
  }

  /** Brings files to a folder. Returns the copies in the order of the files. */
  def carried(home: TableFolder, lock: Lock, files: Seq[FileMeta], to: Path): Seq[FileMeta] = {
    files.groupBy(_.path.getParent).foreach { case (from, some) =>
      CompanionNames.refuse(home.ops.list(from), some.map(_.name).toSet, CompanionFileException.Moves)
    }
    copied(home, lock, files, to)(ForwardCopyName.of)
  }

  /**
   * Copies stale appends to the folder that the catalog names, and then leaves a note beside each. A file that is not
   * complete stays for the next statement.
   *
   * @param rowsOf as for [[CatalogCommitter]]
   * @return how many files were copied
   * @throws StaleAppendsUnclearException when it cannot be told whether the rows of some files count
   */
  def run(home: TableFolder, lock: Lock, view: CatalogView, rowsOf: FileMeta => Option[Long]): Int = {
    val appends = new StaleAppends(view)
    val found = WorkerThreads.map(view.located.keys.toSeq, home.threads)(folder => folder -> appends.of(folder))
    val copied = found.filter(_._2.nonEmpty).map { case (folder, stale) =>
      val (before, missing) = stale.partition(_.isCopied)
      val complete = missing.map(_.meta).filter(rowsOf(_).isDefined)
      if (complete.size < missing.size)
        log.warn(
          s"${missing.size - complete.size} files in earlier folders of $folder are not complete, and stay there"
        )
      carried(home, lock, complete, folder)
      (before.map(_.meta) ++ complete).foreach(m => note(home, lock, m, m.path.getParent))
      complete.size
    }.sum
    if (copied > 0) log.info(s"$copied files were copied from earlier folders of ${home.root}")
    copied
  }

  /**
   * Comes before copies of these files in an earlier folder: these are no stale appends, also if the table does not
   * go back there.
   */
  def announce(home: TableFolder, lock: Lock, files: Seq[FileMeta], to: Path): Unit =
    files.foreach(note(home, lock, _, to))

  private def note(home: TableFolder, lock: Lock, file: FileMeta, folder: Path): Unit = {
    lock.checkInARow()
    FolderNotes.leave(folder, FolderNotes.carried(file), home.ops)
  }
}

/**
 * A file that a task has written for a new folder.
 *
 * @param staged where it is, on a file system
 * @param upload what makes it a file, on an object store
 */
final case class PlacedOutput(staged: Path, upload: Option[OpenUpload], folder: Path, name: String) {
  def to: Path = FileNames.child(folder, name)
}
