package org.sparkzorder.predicate

import java.util.Locale

/**
 * `upper(c)` or `lower(c)`. If the result begins with a text, then the column begins with one of the strings whose characters
 * are mapped to those of the text.
 *
 * Only printable ASCII characters without i and j are looked at: for all others the mapping depends on the language or on
 * the neighbours. Which characters are mapped to these is the same in all versions of Unicode (its stability policy for
 * case pairs). As soon as one of them is mapped to several characters (the sharp s to SS), the text ends.
 */
private[predicate] final class CaseFolded(column: Column, upper: Boolean) extends StringTests {
  import CaseFolded._

  def equal(text: String): StatsPredicate = startsWith(text)

  def startsWith(prefix: String): StatsPredicate = {
    val originals = if (upper) ofUpper else ofLower
    var known = Seq("")
    var i = 0
    var goesOn = true
    while (goesOn && i < prefix.length && isPlain(prefix(i))) {
      val of = originals.getOrElse(prefix(i), Nil)
      val longer = known.flatMap(start => of.map(o => start + o.character))
      goesOn = longer.size <= MostStarts && of.forall(_.isOne)
      if (longer.size <= MostStarts) known = longer
      i += 1
    }
    if (known.isEmpty) ColumnFunction.falseUnlessNull(column)
    else
      StringTests.onlyWhere(
        known.map(StringTests.startsWith(column, _)).reduce(Or(_, _)),
        "only the start of a text in one case is used"
      )
  }
}

private object CaseFolded {

  /** @param isOne whether it is mapped to one character */
  private final case class Original(character: Char, isOne: Boolean)

  private val MostStarts = 64

  private def isPlain(c: Char): Boolean = c >= ' ' && c <= '~' && !"iIjJ".contains(c)

  private lazy val ofUpper = originals(_.toUpperCase(Locale.ROOT))
  private lazy val ofLower = originals(_.toLowerCase(Locale.ROOT))

  /** Of all characters that are mapped to a text that begins with a plain one, by that one. */
  private def originals(mapped: String => String): Map[Char, Seq[Original]] =
    (Char.MinValue to Char.MaxValue).filterNot(Character.isSurrogate).flatMap { c =>
      val to = mapped(c.toString)
      if (isPlain(to.head)) Some(to.head -> Original(c, to.length == 1)) else None
    }.groupBy(_._1).map { case (c, of) => c -> of.map(_._2) }
}
