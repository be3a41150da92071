package org.sparkzorder.skipping

import java.util.BitSet

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.{FileStatusWithMetadata, HadoopFsRelation, PartitionDirectory}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.memory.{ReadFile, RememberedFiles}
import org.sparkzorder.predicate.StatsPredicate
import org.sparkzorder.scan.{FileRevalidation, LeftOut}

/**
 * A listing with the ordinals of its files in the indexes of its tables.
 *
 * @param schema of the partitions' values
 */
private[skipping] final class ListedTable(
    listing: Seq[PartitionDirectory],
    known: Seq[ListedOrdinals],
    schema: StructType
) {
  private val directories = {
    val listed = known.map(_.of(listing.map(_.files)).toIndexedSeq)
    listing.iterator.zipWithIndex.map { case (d, i) => new Directory(d, listed.map(_(i))) }.toIndexedSeq
  }

  private final class Directory(val directory: PartitionDirectory, val listed: Seq[ListedFiles]) {
    private val files = directory.files.toIndexedSeq

    def count: Int = files.length

    def bytes: Long = listed.headOption.fold(files.iterator.map(_.getLen).sum)(_.bytes)

    def kept(keepers: Seq[SelectedFiles], memory: Option[RememberedFiles]): BitSet = {
      val places = new BitSet(count)
      places.set(0, count)
      keepers.zip(listed).foreach { case (keeper, l) => keeper.leaveOut(places, l, directory.values) }
      memory.foreach(leaveOut(places, _))
      places
    }

    private def leaveOut(places: BitSet, remembered: RememberedFiles): Unit = {
      lazy val values = RememberedFiles.valuesOf(directory.values, schema)
      var i = places.nextSetBit(0)
      while (i >= 0) {
        if (remembered.has(files(i), values)) places.clear(i)
        i = places.nextSetBit(i + 1)
      }
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

    /** The files of the other places. */
    def without(places: BitSet): Seq[ReadFile] = {
      lazy val values = RememberedFiles.valuesOf(directory.values, schema)
      files.indices.filterNot(places.get).map { i =>
        ReadFile(files(i).getPath, files(i).getLen, files(i).getModificationTime, values)
      }
    }

    /** The other files, by folder. */
    def leftOut(places: BitSet): Seq[LeftOut] =
      if (places.cardinality == count) Nil
      else {
        val listed = files.groupBy(_.getPath.getParent)
        def isOut(i: Int) = !places.get(i)
        files.indices.filter(isOut).map(files(_).fileStatus).groupBy(_.getPath.getParent)
          .map { case (folder, out) => LeftOut(folder, out, listed(folder).size) }.toVector
      }

    /** `places` with the bits of these files set as well. */
    def including(paths: Set[Path], places: BitSet): BitSet = {
      files.indices.foreach(i => if (paths(files(i).getPath)) places.set(i))
      places
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

  /** For each index the files that a predicate does not rule out. */
  def selected(predicate: StatsPredicate, relation: HadoopFsRelation): Seq[SelectedFiles] =
    known.indices.map(k => SelectedFiles(known(k), predicate, relation, partitions(k)))

  /** The same files without those that the values of their columns rule out, see [[SelectedFiles.byMembers]]. */
  def byMembers(
      keepers: Seq[SelectedFiles],
      predicate: StatsPredicate,
      relation: HadoopFsRelation
  ): Seq[SelectedFiles] =
    keepers.zipWithIndex.map { case (keeper, k) => keeper.byMembers(predicate, relation, ordinals(k)) }

  private lazy val ordinals: Seq[BitSet] = known.indices.map { k =>
    val all = new BitSet
    directories.foreach(_.listed(k).ordinals.foreach(o => if (o >= 0) all.set(o)))
    all
  }

  private lazy val partitions: Seq[Array[InternalRow]] = known.indices.map { k =>
    ListedTable.partitionsOf(directories.map(d => (d.directory.values, d.listed(k))), known(k).snapshot.files)
  }

  def files: Int = directories.iterator.map(_.count).sum

  def bytes: Long = directories.iterator.map(_.bytes).sum

  /** How many files all keepers keep. There is one keeper for each index. */
  def count(keepers: Seq[SelectedFiles], memory: Option[RememberedFiles] = None): Int =
    directories.iterator.map(_.kept(keepers, memory).cardinality).sum

  def bytes(keepers: Seq[SelectedFiles], memory: Option[RememberedFiles]): Long =
    directories.iterator.map(d => d.bytes(d.kept(keepers, memory))).sum

  /**
   * The listing with only the files that all keepers keep.
   *
   * @param look at the files that are left out: those that changed stay in the listing
   */
  def only(keepers: Seq[SelectedFiles], look: Option[FileRevalidation]): Seq[PartitionDirectory] = {
    val kept = directories.map(d => (d, d.kept(keepers, None)))
    val changed = changedOf(kept, look)
    kept.map { case (d, places) => d.only(if (changed.isEmpty) places else d.including(changed, places)) }
  }

  /** Files that some keeper does not keep, or of which memory knows that they have no row. Not those that have changed. */
  def without(
      keepers: Seq[SelectedFiles],
      memory: Option[RememberedFiles],
      look: Option[FileRevalidation]
  ): Set[ReadFile] = {
    val kept = directories.map(d => (d, d.kept(keepers, memory)))
    val changed = changedOf(kept, look)
    kept.iterator.flatMap { case (d, places) => d.without(places) }.filterNot(f => changed(f.path)).toSet
  }

  private def changedOf(kept: Seq[(Directory, BitSet)], look: Option[FileRevalidation]): Set[Path] =
    look.fold(Set.empty[Path])(_.changed(kept.flatMap { case (d, places) => d.leftOut(places) }))
}

private[skipping] object ListedTable {

  /** The values of each file's partition by its ordinal in the index; null for a file with several, or with none. */
  def partitionsOf(directories: Seq[(InternalRow, ListedFiles)], files: Int): Array[InternalRow] = {
    val values = new Array[InternalRow](files)
    val hasOthers = new BitSet(files)
    for ((own, listed) <- directories; ordinal <- listed.ordinals if ordinal >= 0) {
      if (values(ordinal) != null && values(ordinal) != own) hasOthers.set(ordinal)
      values(ordinal) = own
    }
    values.indices.foreach(i => if (hasOthers.get(i)) values(i) = null)
    values
  }
}
