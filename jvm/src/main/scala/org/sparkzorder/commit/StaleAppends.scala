package org.sparkzorder.commit

import scala.collection.mutable

import org.apache.hadoop.fs.Path

/**
 * A file in an earlier folder of a slot whose rows are in no newer one.
 *
 * @param owner the folder whose watch found it
 */
final case class StaleAppend(meta: FileMeta, owner: CatalogFolder, watch: Watch) {

  /** The name of its copy in the slot's current folder. */
  def carriedName: String = CarriedName.of(meta)
}

/** Finds the late files of a slot. See `docs/design/commit-catalog.md`. */
object StaleAppends {

  /** Why it cannot be told, in words for an error. */
  val Emptied: String =
    "VACUUM has deleted the files of the folder that the catalog names again, after they had moved to another one"

  private val Outdated: String =
    "the catalog names a folder again that has not all rows: others came after the table had left it, and " +
      "VACUUM has deleted their files"

  /** Whether readers see it as a file with rows. */
  def isVisible(meta: FileMeta): Boolean = !meta.isDirectory && meta.length != 0 && FileNames.isData(meta.name)

  /** An empty file that says that a slot has left a folder. An overwrite of the folder deletes it. */
  def sentinel(folder: Path, operationId: String): Path =
    new Path(new Path(folder, SideNames.Side), s"$SentinelPrefix$operationId")

  private val SentinelPrefix = s"${SideNames.Hidden}left-"

  def isSentinel(meta: FileMeta): Boolean = !meta.isDirectory && meta.name.startsWith(SentinelPrefix)

  /**
   * The late files of the slot whose current folder this is.
   *
   * @param own the files of the current folder
   * @param look at the other folders
   * @param alsoDormant whether to look into folders that were vacuumed long ago
   * @throws StaleAppendsUnclearException when it cannot be told whether their rows count
   */
  def of(
      state: CatalogState,
      current: Path,
      own: Seq[FileMeta],
      look: FileOps,
      alsoDormant: Boolean = false
  ): Seq[StaleAppend] = {
    if (state.folder(current).exists(_.abandoned))
      unclear(current, current, own, "the catalog names a folder of an operation that was given up")
    if (state.folder(current).exists(_.outdated))
      newestFirst(state, current).map(newer => newer -> look.list(newer).filter(isVisible)).find(_._2.nonEmpty)
        .foreach { case (newer, rows) => unclear(newer, current, rows, Outdated) }
    state.emptiedFor(current).foreach { newer =>
      val rows = elsewhere(state, current, newer, look)
      if (rows.nonEmpty) unclear(newer, current, rows, Emptied)
    }
    val now = System.currentTimeMillis()
    val watches = if (state.emptiedFor(current).isDefined) Nil
    else state.watched(current).filter { case (_, w) => alsoDormant || !w.isDormant(now) }
    val had = state.rowsIn(current)
    val found = watches.flatMap { case (owner, w) => inFolder(state, current, had, owner, w, look) }
    val listed = own.map(_.name).toSet
    // A file and its copies have one name. What the current folder has under it is not late.
    val late =
      if (found.isEmpty) Nil
      else {
        val here = withEtags(current, own, found, look).map(CarriedName.of).toSet
        found.filterNot(f => here(f.carriedName)).distinctBy(_.carriedName)
      }
    if (late.nonEmpty) state.folder(current).foreach { folder =>
      // A query may have asked for some of the folder's files only.
      def isThere = folder.own.exists(listed) || folder.own.exists(look.list(current).map(_.name).toSet)
      if (folder.own.nonEmpty && !isThere)
        unclear(current, current, late.map(_.meta), "the files of the table were all replaced or deleted since")
    }
    late
  }

  /** Other folders of the same slot to which operations moved it, the last one first. */
  private def newestFirst(state: CatalogState, current: Path): Iterator[Path] =
    state.folders.filter(f => f.path != current.toString && !f.outdated && !f.abandoned)
      .filter(f => state.folder(current).exists(_.slot == f.slot) && f.watches.exists(!_.newer))
      .sortBy(f => (f.watches.filterNot(_.newer).map(_.since).max, f.path)).reverseIterator.map(f => new Path(f.path))

  /**
   * The folders whose files are all rows of the slot: no other folder has rows any more that had moved on from
   * there. Either VACUUM had deleted its files, or the folder with all generations was removed.
   *
   * @param current folders that the catalog names
   */
  def begunAnew(state: CatalogState, current: Seq[Path], look: FileOps): Seq[Path] = {
    // The new folders of all partitions are below one.
    val removed = mutable.HashMap.empty[Path, Boolean]
    def isRemoved(w: Watch) = generations(w).exists(all => removed.getOrElseUpdate(all, look.list(all).isEmpty))
    current.filter { path =>
      state.emptiedFor(path).exists(elsewhere(state, path, _, look).isEmpty) ||
      state.folder(path).exists(_.watches.exists(w => w.newer && isRemoved(w)))
    }
  }

  /** The folder with all generations, if the watched folder is one of them. */
  private def generations(watch: Watch): Option[Path] =
    VersionDirectory.homeOf(new Path(watch.folder)).flatMap(VersionDirectory.parentOf)

