package org.sparkzorder.commit

import scala.util.matching.Regex

/**
 * The names of copies of stale appends, in the folder that the catalog names now, such as
 * `part-0-carried-<key>.c000.parquet`. Earlier versions named them `zorder-carried-<key>-part-0.c000.parquet`.
 */
private[sparkzorder] object CarriedName {
  private val Copy: Regex = ".+-carried-([0-9a-f]{16}-[0-9a-f]{16})(?:[-.].*)?".r

  def isOne(name: String): Boolean = Copy.pattern.matcher(name).matches

  /** The same for the same file, whichever process brings it over. A copy of a copy has the name of the copy. */
  def of(meta: FileMeta): String =
    if (isOne(meta.name)) meta.name else LongNames.marked(meta.name, s"-carried-${key(meta)}")

  /**
   * Tells a file: a hash of its path, and one of its length and time, or etag. That of a copy is the one of the
   * original.
   */
  def key(meta: FileMeta): String = meta.name match {
    case Copy(key) => key
    case _         =>
      val content = s"${meta.length} ${meta.etag.getOrElse(meta.modificationTime.toString)}"
      s"${LongNames.hash(meta.path.toUri.getPath)}-${LongNames.hash(content)}"
  }
}

/**
 * Files that were copied from earlier folders.
 *
 * @param keys as [[CarriedName.key]] gives them
 */
private[commit] final class CarriedFiles(keys: Set[String]) {
  private def pathOf(key: String) = key.takeWhile(_ != '-')
  private lazy val paths = keys.map(pathOf)

  def has(meta: FileMeta): Boolean = keys(CarriedName.key(meta))

  /** Whether the file was copied, and was changed or replaced since. */
  def hasOther(meta: FileMeta): Boolean = !has(meta) && paths(pathOf(CarriedName.key(meta)))
}
