package org.sparkzorder.footer

/**
 * What is believed of the statistics in a writer's footers.
 *
 * @param bounds whether bounds hold for all values but NaN, in the order of the type, and are values of the column for
 *   all types but strings
 * @param booleans the same of booleans
 * @param nulls whether the nulls of a column are counted right
 * @param nullsOfFields whether a null struct, and a null or empty list, counts as a null of the leaves below it
 * @param excludesNaN whether a column with bounds has no NaN
 */
private[footer] final case class Belief(
    bounds: Boolean = false,
    booleans: Boolean = false,
    nulls: Boolean = false,
    nullsOfFields: Boolean = false,
    excludesNaN: Boolean = false
)

private[footer] object Belief {
  val Nothing: Belief = Belief()
}

/**
 * Versions of a writer whose footers a test has compared with their rows. Those between are believed with them.
 *
 * @param name as the writer's files have it
 */
private[footer] final case class CheckedVersions(name: String, first: String, last: String, belief: Belief) {
  private def parts(version: String): Seq[Int] = version.split('.').toSeq.map(_.toInt)
  private def isAtMost(a: String, b: String): Boolean = parts(a).zip(parts(b)).find(p => p._1 != p._2).forall(p => p._1 < p._2)

  def include(version: String): Boolean = isAtMost(first, version) && isAtMost(version, last)
}

/**
 * The writers whose footers are believed: `docs/writers.md` has the same table. Of all others nothing is believed, nor of
 * a name without a version, or with the version of somebody's own build.
 */
object WritersTable {

  /** An index has the number of the table that it was made by. It is of no use under another one. */
  val Number = 1

  private val flat = Belief(bounds = true, booleans = true, nulls = true)
  // parquet-java compares with `Double.compare`, so a NaN becomes the maximum, and its reader drops bounds with a NaN.
  private val java = flat.copy(nullsOfFields = true, excludesNaN = true)

  private[footer] val parquet: Seq[CheckedVersions] = Seq(
    CheckedVersions("parquet-mr", "1.10.0", "1.17.0", java),
    CheckedVersions("parquet-cpp-arrow", "11.0.0", "26.0.1", flat)
  )

  private[footer] val orc: Seq[CheckedVersions] = Seq(
    CheckedVersions("ORC Java", "1.9.0", "2.3.0", java),
    CheckedVersions("ORC C++", "1.9.0", "2.3.0", flat)
  )

  private val Parquet = """(.+?) version v?(\d{1,4}\.\d{1,4}\.\d{1,4})(?: \(build [^)]*\))?""".r
  private val Orc = """(ORC \S+) (\d{1,4}\.\d{1,4}\.\d{1,4})""".r

  /** @param createdBy null when absent */
  private[footer] def ofParquet(createdBy: String): Belief = createdBy match {
    case Parquet(name, version) => of(parquet, name, version)
    case _                      => Belief.Nothing
  }

  private[footer] def ofOrc(software: String): Belief = software match {
    case Orc(name, version) => of(orc, name, version)
    case _                  => Belief.Nothing
  }

  private def of(table: Seq[CheckedVersions], name: String, version: String): Belief =
    table.find(v => v.name == name && v.include(version)).fold(Belief.Nothing)(_.belief)
}
