package org.sparkzorder.write.preserve

import java.util.Locale

/** Finds the file's field for each of the table's fields, so that new files can spell names as the old ones do. */
private[sparkzorder] object FileSpelling {

  /**
   * The file's field for each of the table's fields, whatever the case of its name. Where the table
   * has several spellings of a name, only the exact spelling counts: else two columns of the new
   * files would have one name.
   *
   * {{{
   * find(Seq("Case", "cASE", "id"), Seq("cASE", "ID"))(identity) == Seq(None, Some("cASE"), Some("ID"))
   * }}}
   *
   * @param table names of the table's fields in one struct
   * @param file fields of the file's struct
   * @return None also where several fields of the file could be meant
   */
  def find[T](table: Seq[String], file: Seq[T])(name: T => String): IndexedSeq[Option[T]] = {
    val spellings = table.groupBy(fold)
    val fields = file.groupBy(f => fold(name(f)))
    table.toIndexedSeq.map { wanted =>
      val folded = fold(wanted)
      fields.getOrElse(folded, Nil) match {
        case Seq(one) if spellings(folded).size == 1 => Some(one)
        case several => Some(several.filter(f => name(f) == wanted)).collect { case Seq(one) => one }
      }
    }
  }

  private[write] def fold(name: String): String = name.toLowerCase(Locale.ROOT)

  /** The value that all have; None when they differ, or there is none. */
  private[write] def agreed[T](all: Seq[T]): Option[T] = Some(all.distinct).collect { case Seq(one) => one }
}
