package org.sparkzorder.index

import java.util.BitSet

import scala.collection.mutable

import org.sparkzorder.compat._
import org.sparkzorder.footer.WritersTable
import org.sparkzorder.layout.CurveInterval
import org.sparkzorder.stats.{ColumnKey, ColumnStats, FileId, FileStats}

/**
 * The contents of an index that is to be written. A column is made when it is written, so only one is in memory.
 *
 * @param stay ordinals of the files of the old index that stay
 * @param properties facts about the index itself, such as the columns that it is restricted to
 * @param copies ordinals of files of the old index, with their copies
 * @param members the columns of which values are kept
 */
final class IndexContents private (
    old: Option[IndexSnapshot],
    stay: Array[Int],
    addedTwice: Seq[(FileId, FileStats)],
    val properties: Map[String, String],
    placed: Map[FileId, CurveInterval],
    originOf: Map[FileId, String],
    keepColumn: ColumnKey => Boolean = _ => true,
    copies: Array[(Int, FileId)] = Array.empty,
    val members: Seq[ColumnKey]
) {
  private val kept = stay ++ copies.map(_._1)
  private val added = mutable.LinkedHashMap.from(addedTwice).toArray

  /** That of an outdated index stays as long as a file of it does. */
  private[index] def writers: Long = old.filter(_ => kept.nonEmpty).fold(WritersTable.Number.toLong)(_.writers)

  val files: FileTable = FileTable(
    stay.toSeq.map(i => (old.get.fileId(i), old.get.rows(i))) ++
      copies.toSeq.map { case (i, id) => (id, old.get.rows(i)) } ++ added.toSeq.map { case (id, s) => (id, s.rows) }
  )

  /** The interval of the curve that each file was written along, if it was written along one. */
  def intervals: IndexedSeq[Option[CurveInterval]] = {
    val before = old.flatMap(_.intervals)
    kept.toIndexedSeq.map(i =>
      before.flatMap(_.of(i)).filter(_.frame.columns.forall(c => keepColumn(c.key)))
    ) ++ added.toIndexedSeq.map { case (id, _) => placed.get(id) }
  }

  /** What wrote each file, if an OPTIMIZE did, see [[FileOrigins]]. */
  def origins: IndexedSeq[Option[String]] =
    kept.toIndexedSeq.map(i => old.flatMap(_.originOf(i))) ++
      added.toIndexedSeq.map { case (id, _) => originOf.get(id) }

  // Grouped by column, so that writing a column does not search the statistics of every file.
  private val addedColumns = {
    val columns = mutable.LinkedHashMap.empty[ColumnKey, mutable.ArrayBuffer[(Int, ColumnStats)]]
    added.indices.foreach { i =>
      added(i)._2.columns.foreach { case (key, s) =>
        columns.getOrElseUpdate(key, mutable.ArrayBuffer.empty) += ((i, s))
      }
    }
    columns
  }

  def columns: Seq[ColumnKey] =
    (old.fold(Seq.empty[ColumnKey])(_.columns).filter(keepColumn) ++ addedColumns.keys).distinct

  private[index] def column(key: ColumnKey): ColumnData = {
    val builder = new ColumnBuilder(key.dataType, files.files)
    old.flatMap(_.read(key)).foreach(c => kept.indices.foreach(i => builder.copy(i, c, kept(i))))
    addedColumns.getOrElse(key, Nil).foreach { case (i, s) => builder.put(kept.length + i, added(i)._2.rows, s) }
    builder.result()
  }

  /** Gives the values of a column in a file, if they are known. It is to be called for files in their order. */
  private[index] def membersOf(key: ColumnKey): Int => Option[Array[Byte]] = {
    val wanted = new BitSet
    kept.foreach(wanted.set)
    val before = old.flatMap(_.memberBlocks(key)).map(_.copier(wanted))
    file =>
      if (file < kept.length) before.flatMap(_(kept(file)))
      else added(file - kept.length)._2.members.get(key)
  }
}

object IndexContents {

  /**
   * An index of these files. If a file comes twice, its last statistics count.
   *
   * @throws IllegalArgumentException for negative rows or lengths. Bounds that are not in the
   *   column's encoding are only found when the index is written.
   */
  def apply(
      files: Seq[(FileId, FileStats)],
      properties: Map[String, String] = Map.empty,
      placed: Map[FileId, CurveInterval] = Map.empty,
      origins: Map[FileId, String] = Map.empty
  ): IndexContents =
    new IndexContents(None, Array.emptyIntArray, files, properties, placed, origins, members = membersOf(files))

  private def membersOf(files: Seq[(FileId, FileStats)]): Seq[ColumnKey] = files.flatMap(_._2.members.keys).distinct

  /**
   * An index of the files of `old` for which `keep` is true, and of `added`, which replace the same
   * files of the old index. Columns of the old index are copied as they are, without an object for
   * each value, and without those that cannot be read.
   *
   * @param properties more properties than those of `old`
   * @param copied files of `old` with their copies, which get the same statistics
   * @param origins of added files
   * @param keepMembers whether a column's values are kept
   */
  def merge(
      old: IndexSnapshot,
      keep: FileId => Boolean,
      added: Seq[(FileId, FileStats)],
      keepColumn: ColumnKey => Boolean = _ => true,
      placed: Map[FileId, CurveInterval] = Map.empty,
      properties: Map[String, String] = Map.empty,
      copied: Map[FileId, FileId] = Map.empty,
      origins: Map[FileId, String] = Map.empty,
      keepMembers: ColumnKey => Boolean = _ => true
  ): IndexContents = {
    val replaced = added.iterator.map(_._1).toSet
    val kept = Array.range(0, old.files).filter { i =>
      val id = old.fileId(i)
      !replaced(id) && keep(id)
    }
    val copies =
      if (copied.isEmpty) Array.empty[(Int, FileId)]
      else Array.range(0, old.files).flatMap(i => copied.get(old.fileId(i)).filterNot(replaced).map(i -> _))
    val members = (old.memberColumns ++ membersOf(added)).distinct.filter(c => keepColumn(c) && keepMembers(c))
    val facts = old.properties ++ properties
    new IndexContents(Some(old), kept, added, facts, placed, origins, keepColumn, copies, members)
  }
}
