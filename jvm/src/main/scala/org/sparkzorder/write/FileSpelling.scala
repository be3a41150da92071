package org.sparkzorder.write

/** A file's fields to the table's, where the new files are to spell names as the old ones do. */
private[sparkzorder] object FileSpelling {

  /**
   * For each of the table's fields the file's, in whatever case its name is. A name of which the table has several
   * spellings is only that field's which is spelled the same: else two columns of the new files would have one name.
   *
   * {{{
   * find(Seq("Case", "cASE", "id"), Seq("cASE", "ID"))(identity) == Seq(None, Some("cASE"), Some("ID"))
   * }}}
   *
   * @param table names of the table's fields in one struct
   * @param file fields of the file's struct
   * @return None also where the file has several fields that it could be
   */
  def find[T](table: Seq[String], file: Seq[T])(name: T => String): IndexedSeq[Option[T]] = {
    val spellings = table.groupBy(KeptSchema.fold)
    val fields = file.groupBy(f => KeptSchema.fold(name(f)))
    table.toIndexedSeq.map { wanted =>
      val folded = KeptSchema.fold(wanted)
      fields.getOrElse(folded, Nil) match {
        case Seq(one) if spellings(folded).size == 1 => Some(one)
        case several                                 => several.filter(f => name(f) == wanted) match {
            case Seq(one) => Some(one)
            case _        => None
          }
      }
    }
  }
}
