package org.sparkzorder.skipping

import java.util.BitSet

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.{FileStatusWithMetadata, HadoopFsRelation, PartitionDirectory}

import org.sparkzorder.memory.{ReadFile, RememberedFiles}
import org.sparkzorder.predicate.StatsPredicate
import org.sparkzorder.scan.{FileRevalidation, LeftOut}

/** A listing with the ordinals of its files in the indexes of its tables. It is made once for each listing. */
private[skipping] final class ScannedTable private (
    directories: IndexedSeq[ScannedTable.Directory],
    known: Seq[FileOrdinals],
    relation: HadoopFsRelation
) {
  import ScannedTable.Directory

  def listing: Seq[PartitionDirectory] = directories.map(_.directory)

  def files: Int = directories.iterator.map(_.count).sum

  def bytes: Long = directories.iterator.map(_.bytes).sum

  /** The files that the bounds of columns do not rule out. */
  def byBounds(conjuncts: Seq[StatsPredicate]): Selection =
    Selection(known.indices.map(k => SelectedFiles(known(k), conjuncts, relation, partitions(k))))

  /** Some files without those that do not have the values of a predicate, by which their bounds were looked at. */
  def byValues(files: Selection, predicate: StatsPredicate): Selection =
    files.copy(byIndex = files.byIndex.zip(listed).map { case (s, all) => s.byValues(predicate, relation, all) })

  /** Some files without those that [[CurvePruning]] rules out. */
  def byCurve(files: Selection, predicate: StatsPredicate): Selection =
    files.copy(byIndex = files.byIndex.map(_.byCurve(predicate, relation)))

  /** For each index the ordinals of the files of each directory; negative for files that the index does not know. */
  def ordinals: Seq[Seq[Seq[Int]]] = known.indices.map(k => directories.map(_.listed(k).ordinals.toSeq))

  private lazy val listed: Seq[BitSet] = known.indices.map { k =>
    val all = new BitSet
    directories.foreach(_.listed(k).ordinals.foreach(o => if (o >= 0) all.set(o)))
    all
  }

  /** For each index the values of each file's partition by its ordinal; null for a file with several, or with none. */
  lazy val partitions: Seq[Array[InternalRow]] = known.indices.map { k =>
    val files = known(k).snapshot.files
    val (values, hasOthers) = (new Array[InternalRow](files), new BitSet(files))
    for (d <- directories; ordinal <- d.listed(k).ordinals if ordinal >= 0) {
      val own = d.directory.values
      if (values(ordinal) != null && values(ordinal) != own) hasOthers.set(ordinal)
      values(ordinal) = own
    }
    hasOthers.stream.forEach(i => values(i) = null)
    values
  }

  def kept(selection: Selection): KeptFiles = new KeptFiles(selection)

  final class KeptFiles private[ScannedTable] (selection: Selection) {
    private val places: Seq[(Directory, BitSet)] = directories.map(d => d -> d.kept(selection, relation))

    def count: Int = places.iterator.map(_._2.cardinality).sum

    def bytes: Long = places.iterator.map { case (d, kept) => d.bytes(kept) }.sum

    /** The other files, without those that a look finds to have changed: these must be read. */
    def others(look: Option[FileRevalidation]): Set[ReadFile] = {
      val changed = changedOf(look).map(_.getPath).toSet
      places.iterator.flatMap { case (d, kept) => d.others(kept, relation) }.filterNot(f => changed(f.path)).toSet
    }

    /** The table with the kept files only, and those of the others that a look finds to have changed. */
    def only(look: Option[FileRevalidation]): (ScannedTable, Seq[FileStatus]) = {
      val changed = changedOf(look)
      val paths = changed.map(_.getPath).toSet
      val kept = places.map { case (d, own) => d.only(if (paths.isEmpty) own else d.including(paths, own)) }
      (new ScannedTable(kept.toIndexedSeq, known, relation), changed)
    }

    private def changedOf(look: Option[FileRevalidation]): Seq[FileStatus] =
      look.fold(Seq.empty[FileStatus])(_.changed(places.flatMap { case (d, kept) => d.leftOut(kept) }))
  }
}

private[skipping] object ScannedTable {

  def apply(listing: Seq[PartitionDirectory], known: Seq[FileOrdinals], relation: HadoopFsRelation): ScannedTable = {
    val listed = known.map(_.of(listing.map(_.files)).toIndexedSeq)
    val directories = listing.iterator.zipWithIndex.map { case (d, i) => new Directory(d, listed.map(_(i))) }
    new ScannedTable(directories.toIndexedSeq, known, relation)
  }

  private[skipping] final class Directory(val directory: PartitionDirectory, val listed: Seq[FilesWithOrdinals]) {
    private val files = directory.files.toIndexedSeq

    def count: Int = files.length

    def bytes: Long = listed.headOption.fold(files.iterator.map(_.getLen).sum)(_.bytes)

    def bytes(places: BitSet): Long = {
      var sum = 0L
      each(places)(i => sum += files(i).getLen)
      sum
    }

    private def each(places: BitSet)(work: Int => Unit): Unit = {
      var i = places.nextSetBit(0)
      while (i >= 0) {
        work(i)
        i = places.nextSetBit(i + 1)
      }
    }

    def kept(selection: Selection, relation: HadoopFsRelation): BitSet = {
      val places = new BitSet(count)
      places.set(0, count)
      selection.byIndex.zip(listed).foreach { case (selected, l) => selected.leaveOut(places, l, directory.values) }
      selection.memory.foreach { remembered =>
        lazy val values = RememberedFiles.valuesOf(directory.values, relation.partitionSchema)
        each(places)(i => if (remembered.has(files(i), values)) places.clear(i))
      }
      places
    }

    private def outOf(places: BitSet): Iterator[FileStatusWithMetadata] =
      files.indices.iterator.filterNot(places.get).map(files)

    def others(places: BitSet, relation: HadoopFsRelation): Iterator[ReadFile] = {
      lazy val values = RememberedFiles.valuesOf(directory.values, relation.partitionSchema)
      outOf(places).map(f => ReadFile(f.getPath, f.getLen, f.getModificationTime, values))
    }

    /** The files at other places, by folder. */
    def leftOut(places: BitSet): Seq[LeftOut] =
      if (places.cardinality == count) Nil
      else
        files.indices.groupBy(i => folder(files(i).getPath)).valuesIterator.flatMap { of =>
          val out = of.filterNot(places.get).map(files(_).fileStatus)
          if (out.isEmpty) None else Some(LeftOut(out.head.getPath.getParent, out, of.size))
        }.toVector

    /** The name of a file's folder, without making a path for each of many files. */
    private def folder(file: Path): String = {
      val name = file.toUri.toString
      name.substring(0, name.lastIndexOf('/'))
    }

    /** `places` with the bits of these files set as well. */
    def including(paths: Set[Path], places: BitSet): BitSet = {
      files.indices.foreach(i => if (paths(files(i).getPath)) places.set(i))
      places
    }

    def only(places: BitSet): Directory =
      if (places.cardinality == count) this
      else {
        val kept = Vector.newBuilder[FileStatusWithMetadata]
        each(places)(i => kept += files(i))
        new Directory(directory.copy(files = kept.result()), listed.map(_.only(places)))
      }
  }
}
