package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

final case class LocationUpdate(partition: CatalogPartition, from: Path, to: Path)

/** Where the catalog says that the files of a table are. */
trait CatalogLocations {

  /**
   * The present locations. A partition that the catalog does not know is left out.
   *
   * @throws java.io.IOException when the catalog does not answer
   */
  def current(partitions: Seq[CatalogPartition]): Map[CatalogPartition, Path]

  /**
   * The locations of all partitions of the table, or of the table itself if it has none.
   *
   * @throws java.io.IOException when the catalog does not answer
   */
  def all(): Map[CatalogPartition, Path]

  /**
   * Changes locations, in as few calls as possible. A partition that is not at `from` any more is left as it is.
   *
   * @throws java.io.IOException when a call failed. It may have taken effect, or take effect later
   */
  def move(moves: Seq[LocationUpdate]): Unit
}

/**
 * What an operation does to one partition, or to a table without any. Names of files are absolute.
 *
 * @param from the folder that it leaves, absolute
 * @param to the folder that it gets
 * @param inputs all files of the old folder whose rows the new one has
 * @param outputs all files that the operation brought to the new folder; those that are copies of
 *                files that others had appended have their `source`
 * @param lost see [[Record.lost]]
 */
final case class LocationChange(
    partition: CatalogPartition,
    from: String,
    to: String,
    inputs: Seq[InputFile],
    outputs: Seq[OutputFile],
    lost: Seq[InputFile] = Nil
) {

  def replaced: Seq[InputFile] = inputs.filter(_.folder == from)

  /** Paths of those that are gone from the files of that folder or were changed, and of lost ones that are back. */
  def changed(files: Seq[FileMeta]): Seq[String] = {
    val now = files.map(m => m.name -> m).toMap
    val back = lost.filter(i => i.folder == from && now.contains(i.name))
    (replaced.filterNot(i => now.get(i.name).exists(i.isSame)) ++ back).map(_.path)
  }

  /** Paths of its outputs that are not among the files of the new folder, or were changed. */
  def missing(files: Seq[FileMeta]): Seq[String] = {
    val now = files.map(m => m.path.toString -> m).toMap
    outputs.filterNot(o => now.get(o.path).exists(o.isThis(_, timed = true))).map(_.path)
  }

  def others(files: Seq[FileMeta]): Seq[FileMeta] = {
    val own = outputs.map(o => o.path -> o).toMap
    files.filterNot(m => own.get(m.path.toString).exists(_.isThis(m, timed = true)))
  }

  /** The inputs that did not go along as they are, and the outputs that are no copies of such files. */
  def rewritten: (Seq[InputFile], Seq[OutputFile]) = {
    def origin(o: OutputFile) = o.source.getOrElse(FileNames.in(from, o.name))
    val (known, origins) = (inputs.map(_.path).toSet, outputs.map(origin).toSet)
    (inputs.filterNot(i => origins(i.path)), outputs.filterNot(o => known(origin(o))))
  }

  def move: LocationUpdate = LocationUpdate(partition, new Path(from), new Path(to))
}

/**
 * What has a location in the catalog: a partition, or the table itself.
 *
 * @param values the partition's columns and values, in the table's order and as the catalog spells
 *               them; empty for the table itself
 */
final case class CatalogPartition(values: Seq[(String, String)]) {
  def isTable: Boolean = values.isEmpty

  override def toString: String =
    if (isTable) "the table" else values.map { case (column, value) => s"$column=$value" }.mkString("/")
}

object CatalogPartition {
  val Table: CatalogPartition = CatalogPartition(Nil)
}
