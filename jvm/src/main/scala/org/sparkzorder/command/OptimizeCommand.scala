package org.sparkzorder.command

import java.util.UUID

import org.apache.hadoop.security.UserGroupInformation
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types.{StringType, StructType}

import org.sparkzorder.commit._
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.Encryption
import org.sparkzorder.layout.{CurveInterval, LayoutShape}
import org.sparkzorder.parser.OptimizeStatement
import org.sparkzorder.stats.{ColumnKey, FileId}
import org.sparkzorder.write.{FileTask, RewriteJob, RewriteResult, RewriteUnit}

/** `OPTIMIZE`: rewrites files of a table along a curve, or packs small ones, and exchanges them in one operation. */
final case class OptimizeCommand(statement: OptimizeStatement) extends LeafRunnableCommand {

  override val output: Seq[Attribute] = toAttributes(OptimizeCommand.schema)

  override def run(session: SparkSession): Seq[Row] = {
    val first = OptimizePlanner.resolve(session, statement)
    Operations.recover(first)
    val plan = OptimizePlanner.plan(session, statement)
    val metrics =
      if (plan.rewrites.isEmpty) nothing(plan)
      else {
        val operationId = UUID.randomUUID().toString
        Operations.locked(plan.table, "OPTIMIZE", operationId) { lock =>
          // Somebody may have finished an operation since we listed: then the plan is about files that are gone.
          val current =
            if (Operations.version(plan.table) == plan.version) plan else OptimizePlanner.plan(session, statement)
          if (current.rewrites.isEmpty) nothing(current) else execute(current, lock)
        }
      }
    Seq(Row(plan.table.root.toString, metrics.row))
  }

  private def nothing(plan: OptimizePlan): OptimizeMetrics =
    OptimizeMetrics(
      Nil,
      Nil,
      plan.considered,
      0,
      clustered = false,
      plan.version,
      Nil,
      OptimizeStrategy.nothing,
      plan.auto
    )

  private def execute(plan: OptimizePlan, lock: Lock): OptimizeMetrics = {
    val table = plan.table
    val folder = Operations.folder(table)
    val committer = new Committer(folder, lock)
    val (record, metrics) =
      try {
        val snapshot = TableIndex.of(table, folder)
        val result = rewrite(plan, folder, lock.operationId, TableIndex.columnsOf(table, snapshot))
        val encryption = validate(plan, result)
        result.outputs.groupBy(_.unit).foreach { case (unit, outputs) =>
          folder.ops.adoptRights(outputs.map(_.path), plan.rewrites(unit).files.map(_.getPath))
        }
        val names = result.outputs.map(o => o -> finalName(plan, o.unit, o.path.getName))
        val outputs = names.map { case (o, name) => OutputFile(name, o.length, o.modificationTime, o.rows) }
        val metrics = metricsOf(plan, result)
        val prepared = committer.prepare(
          recordOf(plan, lock.operationId, outputs, metrics),
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
        TableIndex.add(table, folder, lock, snapshot, plan.listed, added, placed)
        (prepared, metrics)
      } catch {
        case e: Throwable =>
          committer.abort()
          throw e
      }
    committer.commit()
    table.refreshCaches()
    metrics.copy(version = record.version)
  }

  private def rewrite(
      plan: OptimizePlan,
      folder: TableFolder,
      operationId: String,
      indexed: Seq[ColumnKey]
  ): RewriteResult = {
    val rows = plan.inputs.map(i => i.status.getPath -> i.footer.rows).toMap
    val units =
      plan.rewrites.map(r => RewriteUnit(r.files.map(f => f -> rows(f.getPath)), r.outputFiles, r.placement))
    new RewriteJob(
      spark = plan.table.session,
      format = plan.table.relation.fileFormat,
      dataSchema = plan.table.dataSchema,
      readOptions = plan.table.relation.options,
      writeOptions =
        model => plan.writeOptions ++ plan.bloomFilters.writeOptions(plan.table.formatName, units, plan.keys)(model),
      sessionConf = plan.writeConf,
      units = units,
      keys = plan.keys,
      stagingDir = folder.jobStaging(operationId),
      indexed = indexed,
      description = s"OPTIMIZE ${plan.table.name}",
      shape = plan.layout.fold(LayoutShape.Packed)(LayoutShape.of),
      sampleRows = plan.options.sampleRows,
      bytes = plan.layout.flatMap(_.bytes),
      maxRecords = plan.maxRecords,
      density = plan.density
    ).run()
  }

  /**
   * Rows by our count of what was written = rows that the inputs' footers tell = rows that the outputs' footers tell, and
   * what was encrypted still is. Returns what is.
   */
  private def validate(plan: OptimizePlan, result: RewriteResult): Encryption = {
    val read = plan.inputs.map(_.footer.rows).sum
    val written = result.outputs.map(_.rows).sum
    if (read != written) throw ZOrderErrors.rowCountMismatch(plan.table.name, read, written)
    val footers =
      OptimizePlanner.footersOf(plan.table, result.outputs.map(o => plan.table.fileSystem.getFileStatus(o.path)))
    val onDisk = footers.map(_.rows).sum
    if (onDisk != written) throw ZOrderErrors.rowCountMismatch(plan.table.name, read, onDisk)
    EncryptedFiles.refuseAfter(plan.inputs, footers)
    footers.map(_.encryption).foldLeft(Encryption.none)(_ ++ _)
  }

  private def finalName(plan: OptimizePlan, unit: Int, stagedName: String): String = {
    val folder = plan.table.names.of(plan.rewrites(unit).folder.path)
    val name = stagedName.stripSuffix(FileTask.Suffix)
    if (plan.rewrites(unit).folder.path == plan.table.root) name else s"$folder/$name"
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
    metrics = metrics.history,
    inputs = plan.inputs.map { i =>
      InputFile(plan.table.names.of(i.status.getPath), i.status.getLen, i.status.getModificationTime, i.footer.rows)
    },
    outputs = outputs,
    layout = plan.layout.map(_.json)
  )

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

  private def metricsOf(plan: OptimizePlan, result: RewriteResult): OptimizeMetrics = OptimizeMetrics(
    added = result.outputs.map(_.length),
    removed = plan.inputs.map(_.status.getLen),
    considered = plan.considered,
    partitions = plan.rewrites.map(_.folder.path).distinct.size.toLong,
    clustered = plan.keys.nonEmpty,
    version = 0,
    clustering = OptimizePlanner.clustering(plan, result),
    strategy = OptimizeStrategy.of(plan, result),
    auto = plan.auto
  )
}

object OptimizeCommand {
  val schema: StructType = new StructType()
    .add("path", StringType, nullable = false)
    .add("metrics", OptimizeMetrics.schema, nullable = false)
}
