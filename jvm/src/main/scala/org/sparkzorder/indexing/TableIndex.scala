package org.sparkzorder.indexing

import java.io.ByteArrayOutputStream

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.types.TimestampType
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.codec.Json
import org.sparkzorder.commit.TableFolder
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.log.TableState
import org.sparkzorder.commit.side.IndexFiles
import org.sparkzorder.commit.storage.ObjectFileOps
import org.sparkzorder.compat._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.footer.DataFormat
import org.sparkzorder.footer.orc.NamelessColumns
import org.sparkzorder.index.{IndexContents, IndexFile, IndexMemory, IndexSnapshot, IndexStore}
import org.sparkzorder.layout.{CurveFrame, CurveInterval, JoinSpec}
import org.sparkzorder.indexing.MembershipColumns.{Change, Members}
import org.sparkzorder.membership.MembershipBudget
import org.sparkzorder.stats.{ColumnKey, FileId, FileStats, IndexableColumns, IndexedColumns}
import org.sparkzorder.table.{ExcludedNames, PlainTable, TableLocation}

/** The index of one table: finds it, decides on its columns, and adds files to it. */
object TableIndex {

  /** Property of the index: the columns that CREATE SKIPPING INDEX named, as a JSON array of paths. */
  private val columnsProperty = "columns"

  /** How many bytes the values of a column in a file may have, if a statement makes those of so many files. */
  def mostBytes(table: PlainTable, files: Long, columns: Int): Int =
    MembershipBudget.ofFile(files, columns, SparkOwn.maxResultSize(table.session.sparkContext))

  /** The newest readable index, if there is one. */
  def of(table: TableLocation, folder: TableFolder): Option[IndexSnapshot] =
    of(table, TableState.look(folder.root, folder.ops))

  /** The same by what is known of the side folder. */
  def of(table: TableLocation, state: TableState): Option[IndexSnapshot] =
    state match {
      case s: TableState.SideFolder if s.indexes.nonEmpty =>
        val indexes = s.indexes.map(i => i.number -> i.status(table.fileSystem))
        val memory = IndexMemory.of(table.session.sessionState.conf.getConf(ZOrderConf.indexCacheMaxBytes))
        new IndexStore(table.fileSystem, memory, ObjectFileOps.reader(s.folder)).newest(indexes)
      case _ => None
    }

  /** The columns to collect statistics of: all that can have some, or those that the index is restricted to. */
  def columnsOf(table: PlainTable, snapshot: Option[IndexSnapshot]): IndexedColumns =
    columnsOf(table, snapshot, ExcludedColumns.checked(table))

  /** @param change of the columns whose values are kept */
  def columnsOf(
      table: PlainTable,
      snapshot: Option[IndexSnapshot],
      excluded: ExcludedNames,
      change: Change = identity
  ): IndexedColumns = {
    val usable = usableColumns(table, excluded)
    val members = change(snapshot.fold(Map.empty: Members)(MembershipColumns.of))
    val keys = snapshot.flatMap(restriction).fold(usable)(paths =>
      usable.filter(c => paths.contains(c.path) || members.contains(c.path))
    )
    IndexedColumns(keys, MembershipColumns.keys(members, keys.filter(MembershipColumns.canBe(table, _))))
  }

  /**
   * The columns that can have statistics and are not excluded. Of types without an order only the nulls are counted.
   */
  def usableColumns(table: PlainTable): Seq[ColumnKey] = usableColumns(table, ExcludedColumns.checked(table))

  private def usableColumns(table: PlainTable, excluded: ExcludedNames): Seq[ColumnKey] =
    IndexableColumns.all(table.dataSchema).filterNot(c => excluded.covers(c.path))

  /** The columns that CREATE SKIPPING INDEX named; None when the index is about all columns. */
  def restriction(snapshot: IndexSnapshot): Option[Set[Seq[String]]] =
    snapshot.properties.get(columnsProperty)
      .map(json => Json.parse(json).toSeq.flatMap(Json.elements).map(Json.texts).toSet[Seq[String]])

