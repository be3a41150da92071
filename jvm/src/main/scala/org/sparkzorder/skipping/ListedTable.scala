package org.sparkzorder.skipping

import java.util.BitSet

import org.apache.spark.sql.execution.datasources.{FileStatusWithMetadata, PartitionDirectory}

/** A listing, with what indexes know of its files. */
private[skipping] final class ListedTable(listing: Seq[PartitionDirectory], known: Seq[ListedOrdinals]) {
  private val directories = {
    val listed = known.map(_.of(listing.map(_.files)).toIndexedSeq)
    listing.iterator.zipWithIndex.map { case (d, i) => new Directory(d, listed.map(_(i))) }.toIndexedSeq
  }

  private final class Directory(directory: PartitionDirectory, listed: Seq[ListedFiles]) {
    private val files = directory.files.toIndexedSeq

    def count: Int = files.length

    def bytes: Long = listed.headOption.fold(files.iterator.map(_.getLen).sum)(_.bytes)

    def kept(keepers: Seq[FileKeeper]): BitSet = {
      val places = new BitSet(count)
      places.set(0, count)
      keepers.zip(listed).foreach { case (keeper, l) => keeper.leaveOut(places, l) }
      places
    }

    def bytes(places: BitSet): Long = {
      var sum = 0L
      var i = places.nextSetBit(0)
      while (i >= 0) {
        sum += files(i).getLen
        i = places.nextSetBit(i + 1)
      }
      sum
    }

    def only(places: BitSet): PartitionDirectory =
      if (places.cardinality == count) directory
      else {
        val kept = Vector.newBuilder[FileStatusWithMetadata]
        var i = places.nextSetBit(0)
        while (i >= 0) {
          kept += files(i)
          i = places.nextSetBit(i + 1)
        }
        directory.copy(files = kept.result())
      }
  }

  def files: Int = directories.iterator.map(_.count).sum

  def bytes: Long = directories.iterator.map(_.bytes).sum

  /** How many files all of them keep, one keeper for each index. */
  def count(keepers: Seq[FileKeeper]): Int = directories.iterator.map(_.kept(keepers).cardinality).sum

  def bytes(keepers: Seq[FileKeeper]): Long = directories.iterator.map(d => d.bytes(d.kept(keepers))).sum

  /** The listing without the others. */
  def only(keepers: Seq[FileKeeper]): Seq[PartitionDirectory] = directories.map(d => d.only(d.kept(keepers)))
}
