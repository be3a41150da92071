package org.sparkzorder.optimize.plan

import org.apache.hadoop.fs.{FileStatus, Path}

import org.sparkzorder.commit.{CatalogPartition, Record}
import org.sparkzorder.commit.log.History
import org.sparkzorder.compat._
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.files.{AmbiguousClocks, Nanoseconds}
import org.sparkzorder.footer.{FooterSettings, SchemaCheck, SchemaDifference}
import org.sparkzorder.indexing.{IndexedBounds, MembershipColumns, TableIndex, UnreadableFiles}
import org.sparkzorder.indexing.MembershipColumns.Change
import org.sparkzorder.membership.MembershipKind
import org.sparkzorder.optimize.auto.{AutoChoice, AutoLayout}
import org.sparkzorder.optimize.check._
import org.sparkzorder.optimize.join.{DimensionJoin, DimensionRows}
import org.sparkzorder.optimize.keep.{PreservedByFormat, WriteSettings}
import org.sparkzorder.optimize.options.{OptimizeOptions, OptionTable}
import org.sparkzorder.optimize.{ChosenLayout, Input, Rewrite}
import org.sparkzorder.statement.LayoutClause
import org.sparkzorder.table.{DataFolder, PartitionPredicate, PlainTable, TableSideFolder}
import org.sparkzorder.write.{Dimension, KeyColumn}

import PlanningSteps._

/** The files cannot be read exactly with the schema that the table was opened with. */
private final case class DriftedException(drift: SchemaDifference) extends RuntimeException(drift.reason)

/**
 * The steps from a statement to its plan: which folders, which layout, which files, and how they
 * are written. Each step refuses what it finds wrong, before anything is changed.
 */
private final class PlanningSteps(context: StatementContext) {
  import context.{options => asked, state, statement, table}

  private val sideFolder = TableSideFolder.of(table)
  private val maxRecords = WriteSettings.maxRecords(table)

  // The history is read only as far as it is looked at.
  private lazy val history: Seq[Record] = LazyList.from(History.newestFirst(state).map(_.record))
  private lazy val snapshot = TableIndex.of(table, sideFolder)
  private val writers = new FileWriters(table.names, snapshot, History.newestFirst(state))

  /** @throws DriftedException when a file does not fit the schema that the table was opened with */
  def plan: OptimizePlan = {
    val scope = scopeOfStatement
    val layout = layoutFor(scope)
    val partitions = partitionsOf(scope)
    val selection = selectionFor(scope, layout)
    val work = workOf(selection, layout)
    val inputs = work.inputs
    val written = tableToWrite(work, layout)
    val writeConf = WriteSettings.conf(table, layout.options, inputs.map(_.footer))
    val spec = layout.chosen.map(_.spec)
    OptimizePlan(
      table = written,
      options = layout.options,
      layout = spec,
      keys = layout.keys,
      rewrites = work.rewrites,
      inputs = inputs,
      considered = scope.files.size.toLong,
      listed = scope.allFiles.map(TableIndex.idOf(table, _)).toSet,
      version = context.version,
      writeConf = writeConf,
      writeOptions = WriteSettings.options(table, layout.options),
      bloomFilters = context.bloomFilters,
      members = members(layout),
      kept = UnreadableFiles.translateErrors(table)(PreservedByFormat.of(written, inputs, writeConf)),
      maxRecords = maxRecords,
      untouched = work.rewrites.flatMap(_.rest).map(f => selection.indexed.of(TableIndex.idOf(table, f))),
      auto = layout.auto.map(_.report),
      density = layout.chosen.flatMap(AutoLayout.density(table, _)),
      reappeared = TableSideFolder.reappeared(table, state, scope.allFiles),
      dimensions = if (work.rewrites.isEmpty) Nil else dimensionsOf(layout),
      partitions = partitions,
      keeping = scope.folders.count(selection.files.keepsLayout(_, spec)),
      left = selection.files.left(spec, inputs.map(_.status.getPath).toSet)
    )
  }

