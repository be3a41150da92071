package org.sparkzorder.commit

/** How far an operation has come. The suffix of its record's name says it. */
sealed abstract class RecordState(val suffix: String) {

  def isPublished: Boolean = this == RecordState.Done || this == RecordState.Vacuumed

  /** Whether the operation has come to no end yet. If its owner is dead, a recovery ends it. */
  def isUnfinished: Boolean = this == RecordState.Publishing || this == RecordState.Moving
}

object RecordState {

  /** Past the commit point: files are being exchanged. */
  case object Publishing extends RecordState("publishing")

  /**
   * Past the commit point: the catalog may have been told of new folders. Queries read what it names, so they need not
   * wait. A recovery has to ask it, so only statements can recover.
   */
  case object Moving extends RecordState("moving")

  /** Part of the history. */
  case object Done extends RecordState("json")

  /** Part of the history; the retired files are deleted. */
  case object Vacuumed extends RecordState("vacuumed")

  /** The operation left no change. Only listings that were made during its exchange of files may still show one. */
  case object Undone extends RecordState("undone")

  val all: Seq[RecordState] = Seq(Publishing, Moving, Done, Vacuumed, Undone)
}
