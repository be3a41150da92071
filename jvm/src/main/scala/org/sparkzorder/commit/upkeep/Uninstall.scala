package org.sparkzorder.commit.upkeep

import java.util.UUID

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._
import org.sparkzorder.commit.catalog.FolderNotes
import org.sparkzorder.commit.lock.{Lock, LockReport, LockSettings, Locking}
import org.sparkzorder.commit.log.History
import org.sparkzorder.commit.machine.Recovery
import org.sparkzorder.commit.place.FolderMark
import org.sparkzorder.commit.side.{ExcludedFiles, FoundSideFolder, IndexFiles, SideFolders}

/** A file or folder in a side folder that an uninstall leaves, with the reason. */
final case class LeftAlone(path: Path, reason: String)

/**
 * What an uninstall removed.
 *
 * @param files number of retired files
 * @param bytes size of the retired files
 * @param records number of records of operations
 */
final case class Uninstalled(files: Long, bytes: Long, records: Int, left: Seq[LeftAlone])

/**
 * Removes all our files and folders from a table. Its data files stay as they are. Files whose
 * names we do not give stay, and so do those that may belong to another table that shares a folder.
 *
 * The retired files go first, by VACUUM's own steps. The records go later, oldest first. So a run
 * that dies leaves a table with less history, and the next run goes on.
 */
final class Uninstall(folder: TableFolder, settings: LockSettings) {
  import Uninstall.Removed

  private val ops = folder.ops

  /**
   * @throws UnfinishedOperationException when something is half done
   * @throws ConcurrentOperationException when an owner that may live has the lock
   */
  def run(): Uninstalled = {
    val statuses = ops.list(folder.side)
    LockReport.of(folder, statuses, settings).find(!_.isDead)
      .foreach(living => throw new ConcurrentOperationException(folder.root, living.owner))
    refuse(statuses)
    val lock = Locking.acquire(folder, s"uninstall-${UUID.randomUUID()}", settings, "UNINSTALL")
    try {
      refuse(lock.listing())
      // A dead owner has left no more than its lock, as nothing is unfinished.
      Recovery.recoverUnder(folder, lock, settings)
      val sides = SideFolders.below(folder)
      val trash = Trash.expired(folder, _ => true, sides.filter(_.obstacle.isEmpty).flatMap(_.folder)).retired
      val kept = Trash.vacuum(folder, lock, trash)
      IndexFiles.drop(folder, lock)
      val others = removeOthers(lock, kept.map(_.trash).toSet)
      val before = leftBefore()
      val records = removeRecords(lock)
      Uninstalled(
        (trash.map(_.files.size).sum - kept.map(_.files.size).sum + others.retired.size).toLong,
        trash.map(_.bytes).sum - kept.flatMap(_.files).map(_.length).sum + others.retired.map(_.length).sum,
        records,
        before ++ others.left ++ unknown(lock)
      )
    } finally lock.release()
  }

  private def refuse(statuses: Seq[FileMeta]): Unit = {
    val unfinished = SideListing.records(statuses).filter(_.state.isUnfinished)
    if (unfinished.nonEmpty) throw new UnfinishedOperationException(unfinished.map(_.meta.path))
  }

  /** Staging and trash that no record of this table names: of moved partitions, or of operations long forgotten. */
  private def removeOthers(lock: Lock, kept: Set[Path]): Removed = {
    val sides = SideFolders.below(folder)
    val shared = SideFolders.above(folder).exists(_.isRoot)
    // A folder in which another table begins, and all folders below it, are not ours alone.
    val roots = sides.filter(s => s.isRoot && !s.folder.contains("")).flatMap(_.folder)
    // Deepest first, as a side folder can be removed only when it is empty.
    val removed = sides.reverse.map { side =>
      val dir = side.folder.getOrElse("")
      val other = roots.find(root => dir == root || dir.startsWith(s"$root/"))
      val obstacle = side.obstacle
        .orElse(other.map(root => s"another table begins in ${folder.resolve(root)}"))
        .orElse(if (shared) Some("a table in a folder above shares this one") else None)
      obstacle match {
        case None         => remove(side, dir, lock, kept)
        case Some(reason) =>
          val kept = if (dir.nonEmpty) Seq(side.path) else Uninstall.shared(side.statuses).map(_.path)
          Removed(kept.map(LeftAlone(_, reason)), Nil)
      }
    }
    Removed(removed.flatMap(_.left), removed.flatMap(_.retired))
  }

