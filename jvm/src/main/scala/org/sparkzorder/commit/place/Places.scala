package org.sparkzorder.commit.place

import org.sparkzorder.commit.{AwayFolder, FolderSides, FolderWork, Record}

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
