package org.sparkzorder.commit

import scala.collection.mutable

/**
 * Which records may be forgotten: they are old, their retired files are gone, and none of their
 * outputs is in the table any more. So nothing but `DESCRIBE HISTORY` depends on them.
 *
 * @param now by the file system's clock
 * @param millis the age at which a record is old
 */
private[commit] final case class HistoryRetention(now: Long, millis: Long) {
  import HistoryRetention._

  /**
   * Whether to look for such records now. It costs two listings for each folder, so it is not done
   * each time.
   */
  def isDue(prunedAt: Long): Boolean = now - prunedAt >= math.min(MostOften, millis / 30)

  /** The versions that may be forgotten. */
  def forgotten(folder: TableFolder, newestFirst: Iterator[CheckpointLine]): Set[Long] = {
    val names = mutable.HashMap.empty[String, Set[String]]
    val trashes = mutable.HashMap.empty[String, Set[String]]
    def isNeeded(record: Record, isVacuumed: Boolean): Boolean = {
      def hasTrash = record.folders.exists { work =>
        trashes.getOrElseUpdate(work.folder, folder.ops.list(folder.trashesOf(work.folder)).map(_.name).toSet)
          .contains(TableFolder.trashName(record))
      }
      def hasOutput = record.outputs.exists { output =>
        names.getOrElseUpdate(output.folder, folder.ops.list(folder.resolve(output.folder)).map(_.name).toSet)
          .contains(FileNames.name(output.path))
      }
      // These tell where each partition is, and the way back goes from one to the next.
      record.way == Way.Catalog || hasOutput || !isVacuumed && hasTrash
    }
    val candidates = newestFirst.map { line =>
      val isOld = now - line.file.meta.modificationTime > millis
      if (!isOld) Candidate(line.file.version, isOld = false, None)
      else {
        val record = line.record
        Candidate(
          line.file.version,
          !isNeeded(record, line.file.state == RecordState.Vacuumed),
          History.target(record)
        )
      }
    }.toSeq.reverse
    // A RESTORE marks the operations that it undid as 'restored', so it stays as long as one of
    // these does.
    val (_, gone) = candidates.foldLeft((0L, Set.empty[Long])) { case ((newestKept, gone), c) =>
      if (c.isOld && c.restoredTo.forall(_ >= newestKept)) (newestKept, gone + c.version)
      else (c.version, gone)
    }
    gone
  }
}

private[commit] object HistoryRetention {
  private val MostOften = 24L * 3600 * 1000

  /** @param isOld whether its own age and files allow to forget it */
  private final case class Candidate(version: Long, isOld: Boolean, restoredTo: Option[Long])
}