  /** What the folders are in the catalog, if it is told of new ones. */
  private def partitionsOf(scope: Scope): Option[Map[Path, CatalogPartition]] =
    if (!context.isByCatalog) {
      scope.folders.find(f => f.path != table.root && !table.names.isBelow(f.path)).foreach { f =>
        throw ZOrderErrors.partitionOutsideTable(f.path.toString, table.root.toString)
      }
      None
    } else if (asked.fileGroups.maxCommits > 1) {
      val allowed = "'false' for a table with 'commit.mode' = 'new-location'"
      throw ZOrderErrors.invalidOptionValue(OptionTable.partialProgress.key, "true", allowed)
    } else Some(CommitMode.partitions(table, scope.folders))

  private def dimensionsOf(layout: PlannedLayout): Seq[Dimension] = layout.auto.map(_.dimensions)
    .getOrElse(layout.joins.map(DimensionRows.read(table, _, ChosenLayout.columnsOf(layout.keys))))

  /**
   * Joins ask for values of the columns that a dimension is joined by, and its attributes leave these scattered. So a
   * statement that chooses such a layout keeps them, too.
   */
  private def members(layout: PlannedLayout): Change =
    context.members match {
      case Some(named)                                              => _ => named
      case None if statement.layout.isEmpty || layout.joins.isEmpty => identity
      case None                                                     =>
        val columns = TableIndex.usableColumns(table).filter(MembershipColumns.canBe(table, _)).map(_.path).toSet
        val joined = layout.joins.map(_.spec.column).filter(columns)
        before => joined.map(_ -> MembershipKind.Values).toMap[Seq[String], MembershipKind] ++ before
    }

  /** The columns whose values the index keeps, unless the layout adds some. */
  private def membersBefore: Set[Seq[String]] =
    context.members.orElse(snapshot.map(MembershipColumns.of)).fold(Set.empty[Seq[String]])(_.keySet)

  private def scopeOfStatement: Scope = {
    val all = table.listed
    val scope = Scope(all, statement.where.fold(all)(PartitionPredicate.select(table, _, all)))
    UnsafeTables.refuse(table, scope.all, scope.folders)
    EncryptedFiles.refuseOutside(table, WriteSettings.options(table, asked))
    scope
  }

  private def layoutFor(scope: Scope): PlannedLayout = {
    val isAuto = scope.folders.nonEmpty && statement.layout.contains(LayoutClause.Auto)
    val auto = Option.when(isAuto) {
      // AUTO draws a sample, which reads the files with the table's schema. So that has to fit first.
      refuseDrift(Input.read(table, scope.files, Nil))
      AutoLayout.choose(table, scope.folders, asked, membersBefore, history)
    }
    val kept = if (statement.where.isEmpty || statement.layout.isDefined) None else writers.layoutOf(scope.folders)
    val chosen = LayoutChoice.of(table, statement.layout, asked, history, statement.joins, auto.map(_.layout), kept)
    val (predicate, bytes) = (statement.where.fold("")(_.text), scope.files.map(_.getLen).sum)
    val options = RememberedSize.of(asked, chosen.map(_.spec), predicate, bytes, history.iterator)
    PlannedLayout(chosen, options, auto)
  }

  private def selectionFor(scope: Scope, layout: PlannedLayout): Selection = {
    val indexed = new IndexedBounds(snapshot, ChosenLayout.columnsOf(layout.keys))
    val where = statement.where.map(_.text)
    val names = statement.layout.isDefined
    val files = new FileSelection(scope.folders, layout.options, statement.full, maxRecords, writers, where, names)
    val rewrites = layout.chosen match {
      case Some(chosen) =>
        val incremental = new IncrementalSelection(
          columns = chosen.columns,
          names = table.names,
          snapshot = snapshot,
          indexed = indexed,
          options = layout.options,
          limited = maxRecords > 0,
          read = files =>
            Input.read(table, files, ChosenLayout.ofFiles(chosen.keys)).map(input => chosen.columns.map(input.bounds))
        )
        files.clustered(chosen.spec, incremental)
      case None => files.packed
    }
    if (statement.layout.isDefined && scope.allFiles.size == 1 && rewrites.map(_.outputFiles).sum == 1)
      throw ZOrderErrors.singleFile(table.name)
    Selection(files, rewrites, indexed)
  }

