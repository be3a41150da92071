package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

/**
 * What has a location in the catalog: a partition, or the table itself.
 *
 * @param values the partition's columns and values, in the table's order and as the catalog spells
 *               them; empty for the table itself
 */
final case class CatalogPartition(values: Seq[(String, String)]) {
  def isTable: Boolean = values.isEmpty

  override def toString: String =
    if (isTable) "the table" else values.map { case (column, value) => s"$column=$value" }.mkString("/")
}

object CatalogPartition {
  val Table: CatalogPartition = CatalogPartition(Nil)
}

/**
 * A file of another folder whose rows a folder has, or that has rows of it.
 */
final case class KnownFile(name: String, length: Long, modificationTime: Long, etag: Option[String] = None) {

  /** Whether a file that was found is this one, unchanged. */
  def is(meta: FileMeta): Boolean = meta.name == name && meta.length == length && (
    if (etag.isDefined && meta.etag.isDefined) meta.etag == etag else meta.modificationTime == modificationTime
  )
}

object KnownFile {
  def of(meta: FileMeta): KnownFile = KnownFile(meta.name, meta.length, meta.modificationTime, meta.etag)
}

/**
 * Another folder of a slot, in which others may still write.
 *
 * @param folder absolute
 * @param operationId of the operation that moved the slot between the two folders
 * @param since when that was, in milliseconds since 1970
 * @param known its files whose rows the watching folder has
 * @param vacuumed whether VACUUM has deleted its files
 * @param newer whether the slot left the watching folder for this one
 */
final case class Watch(
    folder: String,
    operationId: String,
    since: Long,
    known: Seq[KnownFile],
    vacuumed: Boolean = false,
    newer: Boolean = false
) {
  private lazy val byName = known.groupBy(_.name)

  def knows(meta: FileMeta): Boolean = byName.get(meta.name).exists(_.exists(_.is(meta)))

  /** Whether it is old enough that only statements look there. */
  def isDormant(now: Long): Boolean =
    vacuumed && now - since > Watch.LeastMillis && VersionDirectory.generationOf(new Path(folder)).isDefined
}

object Watch {

  /** Queries look into an earlier folder for so long, also when VACUUM has deleted its files: a day. */
  val LeastMillis: Long = 24L * 3600 * 1000
}

/**
 * A folder that the catalog may name for a slot, and what must be watched beside it. All is relative
 * to this folder: it holds whenever the catalog comes to name it.
 *
 * @param path absolute
 * @param own names of the files that the operation brought, by which a reader notices that the
 *            folder was overwritten
 * @param operationId of the operation that made it, or switched back to it; empty for a folder that
 *                    was there before the first one
 * @param has the rows of which appended files it has, by the names that their copies would have. The files
 *            are, or were, in any folder of the slot, and the rows may have been rewritten since
 * @param outdated whether VACUUM has deleted files of other folders whose rows it lacks. They are in
 *                 the folder that the catalog named then
 * @param abandoned whether its operation was taken for dead and undone. Its call may still be on the
 *                  way to the catalog
 */
final case class CatalogFolder(
    path: String,
    slot: CatalogPartition,
    operationId: String,
    own: Seq[String],
    watches: Seq[Watch],
    abandoned: Boolean = false,
    has: Seq[String] = Nil,
    outdated: Boolean = false
) {

  /** The folder with the rows of more appended files. */
  def having(copies: Iterable[String]): CatalogFolder = copy(has = (has ++ copies).distinct)

  /** The folder with this watch in place of an earlier one of the same folder. */
  def watching(watch: Watch): CatalogFolder =
    copy(watches = watch +: watches.filterNot(_.folder == watch.folder))
}

/**
 * Which folders of a table that is published through the catalog are watched.
 *
 * @param number of the file that says it; 0 if there is none
 */