  private def remove(side: FoundSideFolder, dir: String, lock: Lock, kept: Set[Path]): Removed = {
    val trashes = ops.list(folder.trashesOf(dir)).filter { trash =>
      trash.isDirectory && SideNames.trashVersion(trash.name).isDefined
    }.map(trash => trash -> ops.list(trash.path))
    // A local file system may have a checksum file beside each.
    val ours = trashes.filter(_._2.forall { f =>
      !f.isDirectory && (f.name.endsWith(FileNames.RetiredSuffix) || f.name.matches("\\..+\\.crc"))
    })
    val stagings =
      ops.list(folder.stagingsOf(dir)).filter(s => s.isDirectory && s.path != folder.stagingOf(dir, lock.operationId))
    // The folder was away while the operation ended, so rows may wait in both.
    val marked = side.statuses.flatMap(m => FolderMark.operation(m.name)).toSet
    def waits(found: FileMeta) =
      marked.exists(id => found.name.endsWith(s"-$id") || found.name == s"${SideNames.Hidden}$id")
    val ended = ours.filterNot(o => waits(o._1) || kept(o._1.path))
    (ended.map(_._1) ++ stagings.filterNot(waits)).foreach { found =>
      lock.check()
      ops.deleteRecursive(found.path)
    }
    ops.deleteEmpty(folder.trashesOf(dir))
    ops.deleteEmpty(folder.stagingsOf(dir))
    // What is left of our own in the table's side folder is told of after the records are gone.
    def isTold(found: FileMeta) = dir.nonEmpty || Uninstall.isShared(found)
    if (dir.nonEmpty) ops.deleteEmpty(side.path)
    val left = ops.list(side.path).filter(isTold).map(s => LeftAlone(s.path, Uninstall.reason(s)))
    val waiting = marked.toSeq.map(_ => LeftAlone(side.path, "rows may wait in it, see docs/on-call.md")).distinct ++
      ours.map(_._1.path).filter(kept).map(LeftAlone(_, "others have written to replaced files, see docs/on-call.md"))
    Removed(
      waiting ++ left.filter(_ => waiting.isEmpty),
      ended.flatMap(_._2).filter(_.name.endsWith(FileNames.RetiredSuffix))
    )
  }

  private def removeRecords(lock: Lock): Int = {
    val statuses = lock.listing().filterNot(_.isDirectory)
    // The newest records are deleted last.
    val records = statuses.filter(s => SideFolders.isRecord(s.name)).sortBy(_.name)
    val pages = statuses.filter { s =>
      SideNames.isTemporary(s.name) || s.name == SideNames.Readme || ExcludedFiles.isOne(s.name)
    }
    (records ++ pages).foreach { file =>
      lock.check()
      ops.delete(file.path)
    }
    records.size
  }

  /** Folders of the commit mode `new-location` whose replaced files no VACUUM has deleted. */
  private def leftBefore(): Seq[LeftAlone] = {
    val moves = History.read(folder).filter(_.state != History.Vacuumed).flatMap(_.record.locationChanges)
    moves.map(m => new Path(m.from)).distinct.filter(ops.exists).map(LeftAlone(_, Uninstall.LeftBefore))
  }

  private def unknown(lock: Lock): Seq[LeftAlone] =
    ops.list(folder.side).filter(s => s.name != lock.path.getName && !Uninstall.isShared(s))
      .map(s => LeftAlone(s.path, Uninstall.reason(s)))
}

object Uninstall {

  /**
   * The outcome for one side folder, or for several.
   *
   * @param retired retired files that were removed
   */
  private final case class Removed(left: Seq[LeftAlone], retired: Seq[FileMeta])

  private def reason(left: FileMeta): String =
    if (FolderNotes.isOne(left)) OfCatalog else Unknown

  private val OfCatalog = "it tells that the table has left this folder: a file that comes to it later is in no table"
  private val LeftBefore =
    "the table left it once, and only the history told which of its files were replaced: VACUUM " +
      "before an uninstall deletes these"
  private val Unknown = "it is, or holds, something that spark-zorder did not make"

  /** Whether it is a folder that several tables may use. */
  private def isShared(status: FileMeta): Boolean =
    status.isDirectory && (status.name == SideNames.TrashName || status.name == SideNames.StagingName)

  private def shared(statuses: Seq[FileMeta]): Seq[FileMeta] = statuses.filter(isShared)
}
