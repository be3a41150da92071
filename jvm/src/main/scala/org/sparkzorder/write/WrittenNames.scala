package org.sparkzorder.write

import scala.util.matching.Regex

/** Names of the files that OPTIMIZE writes. Other writers' files hardly ever have such a name. */
object WrittenNames {

  /** They all begin so. A stream in a session without the extension leaves them out by this. */
  val Prefix = "zorder-"

  private val Ours: Regex = s"(?:$Prefix|part-)\\d{5,}(?:\\.part\\d+)?-[^/]+-a\\d+\\.[^/]+".r

  def isOurs(name: String): Boolean = Ours.matches(name)
}