final case class CatalogState(folders: Seq[CatalogFolder], number: Long = 0L) {
  private lazy val byPath = folders.map(f => f.path -> f).toMap

  def folder(path: Path): Option[CatalogFolder] = byPath.get(path.toString)

  /** The state with these folders in place of those of the same paths. */
  def updated(some: Seq[CatalogFolder]): CatalogState = {
    val paths = some.map(_.path).toSet
    copy(folders = folders.filterNot(f => paths(f.path)) ++ some)
  }

  /** The state without these folders, and without the watches on them. */
  def without(paths: Set[String]): CatalogState = copy(folders =
    folders.filterNot(f => paths(f.path)).map(f => f.copy(watches = f.watches.filterNot(w => paths(w.folder))))
  )

  /** The state without folders of other tables, as a side folder that was copied names them. */
  def of(home: Path): CatalogState = {
    def isOurs(folder: String) = VersionDirectory.isOf(home, new Path(folder))
    if (folders.forall(f => isOurs(f.path) && f.watches.forall(w => isOurs(w.folder)))) this
    else copy(folders =
      folders.filter(f => isOurs(f.path)).map(f => f.copy(watches = f.watches.filter(w => isOurs(w.folder))))
    )
  }

  /**
   * The state without watches on folders that became the location of another slot, as by RENAME
   * PARTITION and ADD PARTITION. Their files are that slot's rows.
   *
   * @param located the folders that the catalog names for all slots
   */
  def withoutTaken(located: Set[Path]): CatalogState = {
    val taken = for {
      current <- located.toSeq
      (owner, watch) <- watched(current) if located(new Path(watch.folder))
    } yield owner.path -> watch.folder
    if (taken.isEmpty) this
    else {
      val gone = taken.toSet
      copy(folders = folders.map(f => f.copy(watches = f.watches.filterNot(w => gone(f.path -> w.folder)))))
    }
  }

  /** The folder that has the rows that VACUUM deleted in a folder, if it did so. */
  def emptiedFor(path: Path): Option[Path] = {
    def next(of: String) = folders.find(_.watches.exists(w => !w.newer && w.vacuumed && w.folder == of)).map(_.path)
    @scala.annotation.tailrec
    def last(of: String, seen: Set[String]): String = next(of).filterNot(seen) match {
      case Some(newer) => last(newer, seen + newer)
      case None        => of
    }
    Some(last(path.toString, Set(path.toString))).filter(_ != path.toString).map(new Path(_))
  }

  /** The state in which a folder was never left. */
  def begunAnew(path: Path): CatalogState = copy(folders = folders.map { f =>
    if (f.path == path.toString) f.copy(own = Nil, watches = Nil, has = Nil, outdated = false)
    else f.copy(watches = f.watches.filterNot(_.folder == path.toString))
  })

  /**
   * Tells whether a folder has the rows of a file of another folder that others appended there, by the
   * name that copies of the file have.
   */
  def rowsIn(path: Path): FileMeta => Boolean = {
    val copies = folder(path).toSeq.flatMap(_.has).toSet
    meta => copies.nonEmpty && copies(CarriedName.of(meta))
  }

  /**
   * The state in which folders are outdated because VACUUM deletes files whose rows they do not have.
   *
   * @param current the folders that the catalog names
   * @param deleted the files, by folder
   */
  def outdatedBy(deleted: Map[String, Seq[FileMeta]], current: Set[Path]): CatalogState = copy(folders = folders.map {
    case f if f.outdated || current(new Path(f.path)) => f
    case f                                            =>
      val has = rowsIn(new Path(f.path))
      val watches = watched(new Path(f.path)).map { case (_, w) => w.folder -> w }.toMap
      val lacks = deleted.exists { case (folder, files) =>
        folder != f.path && files.exists(m => !watches.get(folder).exists(_.knows(m)) && !has(m))
      }
      if (lacks) f.copy(outdated = true) else f
  })

  /** The state with other watches. */
  def changed(change: (CatalogFolder, Watch) => Watch): CatalogState =
    copy(folders = folders.map(f => f.copy(watches = f.watches.map(change(f, _)))))

  /** Whether a slot has left this folder. */
  def isEarlier(path: Path): Boolean = folders.exists(_.watches.exists(_.folder == path.toString))

  /**
   * The other folders that count beside a folder, each once, with the folder whose watch it is. The
   * nearest comes first.
   */
  def watched(path: Path): Seq[(CatalogFolder, Watch)] = {
    @scala.annotation.tailrec
    def from(next: List[CatalogFolder], seen: Set[String], found: Vector[(CatalogFolder, Watch)]): Vector[
      (CatalogFolder, Watch)
    ] = next match {
      case Nil            => found
      case folder :: rest =>
        val watches = folder.watches.filterNot(w => seen(w.folder)).distinctBy(_.folder)
        from(
          rest ++ watches.flatMap(w => byPath.get(w.folder)),
          seen ++ watches.map(_.folder),
          found ++ watches.map(folder -> _)
        )
    }
    from(folder(path).toList, Set(path.toString), Vector.empty)
  }
}

object CatalogState {
  val Empty: CatalogState = CatalogState(Nil)
}
