package org.sparkzorder.optimize

import java.io.IOException

import org.apache.hadoop.security.UserGroupInformation
import org.apache.spark.SparkException

import org.sparkzorder.commit._
import org.sparkzorder.errors.ZOrderRuntimeException
import org.sparkzorder.footer.Encryption
import org.sparkzorder.indexing.{ExcludedColumns, TableIndex}
import org.sparkzorder.layout.{CurveInterval, LayoutModel, LayoutShape}
import org.sparkzorder.statement.OptimizeStatement
import org.sparkzorder.stats.{ColumnKey, FileId}
import org.sparkzorder.table.TableSideFolder
import org.sparkzorder.write.{FileTask, RewriteJob, RewriteJobs, RewriteResult, RewriteUnit, RowSum}

/** @param written files that are new */
private[sparkzorder] final case class Published(version: Long, result: RewriteResult, written: Seq[FileId])

/** One exchange of files for an OPTIMIZE, which is a version of the table. */
private[sparkzorder] final class OptimizeOperation(statement: OptimizeStatement) {

  /**
   * Writes, validates and publishes the plan's rewrites; all or nothing.
   *
   * @param groups the same rewrites, those together that are one job
   */
  def run(plan: OptimizePlan, groups: Seq[Seq[Rewrite]], lock: Lock): Published = {
    val table = plan.table
    val folder = TableSideFolder.of(table)
    val committer = new Committer(folder, lock, history = TableSideFolder.historySettings(table))
    val published =
      try {
        committer.stage(plan.rewrites.map(folderOf(plan, _)).distinct.sorted)
        val snapshot = TableIndex.of(table, folder)
        val result = rewrite(plan, groups, folder, lock.operationId, TableIndex.columnsOf(table, snapshot))
        val encryption = validate(plan, result)
        result.outputs.groupBy(_.unit).foreach { case (unit, outputs) =>
          folder.ops.adoptRights(outputs.map(_.path), plan.rewrites(unit).files.map(_.getPath))
        }
        val names = result.outputs.map(o => o -> finalName(plan, o.unit, o.path.getName))
        val outputs = names.map { case (o, name) => OutputFile(name, o.length, o.modificationTime, o.rows) }
        val prepared = committer.prepare(
          recordOf(
            plan,
            lock.operationId,
            outputs,
            metrics(plan, result, groups.size).copy(rowHash = rowHash(plan, result, encryption))
          ),
          names.map { case (o, n) => n -> o.path }.toMap
        )
        // Entries of the inputs stay until the next change of the index: the operation may still be undone.
        val added = names.map { case (o, n) =>
          FileId(n, o.length, o.modificationTime) -> EncryptedFiles.shown(o.stats, encryption)
        }
        // Frames hold sampled values of the keys: there are none where one of them is hidden.
        val placed =
          if (plan.keys.exists(key => encryption.hides(key.path))) Map.empty[FileId, CurveInterval]
          else names.flatMap { case (o, n) => o.interval.map(FileId(n, o.length, o.modificationTime) -> _) }.toMap
        TableIndex.add(table, folder, lock, snapshot, plan.listed, added, placed, plan.kept.namesInAnyCase)
        Published(prepared.version, result, added.map(_._1))
      } catch {
        case e: Throwable =>
          val overwritten = gone(committer, e)
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
    committer.commit()
    table.refreshCaches()
    published
  }

  /** Folders that were overwritten, if that may be why it failed: a task finds its folder gone, or a look at a file does. */
  private def gone(committer: Committer, e: Throwable): Seq[String] = e match {
    case _: IOException | _: SparkException | _: ZOrderRuntimeException =>
      try committer.overwritten()
      catch { case _: IOException => Nil }
    case _ => Nil
  }

  /** Relative to the root, "" being the root. */
  private def folderOf(plan: OptimizePlan, rewrite: Rewrite): String =
    if (rewrite.folder.path == plan.table.root) "" else plan.table.names.of(rewrite.folder.path)

  private def rewrite(
      plan: OptimizePlan,
      groups: Seq[Seq[Rewrite]],
      folder: TableFolder,
      operationId: String,
      indexed: Seq[ColumnKey]
  ): RewriteResult = {
    val rows = plan.inputs.map(i => i.status.getPath -> i.footer.rows).toMap
    val outputFiles = plan.rewrites.map(_.outputFiles.toLong).sum
    val jobs = groups.zipWithIndex.map { case (group, i) =>
      val units = group.map { r =>
        val staging = folder.stagingOf(folderOf(plan, r), operationId)
        RewriteUnit(r.files.map(f => f -> rows(f.getPath)), r.outputFiles, r.placement, Some(staging))
      }
      val share = group.map(_.outputFiles.toLong).sum.toDouble / outputFiles
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
          s"OPTIMIZE ${plan.table.name}" + (if (groups.size == 1) "" else s", group ${i + 1} of ${groups.size}"),
        shape = plan.layout.fold(LayoutShape.Packed)(LayoutShape.of),
        sampleRows = plan.options.sampleRows.map(n => math.max(1L, (n * share).toLong)),
        bytes = plan.layout.flatMap(_.bytes),
        maxRecords = plan.maxRecords,
        density = plan.density
      )
    }
    RewriteJobs.run(plan.table.session, jobs, plan.options.fileGroups.maxConcurrentRewrites)
  }

  private def writeOptions(plan: OptimizePlan, units: Seq[RewriteUnit], model: LayoutModel): Map[String, String] = {
    val format = plan.table.formatName
    // What the statement says of Bloom filters is all that counts.
    val blooms = plan.bloomFilters.writeOptions(format, units, plan.keys)(model)
    val ofInputs =
      if (plan.options.bloomFilters.isDefined) Map.empty[String, String]
      else BloomFilters.settings(format, plan.kept.bloomFilters)
    plan.kept.spelled(plan.kept.options ++ ofInputs ++ plan.writeOptions ++ blooms)
  }

  /** The outputs have the rows of the inputs, and what was encrypted still is. Returns what is. */
  private def validate(plan: OptimizePlan, result: RewriteResult): Encryption = {
    val footers =
      OptimizePlanner.footersOf(plan.table, result.outputs.map(o => plan.table.fileSystem.getFileStatus(o.path)))
    SameRows.check(plan, result, footers.map(_.rows))
    EncryptedFiles.refuseAfter(plan.inputs, footers)
    footers.map(_.encryption).foldLeft(Encryption.none)(_ ++ _)
  }

  /** None where values are hidden: with a guess of the row in hand, a hash of few rows would tell. */
  private def rowHash(plan: OptimizePlan, result: RewriteResult, encryption: Encryption): Option[String] =
    Option.when(encryption.isNone && ExcludedColumns.names(plan.table).names.isEmpty)(
      RowSum.of(result.written).hex
    )

  private def finalName(plan: OptimizePlan, unit: Int, stagedName: String): String = {
    val folder = folderOf(plan, plan.rewrites(unit))
    val name = stagedName.stripSuffix(FileTask.Suffix)
    if (folder.isEmpty) name else s"$folder/$name"
  }

  private def recordOf(
      plan: OptimizePlan,
      operationId: String,
      outputs: Seq[OutputFile],
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
    outputs = outputs,
    layout = plan.layout.map(_.json)
  )

  private def reappeared(plan: OptimizePlan): Map[String, String] =
    if (plan.reappeared.isEmpty) Map.empty else Map("numReappearedFiles" -> plan.reappeared.size.toString)

  private def parameters(plan: OptimizePlan): Map[String, String] = {
    val mapper = new com.fasterxml.jackson.databind.ObjectMapper()
    val zOrderBy = mapper.createArrayNode()
    plan.keys.foreach(k => zOrderBy.add(k.path.mkString(".")))
    Map(
      "predicate" -> statement.where.getOrElse(""),
      "zOrderBy" -> mapper.writeValueAsString(zOrderBy),
      "isFull" -> statement.full.toString
    ) ++ plan.auto.map("auto" -> _.layout) ++ plan.options.asGiven ++
      plan.layout.fold(Map.empty[String, String])(MappingOptions.parameters) ++
      Map(OptimizeOptions.retainHoursKey -> plan.options.retainHours.toString)
  }

  def metrics(plan: OptimizePlan, result: RewriteResult, groups: Int): OptimizeMetrics = OptimizeMetrics(
    added = result.outputs.map(_.length),
    removed = plan.inputs.map(_.status.getLen),
    considered = plan.considered,
    partitions = plan.rewrites.map(_.folder.path).distinct.size.toLong,
    batches = groups.toLong,
    clustered = plan.keys.nonEmpty,
    version = 0,
    clustering = Nil,
    strategy = OptimizeStrategy.of(plan, result),
    auto = plan.auto
  )
}
