package org.sparkzorder.commit

/** What was decided about an operation in one place. The marker of the place says it. */
private[commit] sealed abstract class Decision(val name: String)

private[commit] object Decision {

  /** Nothing: the inputs are the rows of the place. */
  case object Staged extends Decision("staged")

  /** The outputs are the rows of the place, and the inputs go. */
  case object Exchanged extends Decision("exchanged")

  /** The inputs stay, and the outputs go. */
  case object RolledBack extends Decision("rolled-back")

  val all: Seq[Decision] = Seq(Staged, Exchanged, RolledBack)
}
