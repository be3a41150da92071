package org.sparkzorder.predicate

/** The text with which every string begins in which a regular expression is found. */
private[predicate] object RegexPrefix {

  /**
   * The characters after `^` up to the first one that is not itself, without the one before a quantifier. Empty if there are
   * none, or if the expression has alternatives.
   *
   * Statistics are about bytes. Broken UTF-8 is decoded to U+FFFD, so the text ends before one.
   */
  def of(regex: String): String =
    if (!regex.startsWith("^") || regex.contains("|")) ""
    else {
      val text = regex.drop(1).takeWhile(c => !Special.contains(c) && c != '\ufffd' && !Character.isSurrogate(c))
      val next = regex.drop(1 + text.length).headOption
      if (next.exists(Quantifiers.contains(_))) text.dropRight(1) else text
    }

  private val Special = "\\^$.|?*+()[]{}"
  private val Quantifiers = "?*+{"
}
