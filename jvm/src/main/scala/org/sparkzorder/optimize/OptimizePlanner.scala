package org.sparkzorder.optimize

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.commit.{History, Record, TableState, WritingOperation}
import org.sparkzorder.errors.{ZOrderErrors, ZOrderRuntimeException}
import org.sparkzorder.footer._
import org.sparkzorder.indexing.{IndexedBounds, TableIndex, UnreadableFiles}
import org.sparkzorder.layout.{FileBounds, FilesTouched}
import org.sparkzorder.statement.{LayoutClause, OptimizeStatement}
import org.sparkzorder.stats.{ColumnKey, ColumnStats}
import org.sparkzorder.table._
import org.sparkzorder.write.{KeyColumn, RewriteResult}

private[sparkzorder] object OptimizePlanner {

  /** Every check that needs no look into the files. */
  def check(table: PlainTable, statement: OptimizeStatement): Unit = {
    val options = OptimizeOptions.parse(statement.options, table.formatName)
    statement.where.foreach(PartitionPredicate.check(table, _))
    val isAuto = statement.layout.contains(LayoutClause.Auto)
    if (options.hotRanges && !isAuto) throw ZOrderErrors.hotRangesWithoutAuto
    LayoutChoice.check(table, statement.layout, options)
    if (isAuto) AutoLayout.recorded(table)
    BloomFilters.parse(table, options.bloomFilters)
    ()
  }

  /** The table's state, and the table as it was listed after that. */
  def listed(place: TableLocation): (TableState, PlainTable) = {
    val state = TableState.look(place.root, TableSideFolder.of(place).ops)
    (state, PlainTables.open(place))
  }

  /**
   * @param state looked at before the table was listed, so that an operation that ends in between is noticed
   * @throws org.apache.spark.sql.AnalysisException when the statement cannot be carried out on this table
   */
  def plan(state: TableState, table: PlainTable, statement: OptimizeStatement): OptimizePlan =
    try planned(state, table, statement)
    catch {
      // One file's columns are not all: a folder's schema is the union of its files'.
      case Drifted(_) if table.catalogTable.isEmpty =>
        val merged =
          try PlainTables.open(table, mergeSchema = true)
          catch { case _: org.apache.spark.SparkException | _: ZOrderRuntimeException => table }
        try planned(state, merged, statement)
        catch { case Drifted(d) => throw errorOf(d) }
      case Drifted(d) => throw errorOf(d)
    }

  private final case class Drifted(drift: SchemaDrift) extends RuntimeException(drift.reason)

  private def errorOf(d: SchemaDrift): Throwable =
    ZOrderErrors.schemaDrift(d.file, d.column.mkString("."), d.reason, d.anySchema)

  private def planned(state: TableState, table: PlainTable, statement: OptimizeStatement): OptimizePlan = {
    val asked = OptimizeOptions.parse(statement.options, table.formatName)
    val version = TableSideFolder.version(state)
    // Read as far as it is asked for.
    lazy val entries: Seq[WritingOperation] = LazyList.from(History.writing(TableSideFolder.of(table)))
    lazy val history: Seq[Record] = entries.map(_.record)
    val all = table.listed
    val folders = statement.where.fold(all)(PartitionPredicate.select(table, _, all))
    UnsafeTables.refuse(table, all, folders)
    val auto = Option.when(folders.nonEmpty && statement.layout.contains(LayoutClause.Auto)) {
      // Before the sample, which reads them as they are told to be.
      refuseDrift(table, read(table, folders.flatMap(_.files), Nil))
      AutoLayout.choose(table, folders, asked, history)
    }
    val chosen = LayoutChoice.of(table, statement.layout, asked, history, auto.map(c => (c._1, c._2)))
    val options = chosen.fold(asked) { case (spec, _) =>
      val bytes = folders.flatMap(_.files).map(_.getLen).sum
      RememberedSize.of(asked, spec, statement.where.getOrElse(""), bytes, history.iterator)
    }
    folders.find(f => f.path != table.root && !table.names.isBelow(f.path)).foreach { f =>
      throw ZOrderErrors.partitionOutsideTable(f.path.toString, table.root.toString)
    }
    val maxRecords = math.max(0L, table.session.sessionState.conf.maxRecordsPerFile)
    lazy val snapshot = TableIndex.of(table, TableSideFolder.of(table))
    val indexed = new IndexedBounds(snapshot, columnsOf(chosen.toSeq.flatMap(_._2)))
    val selected = chosen match {
      case Some((spec, columns)) =>
        def bounds(files: Seq[FileStatus]) =
          read(table, files, columns).map(i => columns.map(boundsOf(i, _)).toIndexedSeq)
        val along =
          new IncrementalSelection(columnsOf(columns), table.names, snapshot, indexed, options, maxRecords > 0, bounds)
        FileSelection.clustered(folders, spec, entries, table.names, options, statement.full, maxRecords > 0, along)
      case None =>
        def before =
          FileSelection.packedBefore(folders, entries, table.names, options.numFiles.getOrElse(0), statement.where)
        FileSelection.packed(folders, options, statement.full, before)
    }
    if (statement.layout.isDefined && folders.map(_.files.size).sum == 1 && selected.map(_.outputFiles).sum == 1)
      throw ZOrderErrors.singleFile(table.name)
    val keys = chosen.toSeq.flatMap(_._2)
    val found = read(table, selected.flatMap(_.files), keys, withTraits = true)
    val useful =
      if (
        chosen.isDefined || maxRecords == 0 || options.numFiles.isDefined || FileSelection.isAll(
          options,
          statement.full
        )
      ) selected
      else {
        val rows = found.map(i => i.status.getPath -> i.footer.rows).toMap
        selected.filter(r => FileSelection.canBeFewer(r, r.files.map(f => rows(f.getPath)).sum, maxRecords))
      }
    val rewrites = options.fileGroups.split(useful)
    val kept = rewrites.flatMap(_.files.map(_.getPath)).toSet
    val inputs = found.filter(i => kept(i.status.getPath))
    if (rewrites.nonEmpty) EncryptedFiles.refuseBefore(table, WriteSettings.options(table, options), inputs)
    refuseDrift(table, inputs)
    val written = MissingColumns.leftOut(table, inputs, keys.map(_.path.head).toSet, settings(table))
    FreeSpace.refuse(table, rewrites.map(r => r.folder.path -> r.files.map(_.getLen).sum))
    if (!options.allowNanosecondLoss) refuseNanoseconds(table, inputs)
    val writeConf = WriteSettings.conf(table, options, inputs.map(_.footer))
    OptimizePlan(
      written,
      options,
      chosen.map(_._1),
      keys,
      rewrites,
      inputs,
      folders.map(_.files.size.toLong).sum,
      all.flatMap(_.files).map(TableIndex.idOf(table, _)).toSet,
      version,
      writeConf,
      WriteSettings.options(table, options),
      BloomFilters.parse(table, options.bloomFilters),
      UnreadableFiles.told(table)(KeptFromInputs.of(written, inputs, writeConf)),
      maxRecords,
      rewrites.flatMap(_.rest).map(f => indexed.of(TableIndex.idOf(table, f))),
      auto.map(_._3),
      chosen.flatMap { case (spec, keys) => AutoLayout.density(table, spec, keys) },
      TableSideFolder.reappeared(table, state, all.flatMap(_.files))
    )
  }

  private def columnsOf(keys: Seq[KeyColumn]): IndexedSeq[ColumnKey] =
    keys.map(k => ColumnKey(k.path, k.dataType)).toIndexedSeq

  private def boundsOf(input: Input, key: KeyColumn): FileBounds = {
    val footer = input.footer
    FileBounds.of(footer.stats.getOrElse(ColumnKey(key.path, key.dataType), ColumnStats.unknown), footer.rows)
  }

  private def refuseDrift(table: PlainTable, inputs: Seq[Input]): Unit = {
    UnsafeTables.refuseCalendar(table, inputs.map(_.footer))
    SchemaCheck.exactlyReadable(table.dataSchema, inputs.map(_.footer), settings(table)).left.foreach(d =>
      throw Drifted(d)
    )
  }

  private def refuseNanoseconds(table: PlainTable, inputs: Seq[Input]): Unit =
    Nanoseconds.first(table.session, inputs.map(i => i.status -> i.footer)).foreach { found =>
      throw ZOrderErrors.nanoseconds(found.path, found.column, OptimizeOptions.allowNanosecondLossKey)
    }

  // A catalog's table says itself what is text.
  private def settings(table: PlainTable): FooterSettings = {
    val all = FooterSettings.of(table.session.sessionState.conf)
    all.copy(binaryAsString = all.binaryAsString && table.catalogTable.isEmpty)
  }

  private def read(
      table: PlainTable,
      files: Seq[FileStatus],
      keys: Seq[KeyColumn],
      withTraits: Boolean = false
  ): Seq[Input] = {
    val format = DataFormat.of(table.formatName).get
    val columns = keys.map(k => ColumnKey(k.path, k.dataType))
    UnreadableFiles.told(table) {
      files.zip(Footers.readAll(table.session, files, format, table.dataSchema, columns, withTraits = withTraits))
        .map { case (f, footer) => Input(f, footer) }
    }
  }

  /** Footers of files that were just written. */
  def footersOf(table: PlainTable, files: Seq[FileStatus]): Seq[FileFooter] =
    Footers.readAll(table.session, files, DataFormat.of(table.formatName).get, table.dataSchema, Nil)

  /** Files that a lookup of a sampled value touches, before by the inputs' footers and after by the statistics of what was written. */
  def clustering(plan: OptimizePlan, result: RewriteResult): Seq[ColumnClustering] = {
    val rows = plan.inputs.map(i => i.status.getPath -> i.footer.rows).toMap
    plan.keys.zipWithIndex.map { case (key, k) =>
      val column = ColumnKey(key.path, key.dataType)
      val samples = result.samples.zip(plan.rewrites).collect {
        case (distributions, r) if distributions.nonEmpty => distributions(k) -> r.files.map(f => rows(f.getPath)).sum
      }
      if (samples.isEmpty) ColumnClustering(key.path.mkString("."), None, None)
      else {
        val untouched = plan.untouched.map(_(k))
        val before = plan.inputs.map(boundsOf(_, key)) ++ untouched
        val after = untouched ++
          result.outputs.map(o => FileBounds.of(o.stats.columns.getOrElse(column, ColumnStats.unknown), o.rows))
        ColumnClustering(
          key.path.mkString("."),
          Some(FilesTouched.mean(samples, before)),
          Some(FilesTouched.mean(samples, after))
        )
      }
    }
  }
}
