package org.sparkzorder.write

import scala.util.matching.Regex

import org.sparkzorder.compat._

/** The names of files that OPTIMIZE writes. Other writers hardly ever use such names. */
object WrittenNames {

  /**
   * The beginning of all these names. Streams in sessions without the extension exclude these files
   * by it.
   */
  val Prefix = "zorder-"

  private val Ours: Regex = s"$Prefix\\d{5,}(?:\\.part\\d+)?-[^/]+-a\\d+\\.[^/]+".r

  def isOurs(name: String): Boolean = Ours.matches(name)
}
