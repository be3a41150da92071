package org.sparkzorder.membership

/** How the values of a column are kept for each file. */
sealed abstract class MembershipKind(val name: String) extends Serializable
object MembershipKind {

  /** A set, or a Bloom filter where this is much smaller. */
  case object Values extends MembershipKind("VALUES")

  /** A Bloom filter. */
  case object Bloom extends MembershipKind("BLOOM")

  val all: Seq[MembershipKind] = Seq(Values, Bloom)

  def of(name: String): Option[MembershipKind] = all.find(_.name == name)
}