  /** Reads the footers of the selected files and settles which rewrites are worth their while. */
  private def workOf(selection: Selection, layout: PlannedLayout): Work = {
    val selected = selection.rewrites.flatMap(_.files)
    val read = Input.read(table, selected, ChosenLayout.ofFiles(layout.keys), withTraits = true)
    val useful =
      if (layout.chosen.isDefined) selection.rewrites
      else {
        val rows = read.map(i => i.status.getPath -> i.footer.rows).toMap
        selection.files.withOtherNumber(selection.rewrites, rows)
      }
    val rewrites = layout.options.fileGroups.split(useful)
    val isRewritten = rewrites.flatMap(_.files.map(_.getPath)).toSet
    Work(rewrites, read.filter(i => isRewritten(i.status.getPath)))
  }

  /** The table with the columns that the new files get, if the inputs can be rewritten at all. */
  private def tableToWrite(work: Work, layout: PlannedLayout): PlainTable = {
    if (work.rewrites.nonEmpty)
      EncryptedFiles.refuseBefore(table, WriteSettings.options(table, layout.options), work.inputs)
    refuseDrift(work.inputs)
    val written = MissingColumns.leftOut(table, work.inputs, layout.columnsRead.map(_.head).toSet, footerSettings)
    FreeSpace.refuse(table, work.rewrites.map(r => r.folder.path -> r.files.map(_.getLen).sum))
    if (!layout.options.allowNanosecondLoss) refuseNanoseconds(work.inputs)
    refuseAmbiguousClocks(work.inputs)
    written
  }

  private def refuseDrift(inputs: Seq[Input]): Unit = {
    PartitionColumns.refuseInSomeFiles(table, inputs.map(_.footer), footerSettings)
    UnsafeTables.refuseCalendar(table, inputs.map(_.footer))
    SchemaCheck.exactlyReadable(table.dataSchema, inputs.map(_.footer), footerSettings)
      .left.foreach(drift => throw DriftedException(drift))
  }

  private def refuseNanoseconds(inputs: Seq[Input]): Unit =
    Nanoseconds.first(table.session, inputs.map(i => i.status -> i.footer)).foreach { found =>
      throw ZOrderErrors.nanoseconds(found.path, found.column, OptionTable.allowNanosecondLoss.key)
    }

  private def refuseAmbiguousClocks(inputs: Seq[Input]): Unit =
    AmbiguousClocks.first(table.session, inputs.map(i => i.status -> i.footer)).foreach { case (path, clock) =>
      throw ZOrderErrors.ambiguousClock(path, clock.column, clock.zone.getId, clock.twice)
    }

  private def footerSettings: FooterSettings = FooterSettings.of(table.session.sessionState.conf)
}

private object PlanningSteps {

  /**
   * What the statement is about.
   *
   * @param all folders of the table
   * @param folders of the partitions that the statement asks for
   */
  private final case class Scope(all: Seq[DataFolder], folders: Seq[DataFolder]) {
    def allFiles: Seq[FileStatus] = all.flatMap(_.files)
    def files: Seq[FileStatus] = folders.flatMap(_.files)
  }

  /**
   * @param chosen None for packing
   * @param options with the remembered size
   * @param auto the choice of AUTO, if the statement asks for it
   */
  private final case class PlannedLayout(
      chosen: Option[ChosenLayout],
      options: OptimizeOptions,
      auto: Option[AutoChoice]
  ) {
    def keys: Seq[KeyColumn] = chosen.toSeq.flatMap(_.keys)
    def joins: Seq[DimensionJoin] = chosen.toSeq.flatMap(_.joins)

    /** Paths of the files' columns that decide where a row goes. */
    def columnsRead: Seq[Seq[String]] = keys.filter(_.isOfFiles).map(_.path) ++ joins.map(_.spec.column)
  }

  /** The rewrites that were selected by what is known without the files' footers. */
  private final case class Selection(files: FileSelection, rewrites: Seq[Rewrite], indexed: IndexedBounds)

  /** The rewrites to do, with the files that they read. */
  private final case class Work(rewrites: Seq[Rewrite], inputs: Seq[Input])
}
