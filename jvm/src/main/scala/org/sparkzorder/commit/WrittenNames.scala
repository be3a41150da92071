package org.sparkzorder.commit

import java.util.{Locale, UUID}

import scala.util.matching.Regex

import org.sparkzorder.compat._

/**
 * The names of files that OPTIMIZE writes, such as `part-00012-<id>-zorder-a34.c000.snappy.parquet`. They begin as
 * Spark's own do, so the patterns of other jobs find them. A pattern cannot leave out a word that may be anywhere. But it
 * can tell the id: it is a UUID of version 8, and those in Spark's names have version 4.
 */
private[sparkzorder] object WrittenNames {

  def newId(): String = {
    val random = UUID.randomUUID()
    new UUID(random.getMostSignificantBits & ~0xf000L | 0x8000L, random.getLeastSignificantBits).toString
  }

  /**
   * The number has five digits for any slot, so that the id is always at the same place. No two attempts have the same
   * number.
   *
   * @param id as [[newId]] gives it
   * @param part number of the file in its slot
   */
  def of(slot: Int, part: Int, id: String, attempt: Long, extension: String): String =
    "part-%05d-%s-zorder-a%d.c%03d%s".formatLocal(Locale.ROOT, slot % 100000, id, attempt, part, extension)

  /** The second form is that of earlier versions. */
  private val Ours = ("part-\\d{5}-[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f-]{21}-zorder-a\\d+\\.c\\d{3,}\\..+|" +
    "zorder-\\d{5,}(?:\\.part\\d+)?-[^/]+-a\\d+\\.[^/]+").r

  def isOurs(name: String): Boolean = Ours.matches(name)
}

/**
 * The names of copies of stale appends, in the folder that the catalog names now, such as
 * `part-0-carried-<key>.c000.parquet`. Earlier versions named them `zorder-carried-<key>-part-0.c000.parquet`.
 */
private[sparkzorder] object ForwardCopyName {
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
 * @param keys as [[ForwardCopyName.key]] gives them
 */
private[commit] final class CarriedFiles(keys: Set[String]) {
  private def pathOf(key: String) = key.takeWhile(_ != '-')
  private lazy val paths = keys.map(pathOf)

  def has(meta: FileMeta): Boolean = keys(ForwardCopyName.key(meta))

  /** Whether the file was copied, and was changed or replaced since. */
  def hasOther(meta: FileMeta): Boolean = !has(meta) && paths(pathOf(ForwardCopyName.key(meta)))
}
