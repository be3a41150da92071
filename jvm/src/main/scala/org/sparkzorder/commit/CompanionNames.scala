package org.sparkzorder.commit

/**
 * Files beside a data file that belong to it by their names, such as the key material that Parquet's
 * encryption keeps outside of a file. If the data file moves, they stay behind. An entry of a folder
 * counts as one if readers do not see it as data and its name contains the whole name of a data file.
 */
private[sparkzorder] object CompanionNames {
  private val KeyMaterial = "_KEY_MATERIAL_FOR_"

  /** Hadoop's suffix of a file that is being copied to its place. */
  private val Copying = "._COPYING_"

  /** Where Parquet keeps the keys of a file, in the same folder. */
  def keyMaterialOf(name: String): String = s"$KeyMaterial$name.json"
  def isKeyMaterial(name: String): Boolean = name.contains(KeyMaterial)

  /**
   * Whether an entry may belong to a data file. Checksums of Hadoop (`.name.crc`) and attributes of
   * macOS (`._name`) do no harm: no reader needs them.
   */
  def mayBe(name: String): Boolean =
    (!FileNames.isData(name) || name.endsWith(Copying)) &&
      !(name.startsWith(".") && name.endsWith(".crc")) && !name.startsWith("._")

  /**
   * The data file that an entry belongs to.
   *
   * @param isData whether a data file of the folder has this name
   */
  def ownerOf(entry: String, isData: String => Boolean): Option[String] =
    if (!mayBe(entry) || isData(entry)) None
    else {
      val cuts = (0 to entry.length).filter(isCut(entry, _))
      (for { from <- cuts.iterator; to <- cuts.iterator if to > from } yield entry.substring(from, to)).find(isData)
    }

  /**
   * @param entries of one folder
   * @param why a [[CompanionFileException]] gives this reason
   * @throws CompanionFileException for the first entry that belongs to one of the data files
   */
  def refuse(entries: Seq[FileMeta], isData: String => Boolean, why: CompanionFileException.Reason): Unit =
    for { entry <- entries; owner <- ownerOf(entry.name, isData) } {
      val file = FileNames.child(entry.path.getParent, owner)
      throw new CompanionFileException(file, entry.path, isKeyMaterial(entry.name), why)
    }

  /** A name may begin or end there: it is not within a word. So `1.parquet` is not in `_11.parquet.bak`. */
  private def isCut(name: String, at: Int): Boolean =
    at == 0 || at == name.length || !(name.charAt(at - 1).isLetterOrDigit && name.charAt(at).isLetterOrDigit)
}
