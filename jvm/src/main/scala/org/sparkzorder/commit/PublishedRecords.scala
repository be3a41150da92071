package org.sparkzorder.commit

import java.io.FileNotFoundException

import org.slf4j.LoggerFactory

/**
 * A published record.
 *
 * @param outcome reads the outcome, if there is one
 */
private[commit] final case class PublishedRecord(file: RecordFile, record: Record, outcome: () => Option[Outcome])

/** The part of a record in a checkpoint that a reader needs. */
private[commit] sealed trait RecordPart
private[commit] object RecordPart {
  case object Whole extends RecordPart

  /** All but its files. */
  case object Summary extends RecordPart

  /**
   * How files of the table were written, see [[WrittenFiles]]. Records that do not tell it may be
   * left out.
   */
  case object Written extends RecordPart
}

/**
 * The published records of a table, newest first, one by one: those that are files, then those in
 * the checkpoint. A record that is in both is taken from its file. Damaged records are left out,
 * with a warning.
 *
 * @param list lists the side folder. It is called again when a listed file is gone, since VACUUM
 *             renames records and checkpoints replace them
 * @param versions which versions to take from the checkpoint, None for all. It is called when the
 *                 checkpoint is reached
 * @param part which part of the records in the checkpoint is read
 */
private[commit] final class PublishedRecords(
    folder: TableFolder,
    list: () => Seq[FileMeta],
    versions: () => Option[Set[Long]] = () => None,
    part: RecordPart = RecordPart.Whole
) extends Iterator[PublishedRecord] {
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.History")

  /** How often in a row the folder is listed again. */
  private val Attempts = 5

  /** Only versions below this one are still to come. */
  private var below = Long.MaxValue
  private var attempts = Attempts
  private var outcomes = Set.empty[String]
  private var files = List.empty[RecordFile]
  private var checkpoints = List.empty[CheckpointFile]
  private var lines: collection.BufferedIterator[CheckpointLine] = Iterator.empty.buffered
  private var parse: CheckpointLine => Record = line => line.record
  private var hasReturned = false
  private var gatheredFolders = Set.empty[String]
  private var found = Option.empty[PublishedRecord]
  look()

  private def look(): Unit = {
    val listing = list()
    outcomes = listing.iterator.map(_.name).filter(_.endsWith(SideNames.OutcomeSuffix)).toSet
    files = SideListing.records(listing).filter(f => f.state.isPublished && f.version < below).toList
    checkpoints = SideListing.checkpoints(listing).toList
    lines = Iterator.empty.buffered
  }

  override def hasNext: Boolean = {
    while (found.isEmpty && (files.nonEmpty || checkpoints.nonEmpty || lines.hasNext)) step()
    found.isDefined
  }

  override def next(): PublishedRecord = {
    if (!hasNext) throw new NoSuchElementException("no more records")
    val result = found.get
    found = None
    result
  }

  /** The folders of all files in the checkpoint, once it has been reached. */
  def folders: Set[String] = gatheredFolders

  private def step(): Unit =
    // The checkpoint is opened when its records are next.
    if (checkpoints.nonEmpty && files.headOption.forall(_.version <= checkpoints.head.version)) open(checkpoints.head)
    else if (lines.hasNext && files.headOption.forall(_.version < lines.head.file.version)) {
      val line = lines.next()
      if (line.file.version < below) orSkip(line.file.version) {
        PublishedRecord(line.file, parse(line), () => line.outcome.flatMap(o => Outcome.parse(o.getBytes("UTF-8"))))
      }
    } else {
      val listed = files.head
      // A crash may leave a record in both places. It is vacuumed if it is vacuumed in one of them.
      val isVacuumed = lines.hasNext && lines.head.file.version == listed.version &&
        lines.head.file.state == RecordState.Vacuumed
      val file = if (isVacuumed) listed.copy(state = RecordState.Vacuumed) else listed
      files = files.tail
      orLookAgain(
        file.version,
        orSkip(file.version) {
          val record = RecordJson.read(folder, file)
          hasReturned ||= WrittenFiles.hasReturned(record)
          PublishedRecord(file, record, () => outcome(record))
        }
      )
    }

  private def open(checkpoint: CheckpointFile): Unit =
    orLookAgain(
      below,
      try {
        checkpoints = checkpoints.tail
        val found = Checkpoint.read(folder, checkpoint)
        gatheredFolders ++= found.folders
        val isThinned = part == RecordPart.Written && !hasReturned
        parse = if (isThinned) _.thinned else if (part == RecordPart.Summary) _.summary else _.record
        val all = if (isThinned) found.written(folder) else found.lines(folder)
        lines = versions().fold(all) { some =>
          val oldest = some.minOption.getOrElse(Long.MaxValue)
          all.takeWhile(_.file.version >= oldest).filter(l => some(l.file.version))
        }.buffered
        checkpoints = Nil
      } catch {
        case e: UnreadableRecordException =>
          log.warn(s"the operations up to version ${checkpoint.version} are left out of the history", e)
      }
    )

  private def outcome(record: Record): Option[Outcome] =
    if (outcomes.nonEmpty && outcomes(folder.outcome(record).getName)) Outcome.shown(folder, record) else None

  private def orSkip(version: Long)(record: => PublishedRecord): Unit = {
    try found = Some(record)
    catch { case e: UnreadableRecordException => log.warn("left out of the history", e) }
    below = version
    attempts = Attempts
  }

  /** If a file is gone, it was renamed, gathered or deleted. So the folder is listed again. */
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
