package org.sparkzorder.commit.place

import java.io.IOException

import org.sparkzorder.commit._
import org.sparkzorder.commit.log.History

/**
 * Why the inputs of a place stay.
 *
 * @param files of others that are in the way, relative to the table's root
 */
private[commit] final case class Obstacle(reason: String, files: Seq[String])

/**
 * A place whose files one operation replaces by others with the same rows, as [[Settle]] sees it. Each call can be made
 * twice, by two processes, in any order, and after any of them has died.
 */
private[commit] trait Place {

  /** What was decided. None when the marker is gone, or is another operation's. */
  def decision(): Option[Decision]

  def reveal(): Unit

  /** One listing: every input is there unchanged, every output is there. None if so. */
  def obstacle(): Option[Obstacle]

  /** Changes the decision. False when another process was faster, or the place was deleted. */
  def decide(from: Decision, to: Decision): Boolean

  /** Whether outputs of an exchanged place are gone, and all inputs are there. */
  def lacksOutputs(): Boolean

  /**
   * The inputs go, since the outputs have their place.
   *
   * @param as what the marker must say whenever a file goes. None if it was deleted alone: then the lock must be ours
   * @return inputs that others have replaced, and that stay. None if the place was away meanwhile or was decided anew,
   *   so that some inputs were not looked at
   */
  def retire(as: Option[Decision]): Option[Seq[String]]

  /**
   * Whether all inputs but these can come back, and none of the outputs was deleted. Others changed
   * these at the last moment, and did not know of the outputs.
   */
  def canReturn(changed: Seq[String]): Boolean

  def bringBack(): Unit

  /**
   * The outputs go, and no process can reveal them any more.
   *
   * @throws FoldersUnclearException when they may have the only rows
   */
  def drop(): Unit

  /** Whether the outputs have all rows and the inputs have not, so that only the marker was deleted. */
  def isLeft(): Boolean

  /**
   * Whether the place has another operation's marker, and not ours. Files of two RESTOREs have the same names, so none
   * of them may be moved.
   */
  def isOthers(): Boolean

  /** Whether the marker is gone, and nothing tells whose files are the rows. */
  def isUnclear(): Boolean

  /**
   * The files that readers see after a decision, where they are now. What others wrote under a name of ours
   * counts, on both sides.
   *
   * @throws java.io.FileNotFoundException when something was decided meanwhile
   */
  def rows(decision: Decision): Seq[AddedFile]

  def taken(): Set[String]

  /** New files that stay in a place that was taken back, since others changed them after they had come. */
  def stayed(): Seq[String]

  /** Whether the history has the operation. Then its markers are gone for this reason. */
  def isPublished(): Boolean

  /** The outputs that the last look has found, by path. */
  def revealed(): Map[String, FileMeta]

  /** Removes the operation's marker. False when it was not there, so that the place may have moved. */
  def release(): Boolean
}

private[commit] object Place {

  /** For so long one look at the marker counts. A process that is taken for dead has stood still for longer. */
  val LookNanos: Long = 100L * 1000 * 1000

  /** How many times as long as one of ours a listing of another reader may take, and the most that is waited for it. */
  private val ListingsLast = 3L
  private val MostMillis = 10000L

  /** @param millis how long a listing of ours has taken */
  def letListingsEnd(millis: Long): Unit = if (millis > 0) Thread.sleep(math.min(ListingsLast * millis, MostMillis))

  /** What others did before the exchange: its inputs are gone or changed, or files that were lost are back. */
  def changed(work: FolderWork, isInput: InputFile => Boolean, isThere: String => Boolean): Seq[Obstacle] = Seq(
    Obstacle("they are gone, or were changed or replaced", work.inputs.filterNot(isInput).map(_.path)),
    Obstacle("they were gone, and are back", work.lost.map(_.path).filter(isThere))
  ).filter(_.files.nonEmpty)

  /** The inputs of a place are still there: its marker is gone, and so is the lock, or it is away again and again. */
  def isNotCleared(folder: TableFolder, record: Record, work: FolderWork): IOException = new IOException(
    s"${folder.resolve(work.folder)} still has files that version ${record.version} replaces, since its marker is away"
  )

  /** New files of an exchanged folder were deleted before the old ones were. */
  def lacksNewOnes(folder: TableFolder, work: FolderWork, left: String): IOException = new IOException(
    s"${folder.resolve(work.folder)} has all old files and some of the new ones that replace them, since others have " +
      s"deleted new files: if the old ones are the rows, delete the other new ones, such as $left; if not, delete the old " +
      s"ones, such as ${work.inputs.head.path}"
  )

  def isPublished(folder: TableFolder, record: Record): Boolean = {
    val listed = folder.ops.list(folder.side)
    SideListing.isPublished(listed, record.version) && !isOthers(folder, record, listed)
  }

  /**
   * Whether another operation has our version: the table was overwritten with its history, and the versions began anew.
   * If it is not known any more whose version it is, it counts as ours, since what was published must stay.
   */
  private def isOthers(folder: TableFolder, record: Record, listed: Seq[FileMeta]): Boolean = {
    val file = SideListing.records(listed).find(f => f.version == record.version && f.state.isPublished)
    file.flatMap(History.readable(folder, _)).exists(_.operationId != record.operationId)
  }
}

/** The places of an operation, and what an operation leaves beside them, on one kind of storage. */
private[commit] trait Places {
  type P <: Place

  /**
   * The places of the record's folders, wherever these are now. With a person's word, markers say it from now on.
   *
   * @param isRecovery whether the operation's owner is dead, so that folders may have been copied
   */
  def of(record: Record, isRecovery: Boolean): Seq[Located[P]]

  /**
   * Places of the record that are somewhere now.
   *
   * @param except folders that are done, under the names that the record gives them
   */
  def moved(record: Record, except: Set[String]): Seq[Located[P]]

  /**
   * Folders of which nothing tells whose files are the rows. They are gone, with whatever was done in them, and may come
   * back, or their names have gone to other folders of the record. Or their markers are gone.
   */
  def away(record: Record, known: Seq[Located[P]]): Seq[AwayFolder]

  /**
   * Removes what an operation left that has no record. Its markers go first: without them it can decide nothing any
   * more, should its owner only have been slow. False when it has decided after all, so that its record is there.
   *
   * @param dirs folders with markers besides those in the manifest, which may be gone
   */
  def rollBack(operationId: String, dirs: Seq[String] = Nil): Boolean

  /** Removes the record of an operation under way, if it is this one. */
  def removeRecord(record: Record): Unit

  /**
   * Removes what tasks left, and the operation's empty folders.
   *
   * @param record with the paths that its files have now
   */
  def discard(record: Record): Unit
}

/**
 * @param origin the folder that the record names
 * @param work what happens in the place, by the paths that its files have now
 * @param unclear the files of both sides, if only a person can say which are the rows
 */
private[commit] final case class Located[P <: Place](
    origin: String,
    work: FolderWork,
    place: P,
    unclear: Option[FolderSides] = None
)
