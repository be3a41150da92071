package org.sparkzorder.optimize.run

import java.util.UUID

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.SparkException

import org.sparkzorder.commit.{Committer, TableFolder}
import org.sparkzorder.commit.storage.ObjectStores
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.DataFormat
import org.sparkzorder.footer.orc.StripeFooters
import org.sparkzorder.indexing.UnreadableFiles
import org.sparkzorder.layout.{LayoutModel, LayoutShape}
import org.sparkzorder.optimize.Rewrite
import org.sparkzorder.optimize.keep.BloomFilters
import org.sparkzorder.optimize.plan.OptimizePlan
import org.sparkzorder.stats.IndexedColumns
import org.sparkzorder.table.TableSideFolder
import org.sparkzorder.write._
import org.sparkzorder.write.check.{FileExchangedException, ReadBackException}
import org.sparkzorder.write.job.{RewriteJob, RewriteJobs, RewriteResult, RewriteSpec}
import org.sparkzorder.write.sample.RewritePrediction
import org.sparkzorder.write.task.OpenUploads

/**
 * The jobs that carry out a plan's rewrites.
 *
 * @param groups the plan's rewrites; those of a group are one job
 */
private[sparkzorder] final class PlanJobs(plan: OptimizePlan, groups: Seq[Seq[Rewrite]]) {

  /**
   * Writes the new files. They are not visible yet.
   *
   * @param indexed the columns to collect statistics of
   * @param committer says where the files of a rewrite are written
   */
  def run(folder: TableFolder, operationId: String, indexed: IndexedColumns, committer: Committer): RewriteResult =
    try RewriteJobs.run(
        plan.table.session,
        jobs(folder, operationId, indexed, Some(committer)),
        plan.options.fileGroups.maxConcurrentRewrites
      )
    catch {
      case e: SparkException =>
        explain(e)
        throw Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).collectFirst {
          case back: ReadBackException      => ZOrderErrors.readBackFailed(plan.table.name, back.path, back)
          case file: FileExchangedException =>
            val path = plan.table.names.of(new Path(file.path))
            ZOrderErrors.commitConflict(plan.table.name, Seq(path), "another file was there when it was read", file)
        }.getOrElse(e)
    }

  /** Predicts what [[run]] would write. Nothing is written. */
  def predict(): Seq[RewritePrediction] =
    try
      jobs(TableSideFolder.of(plan.table), UUID.randomUUID().toString, IndexedColumns(Nil), None).map(_.predict())
    catch {
      case e: SparkException =>
        explain(e)
        throw e
    }

  private def explain(failure: SparkException): Unit = UnreadableFiles.translateErrors(plan.table) {
    val conf = plan.table.session.sessionState.newHadoopConf()
    DataFormat.of(plan.table.formatName).foreach(StripeFooters.explain(conf, _, failure))
  }

  private def jobs(
      folder: TableFolder,
      operationId: String,
      indexed: IndexedColumns,
      committer: Option[Committer]
  ): Seq[RewriteJob] = {
    val rows = plan.inputs.map(i => i.status.getPath -> i.footer.rows).toMap
    val outputFiles = plan.rewrites.map(_.outputFiles.toLong).sum
    groups.zipWithIndex.map { case (group, i) =>
      val units = group.map { r =>
        val dir = plan.folderOf(r)
        val staging = committer.fold(folder.stagingOf(dir, operationId))(_.target(dir, r.folder.path))
        FileGroup(r.files.map(f => f -> rows(f.getPath)), r.outputFiles, r.placement, Some(staging))
      }
      val of = if (groups.size == 1) "" else s", group ${i + 1} of ${groups.size}"
      val shareOfSample = group.map(_.outputFiles.toLong).sum.toDouble / outputFiles
      val spec = RewriteSpec(
        format = plan.table.relation.fileFormat,
        dataSchema = plan.table.dataSchema,
        readOptions = plan.table.relation.options,
        writeOptions = model => writeOptions(units, model),
        kept = plan.kept.files,
        sessionConf = plan.writeConf,
        units = units,
        keys = plan.keys,
        stagingDir = folder.stagingOf("", operationId),
        indexed = indexed,
        description = s"OPTIMIZE ${plan.table.target.title}$of",
        shape = plan.layout.fold(LayoutShape.Packed)(LayoutShape.of),
        sampleRows = plan.options.sampleRows.map(n => math.max(1L, (n * shareOfSample).toLong)),
        bytes = plan.layout.flatMap(_.bytes),
        maxRecords = plan.maxRecords,
        density = plan.density,
        uploads = committer.filter(_.leavesUploadsOpen).map(_ => OpenUploads(operationId, PlanJobs.read)),
        dimensions = plan.dimensions
      )
      new RewriteJob(plan.table.session, spec)
    }
  }

  private def writeOptions(units: Seq[FileGroup], model: LayoutModel): Map[String, String] = {
    val format = plan.table.formatName
    val ofStatement = plan.bloomFilters.writeOptions(format, units, plan.keys)(model)
    // The Bloom filters of the inputs are kept only if the statement says nothing about Bloom filters.
    val ofInputs =
      if (plan.options.bloomFilters.isDefined) Map.empty[String, String]
      else BloomFilters.kept(format, plan.kept.bloomFilters)
    plan.kept.spelled(plan.kept.options ++ ofInputs ++ plan.writeOptions ++ ofStatement)
  }
}

private object PlanJobs {

  /** What S3A writes of an upload: a line for each of at most 10,000 parts. */
  private val ReadLimit = 64L << 20

  /** Without asking for the length first, as Hadoop's file system does. */
  private val read: (FileSystem, Path) => Array[Byte] = (fs, path) => ObjectStores.ops(fs).read(path, ReadLimit)
}
