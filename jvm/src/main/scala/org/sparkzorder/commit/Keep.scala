package org.sparkzorder.commit

/** The files that count, by a person's word, where nothing else tells whose files are the rows. */
sealed trait Keep

object Keep {
  case object Old extends Keep
  case object New extends Keep
}