  /**
   * Collects the statistics of files that others wrote. Files that change meanwhile are left out.
   *
   * @param earlier the known statistics of some of the files
   * @throws org.apache.spark.sql.AnalysisException for a file that is not of the table's format
   */
  def build(
      table: PlainTable,
      files: Seq[FileStatus],
      columns: IndexedColumns,
      earlier: Seq[(FileId, FileStats)] = Nil
  ): Seq[(FileId, FileStats)] = {
    val known = earlier.toMap
    val (old, late) = files.partition(f => known.contains(idOf(table, f)))
    val format = DataFormat.of(table.formatName).get
    val setting = IndexBuilder.Setting(
      options = table.relation.options,
      members = columns.members,
      mostBytes = mostBytes(table, files.size.toLong, columns.members.size)
    )
    val added =
      UnreadableFiles.translateErrors(table) {
        IndexBuilder.build(table.session, late, format, table.dataSchema, columns.keys, idOf(table, _), setting)
      }
    old.map(f => idOf(table, f)).map(id => id -> known(id)) ++ added
  }

  /**
   * Adds files that an operation has written. Needs the lock.
   *
   * @param placed the intervals of the curve along which the files were written
   * @param namesInAnyCase whether the files spell columns differently from the table
   * @param copied files of which the operation made copies, with the copies
   * @param known the excluded columns, if the operation has asked for them under the lock
   * @param origins what wrote the added files, see [[IndexSnapshot.originOf]]
   * @param change of the columns whose values are kept
   */
  def add(
      table: PlainTable,
      folder: TableFolder,
      lock: Lock,
      snapshot: Option[IndexSnapshot],
      listed: Set[FileId],
      added: Seq[(FileId, FileStats)],
      placed: Map[FileId, CurveInterval] = Map.empty,
      namesInAnyCase: Boolean = false,
      copied: Map[FileId, FileId] = Map.empty,
      known: Option[ExcludedNames] = None,
      origins: Map[FileId, String] = Map.empty,
      change: Change = identity
  ): Unit = {
    val spelling = if (namesInAnyCase) Map(IndexSnapshot.NamesInAnyCase -> "true") else Map.empty[String, String]
    val members = change(snapshot.fold(Map.empty: Members)(MembershipColumns.of))
    val properties = spelling ++ MembershipColumns.properties(members)
    val columnNames = table.dataSchema.fieldNames.toIndexedSeq
    val lasting = added.map { case (id, stats) => id -> lastingInOrc(table, columnNames, stats) }
    val excluded = known.getOrElse(ExcludedColumns.checked(table))
    val frames = lastingFrames(table, placed, excluded)
    val contents = snapshot match {
      case Some(old) =>
        val (isShown, hasMembers) = ((c: ColumnKey) => !hides(excluded, c), (c: ColumnKey) => members.contains(c.path))
        val isListed: FileId => Boolean = listed.contains
        IndexContents.merge(old, isListed, lasting, isShown, frames, properties, copied, origins, hasMembers)
      case None => IndexContents(lasting, properties, frames, origins)
    }
    write(table, folder, lock, contents, listed, excluded)
    forgetExcluded(excluded, folder, lock, snapshot)
  }

  /**
   * The statistics without values that another reader of the same ORC file may find different. ORC
   * stores instants as wall clock of the writer's time zone, so another JVM reads other instants.
   * Columns without names are read by position.
   */
  private def lastingInOrc(table: PlainTable, names: IndexedSeq[String], stats: FileStats): FileStats =
    if (table.formatName != "orc") stats
    else stats.copy(columns = stats.columns.collect {
      case (key, column) if !NamelessColumns.isMisplaced(names, key.path.head) =>
        key -> (if (key.dataType == TimestampType) column.copy(min = null, max = null) else column)
    })

  /**
   * Deletes the previous index if it has columns that are excluded now. Else it stays, in case the new one is
   * unreadable.
   */
  private def forgetExcluded(
      excluded: ExcludedNames,
      folder: TableFolder,
      lock: Lock,
      before: Option[IndexSnapshot]
  ): Unit = if (!before.forall(hasNothing(excluded, _))) IndexFiles.forget(folder, lock)

  /** Whether the index contains nothing about columns that are excluded now. */
  def hasNothingExcluded(table: PlainTable, snapshot: IndexSnapshot): Boolean =
    hasNothing(ExcludedColumns.checked(table), snapshot)

