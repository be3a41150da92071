package org.sparkzorder.commit.catalog

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._

/**
 * A file in a folder that the table has left. The session that wrote it knew the old location.
 *
 * @param isCopied whether the folder that the catalog names has a copy, which the next operation may rewrite
 */
final case class StaleAppend(meta: FileMeta, isCopied: Boolean)

/** Finds the files that stale sessions have appended to earlier folders of a table, see `docs/design/commit.md`. */
private[sparkzorder] final class StaleAppends(view: CatalogView) {
  import StaleAppends._
  import view.ops

  /**
   * The stale appends to all earlier folders of a folder, also those that are not complete yet.
   *
   * @throws StaleAppendsUnclearException when it cannot be told whether their rows count
   */
  def of(current: Path): Seq[StaleAppend] = {
    val earlier = view.earlier(current)
    if (earlier.isEmpty) Nil
    else {
      lazy val own = ops.list(current).filter(isVisible)
      lazy val copies = new CarriedFiles(own.filter(m => ForwardCopyName.isOne(m.name)).map(ForwardCopyName.key).toSet)
      earlier.flatMap { left =>
        val found = in(left, current)
        if (found.exists(copies.hasOther)) unclear(left, current, found, Changed)
        val stale = found.map(m => StaleAppend(m, copies.has(m)))
        if (stale.exists(!_.isCopied) && wasOverwritten(current, own))
          unclear(left, current, found, "the files of the table were all replaced or deleted since")
        stale
      }
    }
  }

  private def unclear(left: LeftFolder, current: Path, stale: Seq[FileMeta], why: String): Nothing =
    throw new StaleAppendsUnclearException(new Path(left.folder), current, stale.map(_.path), why)

  private def in(left: LeftFolder, current: Path): Seq[FileMeta] = {
    val folder = new Path(left.folder)
    val visible = ops.list(folder).filter(isVisible)
    val unknown = visible.filterNot(left.isReplaced)
    lazy val notes = FolderNotes.in(folder, ops)
    val stale = unknown.filterNot(m => notes.carried.has(m))
    if (stale.nonEmpty) doubt(left, current, visible, stale, notes).foreach(unclear(left, current, stale, _))
    stale
  }

  /** Why it cannot be told whether the stale appends count, judged by their folder alone. */
  private def doubt(
      left: LeftFolder,
      current: Path,
      visible: Seq[FileMeta],
      stale: Seq[FileMeta],
      notes: FolderNotes
  ): Option[String] = {
    val (id, partition) = (left.last.operationId, left.last.change.partition)
    val gone = left.gone(visible)
    if (!view.located.get(current).contains(partition))
      Some(s"it is not known whether they were meant for what was $partition then")
    else if (stale.exists(notes.carried.hasOther)) Some(Changed)
    else if (notes.isVacuumed(id)) None
    else if (!left.isGivenUp && !notes.isLeft(id)) Some("the folder was overwritten since")
    else gone.headOption.map(f => s"files that were there before are gone or changed, such as ${f.name}")
  }

  /** A folder without any of the files that an operation brought there may have been overwritten. */
  private def wasOverwritten(current: Path, own: Seq[FileMeta]): Boolean = {
    val brought = view.history.outputsIn(current.toString)
    brought.nonEmpty && !brought.exists(own.map(_.name).toSet)
  }
}

object StaleAppends {
  private val Changed = "some were changed or replaced after their rows were copied"

  /**
   * So long after a table has left a folder, sessions that know the old location are expected to append there, also
   * when VACUUM has deleted its files: a day. Then VACUUM removes the folder.
   */
  private val WriterMillis: Long = 24L * 3600 * 1000

  def isUnused(left: LeftFolder, now: Long): Boolean = now - left.last.timestamp > WriterMillis

  /** Whether readers see it as a file with rows. */
  def isVisible(meta: FileMeta): Boolean = !meta.isDirectory && meta.length != 0 && FileNames.isData(meta.name)
}

/**
 * Empty files in the side folder of a folder that a table has left. An overwrite of the folder deletes them.
 *
 * @param names of the files in the side folder
 */
private[catalog] final class FolderNotes(names: Set[String]) {
  import FolderNotes._

  def isLeft(operationId: String): Boolean = names(left(operationId))

  /** Whether VACUUM may have deleted the files that the operation replaced here. */
  def isVacuumed(operationId: String): Boolean = names(vacuumed(operationId))

  /** The files whose rows are, or were, in a later folder. */
  lazy val carried: CarriedFiles = new CarriedFiles(names.collect {
    case name if name.startsWith(Carried) => name.stripPrefix(Carried)
  })
}

private[sparkzorder] object FolderNotes {
  private val Left = s"${SideNames.Hidden}left-"
  private val Vacuumed = s"${SideNames.Hidden}vacuumed-"
  private val Carried = s"${SideNames.Hidden}carried-"

  private[catalog] def left(operationId: String): String = Left + operationId

  private[catalog] def vacuumed(operationId: String): String = Vacuumed + operationId

  private[catalog] def carried(file: FileMeta): String = Carried + ForwardCopyName.key(file)

  def isOne(meta: FileMeta): Boolean = !meta.isDirectory && Seq(Left, Vacuumed, Carried).exists(meta.name.startsWith)

  private[catalog] def in(folder: Path, ops: FileOps): FolderNotes =
    new FolderNotes(ops.list(new Path(folder, SideNames.Side)).map(_.name).toSet)

  private[catalog] def forget(folder: Path, file: FileMeta, ops: FileOps): Unit =
    ops.delete(FileNames.child(new Path(folder, SideNames.Side), carried(file)))

  private[catalog] def leave(folder: Path, note: String, ops: FileOps): Unit = {
    val path = FileNames.child(new Path(folder, SideNames.Side), note)
    ops.mkdirs(path.getParent)
    if (!ops.exists(path)) ops.writeNew(path, Array.emptyByteArray)
  }
}
