package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

/** A slot gets another location. */
final case class LocationUpdate(slot: CatalogPartition, from: Path, to: Path)

/** Where the catalog says that the files of a table are. */
trait CatalogLocations {

  /**
   * The present locations. A slot that the catalog does not know is left out.
   *
   * @throws java.io.IOException when the catalog does not answer
   */
  def current(slots: Seq[CatalogPartition]): Map[CatalogPartition, Path]

  /**
   * The locations of all slots of the table.
   *
   * @throws java.io.IOException when the catalog does not answer
   */
  def all(): Map[CatalogPartition, Path]

  /** The same by location. */
  final def located(): Map[Path, CatalogPartition] = all().map(_.swap)

  /**
   * Changes locations, in as few calls as possible. A slot that is not at `from` any more is left as
   * it is.
   *
   * @throws java.io.IOException when a call failed. It may have taken effect, or take effect later
   */
  def move(moves: Seq[LocationUpdate]): Unit
}

/**
 * What an operation does to one slot of a table that is published through the catalog. Names of files
 * are absolute.
 *
 * @param from the folder that the slot leaves, absolute
 * @param to the folder that it gets
 * @param inputs all files of the old folder whose rows the new one has
 * @param outputs all files that the operation brought to the new folder; those that are copies of
 *                files that others had appended have their `source`
 */
final case class LocationChange(
    slot: CatalogPartition,
    from: String,
    to: String,
    inputs: Seq[InputFile],
    outputs: Seq[OutputFile]
) {
  def move: LocationUpdate = LocationUpdate(slot, new Path(from), new Path(to))
}
