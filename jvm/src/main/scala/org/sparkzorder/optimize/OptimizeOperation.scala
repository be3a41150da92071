package org.sparkzorder.optimize

import java.io.IOException
import java.util.UUID

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.hadoop.security.UserGroupInformation
import org.apache.spark.SparkException
import org.apache.spark.internal.Logging

import org.sparkzorder.commit._
import org.sparkzorder.errors.ZOrderRuntimeException
import org.sparkzorder.footer.{DataFormat, Encryption, Footers}
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.indexing.{CompleteFiles, ExcludedColumns, TableIndex}
import org.sparkzorder.layout.{CurveInterval, LayoutModel, LayoutShape}
import org.sparkzorder.progress.StatementProgress
import org.sparkzorder.statement.OptimizeStatement
import org.sparkzorder.stats.{ColumnKey, FileId}
import org.sparkzorder.table.{SessionCatalogLocations, TableSideFolder}
import org.sparkzorder.write._

import OptimizeOperation._

/**
 * A committed operation of an OPTIMIZE.
 *
 * @param version of the table that it made
 * @param written the files that it added
 */
private[sparkzorder] final case class Published(version: Long, result: RewriteResult, written: Seq[FileId])

/** Exchanges files of a table for rewritten ones, as one version of the table. */
private[sparkzorder] final class OptimizeOperation(statement: OptimizeStatement) extends Logging {

  /**
   * Writes, checks and publishes the rewrites of a plan, either all of them or none.
   *
   * @param groups the plan's rewrites; those of a group are one job
   */
  def run(plan: OptimizePlan, groups: Seq[Seq[Rewrite]], lock: Lock): Published = {
    val folder = TableSideFolder.of(plan.table)
    (plan.slots, ObjectFileOps.storeOf(folder)) match {
      case (Some(slots), _)    => runByCatalog(plan, groups, folder, lock, slots)
      case (None, Some(store)) => runOnStore(plan, groups, folder, lock, store)
      case (None, None)        => runByRenames(plan, groups, folder, lock)
    }
  }

  /** The new files are in their places before the catalog is told, so the index can name them. */
  private def runByCatalog(
      plan: OptimizePlan,
      groups: Seq[Seq[Rewrite]],
      folder: TableFolder,
      lock: Lock,
      slots: Map[Path, Slot]
  ): Published = {
    val table = plan.table
    val committer = new CatalogCommitter(
      folder,
      lock,
      new SessionCatalogLocations(table),
      CompleteFiles.rowsOf(table),
      TableSideFolder.historySettings(table)
    )
    val (record, result, written) =
      try {
        val generation = GenerationFolder.of(folder.root, plan.version + 1, lock.operationId)
        val folders = plan.rewrites.map(_.folder).distinctBy(_.path)
        val slotFolders = folders.map(f => f.path -> SessionCatalogLocations.folderOf(slots(f.path))).toMap
        val moves = folders.map { f =>
          f.path -> Move(slots(f.path), f.path, GenerationFolder.slot(generation, slotFolders(f.path)))
        }.toMap
        committer.begin(folders.map(f => moves(f.path)), Some(generation))
        val stagings = folders.map { f =>
          f.path -> CatalogOutputs.staging(folder, generation, slotFolders(f.path), lock.operationId)
        }.toMap
        val snapshot = TableIndex.of(table, folder)
        val store = ObjectFileOps.storeOf(folder)
        val columns = TableIndex.columnsOf(table, snapshot)
        val result =
          rewrite(plan, groups, folder, lock.operationId, columns, store, Some(r => stagings(r.folder.path)))
        StatementProgress.current.foreach(_.stepTo("checking"))
        if (store.isEmpty) result.outputs.groupBy(_.unit).foreach { case (unit, outputs) =>
          folder.ops.adoptRights(outputs.map(_.path), plan.rewrites(unit).files.map(_.getPath))
        }
        val placed = CatalogOutputs.place(
          folder,
          lock,
          generation,
          result.outputs.map { o =>
            val to = moves(plan.rewrites(o.unit).folder.path).to
            val name = o.path.getName.stripSuffix(FileTask.Suffix)
            GenerationOutput(o.path, o.upload.map(u => OpenUpload(u.id, u.parts)), to, name)
          }
        )
        val encryption = check(plan, result, placed.map(statusOf))
        val newFiles = result.outputs.zip(placed).map { case (o, m) =>
          val name = table.names.of(m.path)
          NewFile(o, name, published = Some(FileId(name, m.length, m.modificationTime)))
        }
        val parts = new CatalogParts(table, committer, plan)
        val switches = folders.map { f =>
          val outputs = result.outputs.zip(placed).filter { case (o, _) => plan.rewrites(o.unit).folder.path == f.path }
          parts.switch(f, moves(f.path), outputs.map { case (o, m) => m -> o.rows })
        }
        addToIndex(plan, folder, lock, snapshot, newFiles, encryption, parts.copies)
        val metricsOfRecord = metrics(plan, result, groups.size).copy(rowHash = rowHash(plan, result, encryption))
        val record = recordOf(plan, lock.operationId, Nil, metricsOfRecord).copy(inputs = Nil, switches = switches)
        (record, result, newFiles.map(_.id))
      } catch {
        case e: Throwable =>
          committer.abort()
          throw e
      }
    StatementProgress.current.foreach(_.stepTo("publishing"))
    try {
      val published = committer.commit(record)
      Published(published.version, result, written)
    } catch {
      case e: Throwable =>
        committer.abort()
        throw e
    } finally table.refreshCaches()
  }

  private def statusOf(m: FileMeta): FileStatus = new FileStatus(m.length, false, 1, 0L, m.modificationTime, m.path)

  /**
   * On an object store the new files get their time stamps when they are published, so the index
   * follows that.
   */
  private def runOnStore(
      plan: OptimizePlan,
      groups: Seq[Seq[Rewrite]],
      folder: TableFolder,
      lock: Lock,
      store: ObjectStore
  ): Published = {
    val committer = new ObjectCommitter(store, folder, lock.operationId, () => lock.checkInARow(), folder.threads)
    val (snapshot, result, newFiles) =
      try {
        EncryptedFiles.refuseOnStore(plan.inputs)
        committer.mark(plan.rewrites.map(folderOf(plan, _)).distinct.sorted)
        val snapshot = TableIndex.of(plan.table, folder)
        val columns = TableIndex.columnsOf(plan.table, snapshot)
        val result = rewrite(plan, groups, folder, lock.operationId, columns, Some(store))
        StatementProgress.current.foreach(_.stepTo("checking"))
        SameRows.check(plan, result, result.outputs.map(_.rows))
        val newFiles = result.outputs.map(o => NewFile(o, finalName(plan, o)))
        val metricsOfRecord =
          metrics(plan, result, groups.size).copy(rowHash = rowHash(plan, result, Encryption.none))
        committer.prepare(
          recordOf(plan, lock.operationId, newFiles, metricsOfRecord),
          keepsRetired = plan.options.retainHours > 0
        )
        (snapshot, result, newFiles)
      } catch {
        case e: Throwable =>
          committer.abort()
          throw e
      }
    StatementProgress.current.foreach(_.stepTo("publishing"))
    val record = committer.commit()
    val written = record.outputs.map(o => o.path -> FileId(o.path, o.length, o.modificationTime)).toMap
    val published = newFiles.flatMap(f => written.get(f.name).map(id => f.copy(published = Some(id))))
    // The rows are in place. Without statistics queries read the new files.
    try addToIndex(plan, folder, lock, snapshot, published, Encryption.none)
    catch {
      case e @ (_: IOException | _: CommitException) =>
        logWarning(s"No statistics of the new files of ${plan.table.name}", e)
    }
    committer.tidy(lock, TableSideFolder.historySettings(plan.table))
    plan.table.refreshCaches()
    Published(record.version, result, published.map(_.id))
  }

  private def runByRenames(
      plan: OptimizePlan,
      groups: Seq[Seq[Rewrite]],
      folder: TableFolder,
      lock: Lock
  ): Published = {
    val committer = new Committer(folder, lock, history = TableSideFolder.historySettings(plan.table))
    val published =
      try prepare(plan, groups, folder, lock, committer)
      catch {
        case e: Throwable =>
          val overwritten = overwrittenFolders(committer, e)
          committer.abort()
          if (overwritten.isEmpty) throw e
          val conflict =
            new CommitConflictException(
              overwritten.map(d => if (d.isEmpty) "." else d),
              "the folder was overwritten"
            )
          conflict.addSuppressed(e)
          throw conflict
      }
    StatementProgress.current.foreach(_.stepTo("publishing"))
    committer.commit()
    plan.table.refreshCaches()
    published
  }

  /** Everything up to the commit point. */
  private def prepare(
      plan: OptimizePlan,
      groups: Seq[Seq[Rewrite]],
      folder: TableFolder,
      lock: Lock,
      committer: Committer
  ): Published = {
    committer.stage(plan.rewrites.map(folderOf(plan, _)).distinct.sorted)
    val snapshot = TableIndex.of(plan.table, folder)
    val result = rewrite(plan, groups, folder, lock.operationId, TableIndex.columnsOf(plan.table, snapshot))
    StatementProgress.current.foreach(_.stepTo("checking"))
    val encryption = check(plan, result)
    result.outputs.groupBy(_.unit).foreach { case (unit, outputs) =>
      folder.ops.adoptRights(outputs.map(_.path), plan.rewrites(unit).files.map(_.getPath))
    }
    val newFiles = result.outputs.map(o => NewFile(o, finalName(plan, o)))
    val metricsOfRecord =
      metrics(plan, result, groups.size).copy(rowHash = rowHash(plan, result, encryption))
    val prepared = committer.prepare(
      recordOf(plan, lock.operationId, newFiles, metricsOfRecord),
      newFiles.map(f => f.name -> f.staged.path).toMap
    )
    addToIndex(plan, folder, lock, snapshot, newFiles, encryption)
    Published(prepared.version, result, newFiles.map(_.id))
  }

  /**
   * Adds the statistics of the new files to the index. Those of the inputs stay in it until its
   * next change, since the operation may still be undone.
   */
  private def addToIndex(
      plan: OptimizePlan,
      folder: TableFolder,
      lock: Lock,
      snapshot: Option[IndexSnapshot],
      newFiles: Seq[NewFile],
      encryption: Encryption,
      copied: Map[FileId, FileId] = Map.empty
  ): Unit = {
    val statistics = newFiles.map(f => f.id -> EncryptedFiles.shown(f.staged.stats, encryption))
    // The frame of a curve holds sampled values of all keys, so it must not be stored if one of
    // them is encrypted.
    val intervals =
      if (plan.keys.exists(key => encryption.hides(key.path))) Map.empty[FileId, CurveInterval]
      else newFiles.flatMap(f => f.staged.interval.map(f.id -> _)).toMap
    TableIndex.add(
      plan.table,
      folder,
      lock,
      snapshot,
      plan.listed,
      statistics,
      intervals,
      namesInAnyCase = plan.kept.namesInAnyCase,
      copied = copied
    )
  }

  /**
   * The folders that somebody overwrote, if that may be why the operation failed. A task then does
   * not find its staging folder, or a look at a file fails.
   */
  private def overwrittenFolders(committer: Committer, e: Throwable): Seq[String] = e match {
    case _: IOException | _: SparkException | _: ZOrderRuntimeException =>
      try committer.overwritten()
      catch { case _: IOException => Nil }
    case _ => Nil
  }

  private def rewrite(
      plan: OptimizePlan,
      groups: Seq[Seq[Rewrite]],
      folder: TableFolder,
      operationId: String,
      indexed: Seq[ColumnKey],
      store: Option[ObjectStore] = None,
      stagingOf: Option[Rewrite => Path] = None
  ): RewriteResult =
    RewriteJobs.run(
      plan.table.session,
      jobs(plan, groups, folder, operationId, indexed, store, stagingOf),
      plan.options.fileGroups.maxConcurrentRewrites
    )

  /** Predicts what the rewrites of a plan would write. Nothing is written. */
  def predict(plan: OptimizePlan, groups: Seq[Seq[Rewrite]]): Seq[RewritePrediction] =
    jobs(plan, groups, TableSideFolder.of(plan.table), UUID.randomUUID().toString, Nil).map(_.predict())

  private def jobs(
      plan: OptimizePlan,
      groups: Seq[Seq[Rewrite]],
      folder: TableFolder,
      operationId: String,
      indexed: Seq[ColumnKey],
      store: Option[ObjectStore] = None,
      stagingOf: Option[Rewrite => Path] = None
  ): Seq[RewriteJob] = {
    val rows = plan.inputs.map(i => i.status.getPath -> i.footer.rows).toMap
    val outputFiles = plan.rewrites.map(_.outputFiles.toLong).sum
    groups.zipWithIndex.map { case (group, i) =>
      val units = group.map { r =>
        val staging = stagingOf.map(_(r)).getOrElse {
          val dir = folderOf(plan, r)
          store.fold(folder.stagingOf(dir, operationId))(folder.uploadsOf(dir, operationId, _))
        }
        RewriteUnit(r.files.map(f => f -> rows(f.getPath)), r.outputFiles, r.placement, Some(staging))
      }
      val shareOfSample = group.map(_.outputFiles.toLong).sum.toDouble / outputFiles
      new RewriteJob(
        spark = plan.table.session,
        format = plan.table.relation.fileFormat,
        dataSchema = plan.table.dataSchema,
        readOptions = plan.table.relation.options,
        writeOptions = model => writeOptions(plan, units, model),
        kept = plan.kept.files,
        sessionConf = plan.writeConf,
        units = units,
        keys = plan.keys,
        stagingDir = folder.stagingOf("", operationId),
        indexed = indexed,
        description =
          s"OPTIMIZE ${plan.table.target.title}" + (if (groups.size == 1) ""
                                                    else s", group ${i + 1} of ${groups.size}"),
        shape = plan.layout.fold(LayoutShape.Packed)(LayoutShape.of),
        sampleRows = plan.options.sampleRows.map(n => math.max(1L, (n * shareOfSample).toLong)),
        bytes = plan.layout.flatMap(_.bytes),
        maxRecords = plan.maxRecords,
        density = plan.density,
        uploadsOf = store.map(_ => operationId)
      )
    }
  }

  private def writeOptions(plan: OptimizePlan, units: Seq[RewriteUnit], model: LayoutModel): Map[String, String] = {
    val format = plan.table.formatName
    val ofStatement = plan.bloomFilters.writeOptions(format, units, plan.keys)(model)
    // The Bloom filters of the inputs are kept only if the statement says nothing about Bloom
    // filters.
    val ofInputs =
      if (plan.options.bloomFilters.isDefined) Map.empty[String, String]
      else BloomFilters.settings(format, plan.kept.bloomFilters)
    plan.kept.spelled(plan.kept.options ++ ofInputs ++ plan.writeOptions ++ ofStatement)
  }

  /**
   * Checks that the new files have the rows of the inputs, and that what was encrypted still is.
   *
   * @return what is encrypted in the new files
   */
  private def check(plan: OptimizePlan, result: RewriteResult): Encryption =
    check(plan, result, result.outputs.map(o => plan.table.fileSystem.getFileStatus(o.path)))

  /** @param files the new files, in the order of the outputs */
  private def check(plan: OptimizePlan, result: RewriteResult, files: Seq[FileStatus]): Encryption = {
    val table = plan.table
    val footers = Footers.readAll(table.session, files, DataFormat.of(table.formatName).get, table.dataSchema, Nil)
    SameRows.check(plan, result, footers.map(_.rows))
    EncryptedFiles.refuseAfter(plan.inputs, footers)
    footers.map(_.encryption).foldLeft(Encryption.none)(_ ++ _)
  }

  /**
   * The hash of all rewritten rows for the history. There is none if some values must stay hidden:
   * somebody who guesses the values of a few rows could test the guess by it.
   */
  private def rowHash(plan: OptimizePlan, result: RewriteResult, encryption: Encryption): Option[String] =
    Option.when(encryption.isNone && ExcludedColumns.names(plan.table).names.isEmpty)(
      RowSum.of(result.written).hex
    )

  private def recordOf(
      plan: OptimizePlan,
      operationId: String,
      newFiles: Seq[NewFile],
      metrics: OptimizeMetrics
  ): Record = Record(
    version = 0,
    operationId = operationId,
    operation = "OPTIMIZE",
    timestamp = System.currentTimeMillis(),
    userId = UserGroupInformation.getCurrentUser.getShortUserName,
    parameters = parameters(plan),
    metrics = metrics.history ++ reappeared(plan) ++ plan.kept.history,
    inputs = plan.inputs.map { i =>
      InputFile(plan.table.names.of(i.status.getPath), i.status.getLen, i.status.getModificationTime, i.footer.rows)
    },
    outputs = newFiles.map(_.output),
    layout = plan.layout.map(_.json)
  )

  private def reappeared(plan: OptimizePlan): Map[String, String] =
    if (plan.reappeared.isEmpty) Map.empty else Map("numReappearedFiles" -> plan.reappeared.size.toString)

  private def parameters(plan: OptimizePlan): Map[String, String] = {
    val mapper = new ObjectMapper()
    val zOrderBy = mapper.createArrayNode()
    plan.keys.foreach(k => zOrderBy.add(k.path.mkString(".")))
    Map(
      "predicate" -> statement.where.getOrElse(""),
      "zOrderBy" -> mapper.writeValueAsString(zOrderBy),
      "isFull" -> statement.full.toString
    ) ++ plan.auto.map("auto" -> _.layout) ++ plan.options.asGiven ++
      plan.layout.fold(Map.empty[String, String])(MappingOptions.parameters) ++
      Map(OptionTable.retainHours.key -> plan.options.retainHours.toString) ++
      plan.slots.map(_ => OptionTable.publish.key -> OptionTable.ByCatalog)
  }

  /** @param groups how many file groups were rewritten */
  def metrics(plan: OptimizePlan, result: RewriteResult, groups: Int): OptimizeMetrics = OptimizeMetrics(
    added = result.outputs.map(_.length),
    removed = plan.inputs.map(_.status.getLen),
    considered = plan.considered,
    partitions = plan.rewrites.map(_.folder.path).distinct.size.toLong,
    batches = groups.toLong,
    clustered = plan.keys.nonEmpty,
    version = 0,
    clustering = Nil,
    strategy = OptimizeStrategy.of(plan, result.samples, result.drifts),
    auto = plan.auto,
    target = plan.options.writtenSize,
    untouched = plan.filesBeside,
    elsewhere = plan.filesElsewhere,
    millis = Some(result.sampleMillis + result.writeMillis)
  )
}

private[sparkzorder] object OptimizeOperation {

  /**
   * A file that is written but not yet published.
   *
   * @param name its later name, relative to the table's root
   * @param published the file, once it is published
   */
  private final case class NewFile(staged: StagedFile, name: String, published: Option[FileId] = None) {
    def id: FileId = published.getOrElse(FileId(name, staged.length, staged.modificationTime))
    def output: OutputFile = OutputFile(
      name,
      staged.length,
      staged.modificationTime,
      staged.rows,
      upload = staged.upload.map(u => OpenUpload(u.id, u.parts))
    )
  }

  private def finalName(plan: OptimizePlan, staged: StagedFile): String = {
    val folder = folderOf(plan, plan.rewrites(staged.unit))
    val name = staged.path.getName.stripSuffix(FileTask.Suffix)
    if (folder.isEmpty) name else s"$folder/$name"
  }

  /** The folder of a rewrite relative to the table's root; empty for the root itself. */
  private def folderOf(plan: OptimizePlan, rewrite: Rewrite): String =
    if (rewrite.folder.path == plan.table.root) "" else plan.table.names.of(rewrite.folder.path)
}
