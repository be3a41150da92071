package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

/**
 * The names of data files, relative to a table's root with '/' between their parts, and the names
 * that they get in a side folder.
 */
private[sparkzorder] object FileNames {

  val StagedSuffix = ".staged"
  val RetiredSuffix = ".retired"

  /** The folder part of a relative name, "" for a file in the root. */
  def parent(file: String): String = file.lastIndexOf('/') match {
    case -1 => ""
    case i  => file.substring(0, i)
  }

  /** The last part of a relative name. */
  def name(file: String): String = file.substring(file.lastIndexOf('/') + 1)

  /** The relative name of a file or folder in a folder, which is "" for the root. */
  def in(folder: String, name: String): String = if (folder.isEmpty) name else s"$folder/$name"

  /** Whether readers see a file of this name. */
  def isData(name: String): Boolean = !name.startsWith("_") && !name.startsWith(".")

  /** What a data file is called in staging. */
  def stagedName(file: String): String = LongNames.fit(name(file), StagedSuffix)

  /** What a data file is called in the trash. */
  def retiredName(file: String): String = LongNames.fit(name(file), RetiredSuffix)

  /** Another name for a file whose own is taken. */
  def otherName(file: String, operationId: String): String = {
    val (dir, own) = file.splitAt(file.lastIndexOf('/') + 1)
    dir + LongNames.marked(own, s"-$operationId")
  }

  /**
   * The path of a name in a folder. `new Path(folder, name)` would take what a name has before a
   * colon for a scheme.
   */
  def child(folder: Path, name: String): Path =
    new Path(folder.toUri.getScheme, folder.toUri.getAuthority, s"${folder.toUri.getPath.stripSuffix("/")}/$name")
}