  /** The files of a slot that are not in the folder that the catalog names again. */
  private def elsewhere(state: CatalogState, current: Path, newer: Path, look: FileOps): Seq[FileMeta] =
    (newer +: state.watched(current).map { case (_, w) => new Path(w.folder) }).distinct.flatMap(look.list)
      .filter(isVisible)

  /**
   * The same, without files of folders that became the location of another slot: they are that slot's
   * rows.
   *
   * @param located which slot has its location where, by the catalog; asked only if something was found
   * @throws StaleAppendsUnclearException also when the slot has got another name since
   */
  def ofSlot(
      state: CatalogState,
      current: Path,
      own: Seq[FileMeta],
      look: FileOps,
      located: => Map[Path, CatalogPartition],
      alsoDormant: Boolean = false
  ): Seq[StaleAppend] = {
    val first =
      try Right(of(state, current, own, look, alsoDormant))
      catch { case e: StaleAppendsUnclearException => Left(e) }
    if (first == Right(Nil)) Nil
    else {
      val slots = located
      val narrowed = state.withoutTaken(slots.keySet)
      val late =
        if (narrowed ne state) of(narrowed, current, own, look, alsoDormant)
        else first.fold(throw _, identity)
      for { folder <- state.folder(current); slot <- slots.get(current) if late.nonEmpty && slot != folder.slot }
        unclear(
          new Path(late.head.watch.folder),
          current,
          late.map(_.meta),
          s"the partition was ${folder.slot} before, and it cannot be told whether they were meant for $slot"
        )
      late
    }
  }

  /** Names of copies are made with etags, and Spark's listings of an object store have none. */
  private def withEtags(current: Path, own: Seq[FileMeta], found: Seq[StaleAppend], look: FileOps): Seq[FileMeta] =
    if (own.forall(_.etag.isDefined) || !found.exists(_.meta.etag.isDefined)) own
    else {
      val now = look.list(current).map(m => m.name -> m).toMap
      own.map(o => now.get(o.name).filter(_.length == o.length).getOrElse(o))
    }

  /** Whether a folder that a slot has left is not as it was then. */
  private def isOverwritten(state: CatalogState, left: CatalogFolder, newer: Watch, look: FileOps): Boolean =
    !look.exists(sentinel(new Path(left.path), newer.operationId)) || {
      val before =
        state.folder(new Path(newer.folder)).toSeq.flatMap(_.watches).filter(w => w.folder == left.path && !w.vacuumed)
      lazy val now = look.list(new Path(left.path))
      before.exists(_.known.exists(k => !now.exists(k.is)))
    }

  /** The files that a slot had in a folder when it left it, and that are still there. */
  private def oldFiles(state: CatalogState, left: CatalogFolder, newer: Watch, look: FileOps): Seq[FileMeta] = {
    val now = look.list(new Path(left.path)).filter(isVisible)
    state.folder(new Path(newer.folder)).flatMap(_.watches.find(w => w.folder == left.path && !w.newer)) match {
      case Some(w) => now.filter(w.knows)
      case None    => now
    }
  }

  private def inFolder(
      state: CatalogState,
      current: Path,
      had: FileMeta => Boolean,
      owner: CatalogFolder,
      watch: Watch,
      look: FileOps
  ): Seq[StaleAppend] = {
    val folder = new Path(watch.folder)
    val visible = look.list(folder).filter(isVisible)
    val late = visible.filterNot(watch.knows).filterNot(had)
    val names = visible.map(m => m.name -> m).toMap
    val missing =
      if (watch.vacuumed) Nil
      else watch.known.filterNot(k => names.get(k.name).exists(k.is))
    if (watch.newer) {
      if (missing.nonEmpty && missing.size == watch.known.size) {
        // Without any of the old files, the current folder has other rows than those that had moved on.
        val old = if (owner.path == current.toString) oldFiles(state, owner, watch, look) else Nil
        if ((late.nonEmpty || old.nonEmpty) && !generations(watch).exists(look.list(_).isEmpty))
          unclear(folder, current, late ++ old, "all files are gone that an operation had put there")
      }
      if (late.nonEmpty && isOverwritten(state, owner, watch, look))
        unclear(folder, current, late, "the folder that the catalog names again was overwritten")
    } else if (late.nonEmpty) {
      if (missing.nonEmpty)
        unclear(
          folder,
          current,
          late,
          s"files that were there before are gone or changed, such as ${missing.head.name}"
        )
      if (!watch.isDormant(System.currentTimeMillis()) && !look.exists(sentinel(folder, watch.operationId)))
        unclear(folder, current, late, "the folder was overwritten since")
    }
    late.map(StaleAppend(_, owner, watch))
  }

  private def unclear(folder: Path, current: Path, files: Seq[FileMeta], reason: String): Nothing =
    throw new StaleAppendsUnclearException(folder, current, files.map(_.path), reason)

  /** The state in which folders have the rows of late files. Other folders of the slot do not. */
  def having(state: CatalogState, files: Seq[(Path, Seq[StaleAppend])]): CatalogState = state.updated(for {
    (current, late) <- files if late.nonEmpty
    folder <- state.folder(current)
  } yield folder.having(late.map(_.carriedName)))
}
