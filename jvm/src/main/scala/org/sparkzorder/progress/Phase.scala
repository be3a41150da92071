package org.sparkzorder.progress

/**
 * A part of a statement that may take long.
 *
 * @param name as people read it
 */
sealed abstract class Phase(val name: String)

object Phase {
  case object Planning extends Phase("planning")
  case object Footers extends Phase("reading footers")
  case object Scanning extends Phase("reading rows")
  case object Rewriting extends Phase("rewriting")
  case object Moving extends Phase("moving files")
  case object Deleting extends Phase("deleting files")
}
