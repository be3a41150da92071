package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

/** Copies files that others have written to earlier folders of a table. */
private[sparkzorder] object CatalogCopies {
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /**
   * Copies files to a folder. Each appears there whole. One that is there already is not copied again:
   * names of copies tell whose copies they are.
   *
   * @param some the files with the paths of their copies
   */
  def copy(home: TableFolder, lock: Lock, some: Seq[(FileMeta, Path)], to: Path): Unit = if (some.nonEmpty) {
    val staging = new Path(new Path(new Path(to, SideNames.Side), SideNames.StagingName), s"_${lock.operationId}")
    lock.check()
    home.ops.mkdirs(staging)
    try WorkerThreads.each(some.zipWithIndex, home.threads) { case ((file, target), i) =>
        lock.checkInARow()
        if (!home.ops.exists(target))
          try home.ops.copy(file, FileNames.child(staging, s"_$i${FileNames.StagedSuffix}"), target)
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

  /** The switch with these files of its old folder, once they are in the new one. */
  def appended(home: TableFolder, lock: Lock, switch: LocationChange, files: Seq[(FileMeta, Long)]): LocationChange = {
    val to = new Path(switch.to)
    val outputs = carried(home, lock, files.map(_._1), to).zip(files).map { case (copy, (file, rows)) =>
      OutputFile(copy.path.toString, copy.length, copy.modificationTime, rows, source = Some(file.path.toString))
    }
    val inputs = files.map { case (m, rows) => InputFile(m.path.toString, m.length, m.modificationTime, rows, m.etag) }
    switch.copy(inputs = switch.inputs ++ inputs, outputs = switch.outputs ++ outputs)
  }

  /** Brings files to a folder. Returns the copies in the order of the files. */
  def carried(home: TableFolder, lock: Lock, files: Seq[FileMeta], to: Path): Seq[FileMeta] = {
    files.groupBy(_.path.getParent).foreach { case (from, some) =>
      TiedNames.refuse(home.ops.list(from), some.map(_.name).toSet, TiedFileException.Moves)
    }
    copy(home, lock, files.map(m => m -> FileNames.child(to, CarriedName.of(m))), to)
    val there = home.ops.list(to).map(m => m.name -> m).toMap
    files.map { m =>
      val name = CarriedName.of(m)
      there.getOrElse(name, throw new FileNotFoundException(s"${FileNames.child(to, name)} vanished"))
    }
  }

  /**
   * Brings late files to the folders that the catalog names, and then says in the state that they are
   * known. A file that is not complete stays where it is.
   *
   * @param current folders that the catalog names
   * @param located which slot has its location where, for all slots
   * @param rowsOf as for [[CatalogCommitter]]
   * @return how many files were brought over
   * @throws StaleAppendsUnclearException when it cannot be told whether the rows of some files count
   */
  def carry(
      home: TableFolder,
      lock: Lock,
      current: Seq[Path],
      located: Map[Path, CatalogPartition],
      rowsOf: FileMeta => Option[Long]
  ): Int = {
    val before = CatalogStateFile.read(home, lock.listing())
    val own = before.withoutTaken(located.keySet)
    val state = StaleAppends.begunAnew(own, current, home.ops).foldLeft(own)(_.begunAnew(_))
    val late = WorkerThreads.map(current.filter(state.folder(_).isDefined), home.threads) { folder =>
      folder -> lateIn(home, state, folder, located)
    }.filter(_._2.nonEmpty)
    val brought = late.map { case (folder, files) =>
      val complete = files.filter(f => rowsOf(f.meta).isDefined)
      if (complete.size < files.size)
        log.warn(s"${files.size - complete.size} files in earlier folders of $folder are not complete, and stay there")
      carried(home, lock, complete.map(_.meta), folder)
      folder -> complete
    }
    val count = brought.map(_._2.size).sum
    // Copies that were there already, as after a crash.
    val copied = current.filter(state.folder(_).isDefined).map(folder => folder -> copiedBefore(home, state, folder))
    if (count > 0 || copied.exists(_._2.nonEmpty) || state != before) {
      Failpoints.hit("after-carried")
      CatalogStateFile.write(home, lock, StaleAppends.having(StaleAppends.having(state, brought), copied))
      if (count > 0) log.info(s"$count files were brought over from earlier folders of ${home.root}")
    }
    count
  }

  /**
   * The late files of a slot, also in folders into which no query looks any more.
   *
   * @param located which slot has its location where, for all slots
   */
  def lateIn(
      home: TableFolder,
      state: CatalogState,
      current: Path,
      located: Map[Path, CatalogPartition]
  ): Seq[StaleAppend] =
    if (state.watched(current).isEmpty) Nil
    else StaleAppends.ofSlot(state, current, home.ops.list(current), home.ops, located, alsoDormant = true)

  /**
   * Files in other folders of a slot whose rows its current folder has under another name, although the
   * state does not say so. They are copies of its files, or it has copies of them.
   */
  def doubles(home: TableFolder, state: CatalogState, current: Path): Seq[StaleAppend] = {
    val had = state.rowsIn(current)
    val unknown = state.watched(current).flatMap { case (owner, watch) =>
      home.ops.list(new Path(watch.folder))
        .filter(m => StaleAppends.isVisible(m) && !watch.knows(m) && !had(m))
        .map(StaleAppend(_, owner, watch))
    }
    if (unknown.isEmpty) Nil
    else {
      val here = home.ops.list(current).filter(StaleAppends.isVisible).map(CarriedName.of).toSet
      unknown.filter(f => here(f.carriedName))
    }
  }

  /** The same, if the current folder has copies itself. */
  private def copiedBefore(home: TableFolder, state: CatalogState, current: Path): Seq[StaleAppend] =
    if (state.watched(current).isEmpty || !home.ops.list(current).exists(m => CarriedName.isOne(m.name))) Nil
    else doubles(home, state, current)
}
