package org.sparkzorder.commit

import java.util.{Locale, UUID}

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
