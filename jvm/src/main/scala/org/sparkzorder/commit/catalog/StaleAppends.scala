package org.sparkzorder.commit.catalog

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{
  CarriedName,
  CatalogPartition,
  FileMeta,
  FileNames,
  FileOps,
  LongNames,
  SideNames,
  StaleAppendsUnclearException,
  VersionDirectory
}

/**
 * A file in a folder that the table has left. The session that wrote it knew the old location.
 *
 * @param isCopied whether the folder that the catalog names has a copy, which the next operation may rewrite
 */
final case class StaleAppend(meta: FileMeta, isCopied: Boolean) {

  /** The name of its copy there. */
  def carriedName: String = CarriedName.of(meta)
}

/**
 * Finds the files that stale sessions have appended to earlier folders of a table, see
 * `docs/design/commit.md`.
 *
 * @param located which partition has its location where, by the catalog
 */
final class StaleAppends(history: LocationHistory, located: Map[Path, CatalogPartition], ops: FileOps) {
  import StaleAppends._

  /**
   * The stale appends to all earlier folders of a folder, also those that are not complete yet.
   *
   * @throws StaleAppendsUnclearException when it cannot be told whether their rows count
   */
  def of(current: Path): Seq[StaleAppend] = {
    val earlier = history.earlier(current.toString).filterNot(left => located.contains(new Path(left.folder)))
    if (earlier.isEmpty) Nil
    else {
      lazy val own = ops.list(current).filter(isVisible)
      lazy val copies = own.map(CarriedName.of).toSet
      val found = earlier.flatMap(in(_, current)).map(m => StaleAppend(m, copies(CarriedName.of(m))))
      if (found.exists(!_.isCopied)) refuseOverwritten(current, own, found)
      found
    }
  }

  private def in(left: LeftFolder, current: Path): Seq[FileMeta] = {
    val folder = new Path(left.folder)
    val visible = ops.list(folder).filter(isVisible)
    val unknown = visible.filterNot(left.isReplaced)
    lazy val carried = StaleAppends.carried(folder, ops)
    val stale = unknown.filterNot(carried)
    if (stale.nonEmpty) {
      def unclear(why: String) = throw new StaleAppendsUnclearException(folder, current, stale.map(_.path), why)
      // VACUUM removes folders that operations have made, and no others.
      val mayBeRemoved = left.last.isVacuumed && isUnused(left, System.currentTimeMillis()) &&
        VersionDirectory.generationOf(folder).isDefined
      val partition = left.last.change.partition
      if (!located.get(current).contains(partition))
        unclear(s"it is not known whether they were meant for what was $partition then")
      if (!left.isGivenUp && !mayBeRemoved && !ops.exists(sentinel(folder, left.last.operationId)))
        unclear("the folder was overwritten since")
      if (left.last.isVacuumed && left.lastReplaced.isEmpty && stale.exists(_.modificationTime < left.last.timestamp))
        unclear("some are older than that, and the history does not name the files of then any more")
      if (!left.last.isVacuumed)
        left.lastReplaced.find(r => !visible.exists(r.is)).foreach { gone =>
          unclear(s"files that were there before are gone or changed, such as ${gone.name}")
        }
    }
    stale
  }

  /** A folder without any of the files that an operation brought there may have been overwritten, before or later. */
  private def refuseOverwritten(current: Path, own: Seq[FileMeta], found: Seq[StaleAppend]): Unit = {
    val brought = history.outputsIn(current.toString)
    val names = own.map(_.name).toSet
    if (brought.nonEmpty && !brought.exists(names)) throw new StaleAppendsUnclearException(
      found.head.meta.path.getParent,
      current,
      found.map(_.meta.path),
      "the files of the table were all replaced or deleted since"
    )
  }
}

object StaleAppends {

  /**
   * So long after a table has left a folder, sessions that know the old location are expected to append there, also when
   * VACUUM has deleted its files: a day. Then VACUUM removes the folder.
   */
  private val WriterMillis: Long = 24L * 3600 * 1000

  def isUnused(left: LeftFolder, now: Long): Boolean = now - left.last.timestamp > WriterMillis

  /** Whether readers see it as a file with rows. */
  def isVisible(meta: FileMeta): Boolean = !meta.isDirectory && meta.length != 0 && FileNames.isData(meta.name)

  /** An empty file that says that a table has left a folder. An overwrite of the folder deletes it. */
  def sentinel(folder: Path, operationId: String): Path =
    FileNames.child(new Path(folder, SideNames.Side), s"$SentinelPrefix$operationId")

  /** An empty file that says that a file's rows are in a later folder. It lies beside the file, and goes with it. */
  def mark(folder: Path, carriedName: String): Path =
    FileNames.child(new Path(folder, SideNames.Side), CarriedPrefix + LongNames.hash(carriedName))

  /** Tells whether the rows of a file in this folder are, or were, in a later one. */
  def carried(folder: Path, ops: FileOps): FileMeta => Boolean = {
    val marks = ops.list(new Path(folder, SideNames.Side)).map(_.name).filter(_.startsWith(CarriedPrefix)).toSet
    meta => marks(CarriedPrefix + LongNames.hash(CarriedName.of(meta)))
  }

  private val SentinelPrefix = s"${SideNames.Hidden}left-"
  private val CarriedPrefix = s"${SideNames.Hidden}carried-"

  /** Whether it tells of a folder that a table has left. */
  def isNote(meta: FileMeta): Boolean =
    !meta.isDirectory && (meta.name.startsWith(SentinelPrefix) || meta.name.startsWith(CarriedPrefix))
}
