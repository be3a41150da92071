package org.sparkzorder.commit.machine

import scala.annotation.tailrec

import org.sparkzorder.commit.{Decision, FileMeta}
import org.sparkzorder.commit.place.{Obstacle, Place}

/** How an operation ended in one place. */
private[commit] sealed trait PlaceOutcome
private[commit] object PlaceOutcome {

  /**
   * @param outputs the new files as they were listed, by path
   * @param changed inputs that others replaced at the last moment, so that they stay
   */
  final case class Exchanged(outputs: Map[String, FileMeta], changed: Seq[String]) extends PlaceOutcome

  /** @param stayed new files that others changed, so that they are there beside the old ones */
  final case class RolledBack(why: Obstacle, stayed: Seq[String]) extends PlaceOutcome

  /** The place was deleted, and the rows that were in it. */
  case object Overwritten extends PlaceOutcome

  /** Another process has published the operation. */
  case object Ended extends PlaceOutcome
}

/**
 * Brings an operation to its end in one place: decide, then clear. The operation itself and a recovery
 * do the same. It goes on wherever another process stopped, and two may do it at once.
 */
private[commit] object Settle {
  import PlaceOutcome._

  private val Stale = Obstacle("its version was published by others", Nil)
  private val Before = Obstacle("the operation was undone there", Nil)
  private val Changed = "they were deleted or replaced while files were being exchanged"

  /** @param isStale whether the record's version was published by others: then nothing new is decided */
  def apply(place: Place, isStale: Boolean = false): PlaceOutcome = settle(place, isStale, place.decision(), Before)

  /** @param why the obstacle that was found last */
  @tailrec private def settle(place: Place, isStale: Boolean, decided: Option[Decision], why: Obstacle): PlaceOutcome =
    decided match {
      case None                  => lost(place, isStale, why)
      case Some(Decision.Staged) =>
        val obstacle =
          if (isStale) Some(Stale)
          else {
            place.reveal()
            place.obstacle()
          }
        val to = if (obstacle.isEmpty) Decision.Exchanged else Decision.RolledBack
        val now = if (place.decide(Decision.Staged, to)) Some(to) else place.decision()
        settle(place, isStale, now, obstacle.getOrElse(why))
      // Outputs were deleted, or a copy was put back that lacks some. The inputs have all rows.
      case Some(Decision.Exchanged) if place.lacksOutputs() =>
        place.decide(Decision.Exchanged, Decision.RolledBack)
        settle(place, isStale, place.decision(), why)
      case Some(Decision.Exchanged) =>
        val retired = place.retire(decided)
        // The place may have been deleted since, by a listing that lacked the outputs.
        val now = place.decision()
        val changed = retired.getOrElse(Nil)
        if (retired.isEmpty || !now.contains(Decision.Exchanged)) settle(place, isStale, now, why)
        else if (changed.nonEmpty && place.canReturn(changed)) {
          place.decide(Decision.Exchanged, Decision.RolledBack)
          settle(place, isStale, place.decision(), Obstacle(Changed, changed))
        } else Exchanged(place.revealed(), changed)
      case Some(Decision.RolledBack) =>
        place.bringBack()
        place.drop()
        if (place.decision().isEmpty) lost(place, isStale, why) else RolledBack(why, place.stayed())
    }

  private def lost(place: Place, isStale: Boolean, why: Obstacle): PlaceOutcome =
    if (place.isPublished()) Ended
    else if (place.isOthers() || place.isUnclear()) Overwritten
    else if (place.isLeft())
      place.retire(None) match {
        case Some(changed) => Exchanged(place.revealed(), changed)
        // Its marker is back.
        case None => settle(place, isStale, place.decision(), why)
      }
    else {
      place.drop()
      Overwritten
    }
}
