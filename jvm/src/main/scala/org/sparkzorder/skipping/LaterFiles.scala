package org.sparkzorder.skipping

import org.sparkzorder.memory.ReadFile

/**
 * What is known of a scan's files only when the query runs.
 *
 * @param without files that need not be read
 * @param joins what keys of joins say
 */
private[sparkzorder] final case class LaterFiles(without: Set[ReadFile], joins: Option[JoinedFiles])

private[sparkzorder] object LaterFiles {
  val none: LaterFiles = LaterFiles(Set.empty, None)
}

/**
 * What the keys of joins leave of a scan's files.
 *
 * @param before files that are there without them
 * @param kept those that all keys keep
 * @param each the files that each key keeps alone
 */
private[sparkzorder] final case class JoinedFiles(before: Int, kept: Int, each: Seq[(String, Int)]) {
  def text: String = s"$kept of $before files (${each.map { case (key, n) => s"$key: $n" }.mkString(", ")})"
}
