package org.sparkzorder.index

import scala.collection.mutable

import org.sparkzorder.layout.CurveInterval
import org.sparkzorder.stats.{ColumnKey, ColumnStats, FileId, FileStats}

/** What is to be written as an index. Columns are made when they are asked for, so that one at a time is in memory. */
sealed trait IndexContents {
  def files: FileTable

  def columns: Seq[ColumnKey]

  /** Words of the index about itself, such as the columns that it is restricted to. */
  def properties: Map[String, String]

  /** Where each file lies along the curve that it was written along, if it was. */
  def intervals: IndexedSeq[Option[CurveInterval]]

  private[index] def column(key: ColumnKey): ColumnData
}

object IndexContents {

  /**
   * An index of these files. Of a file that comes twice the last counts.
   *
   * @throws IllegalArgumentException for negative rows or lengths, or bounds that are not of the column's encoding
   *   (the latter when it is written)
   */
  def apply(
      files: Seq[(FileId, FileStats)],
      properties: Map[String, String] = Map.empty,
      placed: Map[FileId, CurveInterval] = Map.empty
  ): IndexContents = new Merged(None, Array.emptyIntArray, files, properties, placed)

  /**
   * The files of `old` that `keep` says to, and `added`, with the properties of `old` and more. An added file replaces the same
   * file (path, length and time) of the old index. Columns of the old index are copied as they are, without an object
   * for each value. One that cannot be read is lost, with a warning, as is one that `keepColumn` does not say to.
   */
  def merge(
      old: IndexSnapshot,
      keep: FileId => Boolean,
      added: Seq[(FileId, FileStats)],
      keepColumn: ColumnKey => Boolean = _ => true,
      placed: Map[FileId, CurveInterval] = Map.empty,
      properties: Map[String, String] = Map.empty
  ): IndexContents = {
    val replaced = added.iterator.map(_._1).toSet
    val kept = Array.range(0, old.files).filter { i =>
      val id = old.fileId(i)
      !replaced(id) && keep(id)
    }
    new Merged(Some(old), kept, added, old.properties ++ properties, placed, keepColumn)
  }

  private final class Merged(
      old: Option[IndexSnapshot],
      kept: Array[Int],
      addedTwice: Seq[(FileId, FileStats)],
      val properties: Map[String, String],
      placed: Map[FileId, CurveInterval],
      keepColumn: ColumnKey => Boolean = _ => true
  ) extends IndexContents {
    private val added = mutable.LinkedHashMap.from(addedTwice).toArray
    private val rows = added.map(_._2.rows)

    val files: FileTable = FileTable(
      kept.toSeq.map(i => (old.get.fileId(i), old.get.rows(i))) ++ added.toSeq.map { case (id, s) => (id, s.rows) }
    )

    lazy val intervals: IndexedSeq[Option[CurveInterval]] = {
      val before = old.flatMap(_.intervals)
      kept.toIndexedSeq.map(i =>
        before.flatMap(_.of(i)).filter(_.frame.columns.forall(c => keepColumn(c.key)))
      ) ++ added.toIndexedSeq.map { case (id, _) => placed.get(id) }
    }

    // By column, so that writing one does not look through all the others of each file.
    private val addedColumns = {
      val columns = mutable.LinkedHashMap.empty[ColumnKey, mutable.ArrayBuffer[(Int, ColumnStats)]]
      added.indices.foreach { i =>
        added(i)._2.columns.foreach { case (key, s) =>
          columns.getOrElseUpdate(key, mutable.ArrayBuffer.empty) += ((i, s))
        }
      }
      columns
    }

    val columns: Seq[ColumnKey] =
      (old.fold(Seq.empty[ColumnKey])(_.columns).filter(keepColumn) ++ addedColumns.keys).distinct

    private[index] def column(key: ColumnKey): ColumnData = {
      val builder = new ColumnBuilder(key.dataType, files.files)
      old.flatMap(_.read(key)).foreach(c => kept.indices.foreach(i => builder.copy(i, c, kept(i))))
      addedColumns.getOrElse(key, Nil).foreach { case (i, s) => builder.put(kept.length + i, rows(i), s) }
      builder.result()
    }
  }
}
