package org.sparkzorder.commit

/**
 * Why the inputs of a place stay.
 *
 * @param files of others that are in the way, relative to the table's root
 */
private[commit] final case class Obstacle(reason: String, files: Seq[String])

/**
 * A place whose files one operation replaces by others with the same rows, as [[Settle]] sees it.
 * Each call can be made twice, by two processes, in any order, and after any of them has died. A
 * place is used by one thread.
 */
private[commit] trait Place {

  /** What was decided. None when the marker is gone, or is another operation's. */
  def decision(): Option[Decision]

  /** Makes the outputs visible. */
  def reveal(): Unit

  /** One listing: every input is there unchanged, every output is there. None if so. */
  def obstacle(): Option[Obstacle]

  /** Changes the decision. False when another process was faster, or somebody deleted the place. */
  def decide(from: Decision, to: Decision): Boolean

  /** Whether outputs of an exchanged place are gone, and all inputs are there. */
  def lacksOutputs(): Boolean

  /**
   * The inputs go, since the outputs have their place.
   *
   * @param isCopy whether somebody copied the table, so that only their paths and lengths tell them
   * @return inputs that somebody has replaced, and that stay
   */
  def retire(isCopy: Boolean): Seq[String]

  /** The outputs go, and no process can reveal them any more. */
  def drop(): Unit

  /** Whether the history has the operation. Then its markers are gone for this reason. */
  def isPublished(): Boolean

  /** Whose files are the rows, in a copy of the table where no marker counts. Throws what [[CopiedMidway.judge]] throws. */
  def rowsOfCopy(): CopiedMidway.Rows

  /** The outputs that the last look has found, by path. */
  def revealed(): Map[String, FileMeta]

  /** Removes the operation's marker. */
  def release(): Unit
}
