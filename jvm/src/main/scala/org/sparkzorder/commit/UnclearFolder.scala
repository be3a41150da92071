package org.sparkzorder.commit

/**
 * A folder in which files were being exchanged or rows wait in the trash, and in which nobody can
 * tell what is right.
 *
 * @param folder relative to the table's root
 * @param missing files that were visible and are gone
 * @param unknown data files that no record explains, perhaps the result of a repair by hand
 * @param visible files of the operation that readers see
 * @param rowsWaiting rows in the trash, or in staging if the trash was emptied, or in the whole
 *                    folder if that is gone
 * @param isGone whether the folder itself is gone
 * @param holds the folder whose files are here, if somebody renamed folders
 */
final case class UnclearFolder(
    folder: String,
    missing: Seq[String],
    unknown: Seq[String],
    visible: Seq[String],
    rowsWaiting: Long,
    isGone: Boolean = false,
    holds: Option[String] = None
) {

  /** A sentence for people. */
  def sentence: String = {
    def some(paths: Seq[String]): String =
      if (paths.isEmpty) "none"
      else paths.take(3).mkString(", ") + (if (paths.size > 3) s" and ${paths.size - 3} more" else "")
    if (holds.isDefined)
      s"The folder `$folder` holds files of `${holds.get}`, and the files of $rowsWaiting rows that were being exchanged in it " +
        "are not in the table. If folders were renamed, give them their names back first."
    else if (isGone)
      s"The folder `$folder` is gone, in which files of $rowsWaiting rows were being exchanged. If it was moved, or its disk is " +
        "away, bring it back first."
    else
      s"In `${if (folder.isEmpty) "." else folder}`, $rowsWaiting rows wait in `_zorder`; gone: ${some(missing)}; unknown: " +
        s"${some(unknown)}; still visible of the operation: ${some(visible)}."
  }
}