  private def hasNothing(excluded: ExcludedNames, snapshot: IndexSnapshot): Boolean =
    !(snapshot.columns ++ frameColumns(snapshot)).exists(hides(excluded, _))

  /** Whether a column is excluded. Of an attribute of a dimension, the column that is joined says so. */
  private def hides(excluded: ExcludedNames, column: ColumnKey): Boolean =
    excluded.covers(JoinSpec.columnOf(column.path))

  private def frameColumns(snapshot: IndexSnapshot): Seq[ColumnKey] =
    snapshot.intervals.toSeq.flatMap(_.frames.flatMap(_.columns.map(_.key)))

  /**
   * The intervals with frames that may be stored. Columns without stored bounds get none on the
   * curve either. Frames contain values, so frames with excluded columns are left out.
   */
  private def lastingFrames(
      table: PlainTable,
      placed: Map[FileId, CurveInterval],
      excluded: ExcludedNames
  ): Map[FileId, CurveInterval] = {
    val usable =
      usableColumns(table, excluded).filterNot(c => table.formatName == "orc" && c.dataType == TimestampType).toSet
    val shown = placed.filterNot { case (_, i) => i.frame.columns.exists(c => hides(excluded, c.key)) }
    val frames = shown.values.map(_.frame).toVector.distinctBy(_.id).map { f =>
      val columns = f.columns.map(c => c.copy(lasting = c.lasting && usable(c.key)))
      f.id -> new CurveFrame(f.id, columns, f.distributions, f.curve)
    }.toMap
    shown.map { case (id, interval) => id -> interval.copy(frame = frames(interval.frame.id)) }
  }

  /**
   * Replaces the index by a new one. Needs the lock. The previous index may be damaged, which can
   * be the reason for the statement. Only the files' origins and their places along a curve are taken
   * from it: OPTIMIZE chooses by them what to rewrite, and queries do not use them.
   *
   * @param origins of files that the previous index does not have
   */
  def replace(
      table: PlainTable,
      folder: TableFolder,
      lock: Lock,
      columns: Option[Seq[Seq[String]]],
      members: Members,
      files: Seq[(FileId, FileStats)],
      before: Option[IndexSnapshot],
      origins: Map[FileId, String]
  ): Unit = {
    val properties = columns.map(columnsProperty -> Json.text(_))
    // Files that did not change keep the statistics of the previous index, and so its spelling of names.
    val spelling = before.toSeq.flatMap(_.properties.filter(_._1 == IndexSnapshot.NamesInAnyCase))
    val hints = before.fold(Map.empty[FileId, CurveInterval])(_.hints(files.map(_._1)))
    val origin = origins ++ before.fold(Map.empty[FileId, String])(_.origins(files.map(_._1)))
    val excluded = ExcludedColumns.checked(table)
    val facts = properties.toMap ++ MembershipColumns.properties(members) ++ spelling
    val contents = IndexContents(files, facts, lastingFrames(table, hints, excluded), origin)
    write(table, folder, lock, contents, files.map(_._1), excluded)
    forgetExcluded(excluded, folder, lock, before)
  }

  private def write(
      table: PlainTable,
      folder: TableFolder,
      lock: Lock,
      contents: IndexContents,
      files: Iterable[FileId],
      excluded: ExcludedNames
  ): Unit = {
    val out = new ByteArrayOutputStream
    IndexFile.write(out, contents)
    // Also folders outside of the table's, as of partitions and of tables that move to new folders.
    val folders = files.iterator.map(id => table.names.resolve(id.path).getParent).filter(isOnSameStorage(table, _))
    IndexFiles.write(folder, lock, out.toByteArray, folder.ops.commonMode(folders.toSet.toSeq))
    RecordedWorkload.forget(excluded, folder)
  }

  private def isOnSameStorage(table: TableLocation, folder: Path): Boolean = {
    val (one, other) = (table.root.toUri, folder.toUri)
    one.getScheme == other.getScheme && one.getAuthority == other.getAuthority
  }

  def idOf(table: PlainTable, f: FileStatus): FileId =
    FileId(table.names.of(f.getPath), f.getLen, f.getModificationTime)
}
