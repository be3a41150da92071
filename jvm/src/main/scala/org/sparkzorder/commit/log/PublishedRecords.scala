package org.sparkzorder.commit.log

import java.io.FileNotFoundException

import org.slf4j.LoggerFactory

import org.sparkzorder.commit._

/**
 * A published operation.
 *
 * @param record without the names of files if there is only a line of it
 * @param outcome reads the outcome, if there is one
 */
private[commit] final case class PublishedRecord(
    file: RecordFile,
    record: Record,
    outcome: () => Option[Outcome],
    isLine: Boolean
)

/**
 * The published operations of a table, newest first, one by one: records that are files, and lines of
 * older ones. The lines are read when a version is next that has no file. Damaged records are left out,
 * with a warning.
 *
 * @param list lists the side folder. It is called again when a listed file is gone, since VACUUM
 *             renames records and makes lines of them
 */
private[commit] final class PublishedRecords(folder: TableFolder, list: () => Seq[FileMeta])
    extends Iterator[PublishedRecord] {
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.log.History")

  /** How often in a row the folder is listed again. */
  private val Attempts = 5

  /** Only versions below this one are still to come. */
  private var below = Long.MaxValue
  private var attempts = Attempts
  private var outcomes = Set.empty[String]
  private var files = List.empty[RecordFile]
  private var lines: () => List[HistoryLine] = () => Nil

  /** The next line. Those before it are dropped, so that all steps together go through the lines once. */
  private def nextLine(): Option[HistoryLine] = {
    val rest = lines().dropWhile(_.version >= below)
    lines = () => rest
    rest.headOption
  }

  private var found = Option.empty[PublishedRecord]
  look()

  private def look(): Unit = {
    val listing = list()
    outcomes = listing.iterator.map(_.name).filter(_.endsWith(SideNames.OutcomeSuffix)).toSet
    files = SideListing.records(listing).filter(f => f.state.isPublished && f.version < below).toList
    lazy val read = {
      val listings = Iterator.single(listing) ++ Iterator.continually(list())
      HistoryLines.read(folder, () => listings.next()).toList
    }
    lines = if (SideListing.histories(listing).isEmpty) () => Nil else () => read
  }

  override def hasNext: Boolean = {
    while (found.isEmpty && step()) ()
    found.isDefined
  }

  override def next(): PublishedRecord = {
    if (!hasNext) throw new NoSuchElementException("no more records")
    val result = found.get
    found = None
    result
  }

  /** Goes to the next operation. False when there is none. */
  private def step(): Boolean = files match {
    // The newest record is always a file.
    case file :: rest if below == Long.MaxValue || file.version == below - 1 => take(file, rest)
    case _                                                                   =>
      val line = nextLine()
      files match {
        // A crash may leave a record in both. Both say that it is vacuumed, and the file says more.
        case file :: rest if line.forall(_.version <= file.version) => take(file, rest)
        case _                                                      => line.exists(take)
      }
  }

  private def take(line: HistoryLine): Boolean = {
    val path = folder.record(line.record, RecordState.Vacuumed)
    val meta = FileMeta(path, 0L, line.time, isDirectory = false)
    val file = RecordFile(line.version, line.publishMillis.map(ms => s"${ms}ms"), RecordState.Vacuumed, meta)
    found = Some(PublishedRecord(file, line.record, () => line.outcome, isLine = true))
    goOnBelow(line.version)
  }

  private def take(file: RecordFile, rest: List[RecordFile]): Boolean =
    try {
      files = rest
      val record = RecordJson.read(folder, file)
      found = Some(PublishedRecord(file, record, () => outcome(record), isLine = false))
      goOnBelow(file.version)
    } catch {
      case e: UnreadableRecordException =>
        log.warn("left out of the history", e)
        goOnBelow(file.version)
      // It was renamed, or is a line by now, so the folder is listed again.
      case _: FileNotFoundException if attempts > 0 =>
        attempts -= 1
        look()
        true
      case _: FileNotFoundException => goOnBelow(file.version)
    }

  private def goOnBelow(version: Long): Boolean = {
    below = version
    attempts = Attempts
    true
  }

  private def outcome(record: Record): Option[Outcome] =
    if (outcomes.nonEmpty && outcomes(folder.outcome(record).getName)) Outcome.shown(folder, record) else None
}
