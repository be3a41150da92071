package org.sparkzorder.commit

import java.io.FileNotFoundException

import org.slf4j.LoggerFactory

/** @param outcome is read when it is asked for */
private[commit] final case class Published(file: RecordFile, record: Record, outcome: () => Option[Outcome])

/**
 * The published records of a table, newest first, one by one: those that are files, then those in the checkpoint. A record that is
 * in both is taken from its file. Damaged ones are left out, with a warning.
 *
 * @param list lists the side folder; asked again when a file that was listed is gone, since VACUUM and checkpoints rename them
 */
private[commit] final class PublishedRecords(folder: TableFolder, list: () => Seq[FileMeta])
    extends Iterator[Published] {
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.History")

  /** How often in a row the folder is listed anew. */
  private val Attempts = 5

  private var below = Long.MaxValue
  private var attempts = Attempts
  private var outcomes = Set.empty[String]
  private var files = List.empty[RecordFile]
  private var checkpoints = List.empty[CheckpointFile]
  private var lines: collection.BufferedIterator[CheckpointLine] = Iterator.empty.buffered
  private var found = Option.empty[Published]
  look()

  private def look(): Unit = {
    val listing = list()
    outcomes = listing.iterator.map(_.name).filter(_.endsWith(TableFolder.OutcomeSuffix)).toSet
    files = TableFolder.records(listing).filter(f => f.state.isPublished && f.version < below).toList
    checkpoints = TableFolder.checkpoints(listing).toList
    lines = Iterator.empty.buffered
  }

  override def hasNext: Boolean = {
    while (found.isEmpty && (files.nonEmpty || checkpoints.nonEmpty || lines.hasNext)) step()
    found.isDefined
  }

  override def next(): Published = {
    if (!hasNext) throw new NoSuchElementException("no more records")
    val result = found.get
    found = None
    result
  }

  private def step(): Unit =
    // It is not opened before it is needed.
    if (checkpoints.nonEmpty && files.headOption.forall(_.version <= checkpoints.head.version)) open(checkpoints.head)
    else if (lines.hasNext && files.headOption.forall(_.version < lines.head.file.version)) {
      val line = lines.next()
      if (line.file.version < below) orSkip(line.file.version) {
        Published(line.file, line.record, () => line.outcome.flatMap(o => Outcome.parse(o.getBytes("UTF-8"))))
      }
    } else {
      val listed = files.head
      // A crash may leave a record in both. Once it is vacuumed in one it is vacuumed.
      val isVacuumed = lines.hasNext && lines.head.file.version == listed.version &&
        lines.head.file.state == RecordState.Vacuumed
      val file = if (isVacuumed) listed.copy(state = RecordState.Vacuumed) else listed
      files = files.tail
      orLookAgain(
        file.version,
        orSkip(file.version) {
          val record = RecordJson.read(folder, file)
          Published(file, record, () => outcome(record))
        }
      )
    }

  private def open(checkpoint: CheckpointFile): Unit =
    orLookAgain(
      below,
      try {
        checkpoints = checkpoints.tail
        lines = Checkpoint.read(folder, checkpoint).lines(folder).buffered
        checkpoints = Nil
      } catch {
        case e: UnreadableRecordException =>
          log.warn(s"the operations up to version ${checkpoint.version} are left out of the history", e)
      }
    )

  private def outcome(record: Record): Option[Outcome] =
    if (outcomes.nonEmpty && outcomes(folder.outcome(record).getName)) Outcome.shown(folder, record) else None

  private def orSkip(version: Long)(record: => Published): Unit = {
    try found = Some(record)
    catch { case e: UnreadableRecordException => log.warn("left out of the history", e) }
    below = version
    attempts = Attempts
  }

  /** A file that is gone is elsewhere by now, or nowhere. */
  private def orLookAgain(version: Long, work: => Unit): Unit =
    try work
    catch {
      case _: FileNotFoundException if attempts > 0 =>
        attempts -= 1
        look()
      case _: FileNotFoundException =>
        below = math.min(below, version)
        attempts = Attempts
    }
}
