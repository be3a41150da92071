package org.sparkzorder.optimize.run

import org.apache.hadoop.security.UserGroupInformation

import org.sparkzorder.codec.Json
import org.sparkzorder.commit.{InputFile, Record}
import org.sparkzorder.compat._
import org.sparkzorder.footer.Encryption
import org.sparkzorder.optimize.ChosenLayout
import org.sparkzorder.optimize.options.{MappingOptions, OptionTable}
import org.sparkzorder.optimize.plan.{FileOrigin, OptimizePlan}
import org.sparkzorder.optimize.report.{OptimizeMetrics, OptimizeStrategy, ReadBackCost}
import org.sparkzorder.statement.OptimizeStatement
import org.sparkzorder.table.ExcludedNames
import org.sparkzorder.write.check.RowSum
import org.sparkzorder.write.job.RewriteResult

private[optimize] final class OptimizeRecord(
    statement: OptimizeStatement,
    plan: OptimizePlan,
    excluded: ExcludedNames
) {

  /**
   * The record, without its version.
   *
   * @param groups how many file groups were rewritten
   * @param encryption what is encrypted in the new files
   */
  def of(
      operationId: String,
      newFiles: Seq[NewFile],
      result: RewriteResult,
      groups: Int,
      encryption: Encryption
  ): Record = {
    val measured = OptimizeRecord.metrics(plan, result, groups).copy(rowHash = rowHash(result, encryption))
    Record(
      version = 0,
      operationId = operationId,
      operation = "OPTIMIZE",
      timestamp = System.currentTimeMillis(),
      userId = UserGroupInformation.getCurrentUser.getShortUserName,
      parameters = parameters,
      metrics = measured.history ++ reappeared ++ plan.kept.history ++ plan.left.map(FileOrigin.LeftFilesHash -> _),
      inputs = plan.inputs.map { i =>
        InputFile(plan.table.names.of(i.status.getPath), i.status.getLen, i.status.getModificationTime, i.footer.rows)
      },
      outputs = newFiles.map(_.output),
      layout = plan.layout.map(_.json)
    )
  }

  /**
   * The hash of all rewritten rows for the history. There is none if some values must stay hidden:
   * a reader who guesses the values of a few rows could test the guess by it.
   */
  private def rowHash(result: RewriteResult, encryption: Encryption): Option[String] =
    Option.when(encryption.isNone && excluded.names.isEmpty)(RowSum.of(result.written).hex)

  private def reappeared: Map[String, String] =
    if (plan.reappeared.isEmpty) Map.empty else Map("numReappearedFiles" -> plan.reappeared.size.toString)

  private def parameters: Map[String, String] =
    Map(
      "predicate" -> statement.where.fold("")(_.text),
      "zOrderBy" -> Json.text(plan.keys.map(_.name)),
      "isFull" -> statement.full.toString
    ) ++ plan.auto.map("auto" -> _.layout) ++ plan.options.asGiven ++
      plan.layout.fold(Map.empty[String, String])(MappingOptions.parameters) ++ joins ++
      Map(OptionTable.retainHours.key -> plan.options.retainHours.toString) ++
      plan.partitions.map(_ => OptionTable.commitMode.key -> OptionTable.NewLocation)

  private def joins: Map[String, String] =
    plan.layout.map(_.joins).filter(_.nonEmpty).map(joins => "joins" -> Json.text(joins.map(ChosenLayout.join))).toMap
}

private[sparkzorder] object OptimizeRecord {

  def metrics(plan: OptimizePlan, result: RewriteResult, groups: Int): OptimizeMetrics =
    OptimizeMetrics.of(
      plan,
      added = result.outputs.map(_.length),
      batches = groups,
      OptimizeStrategy.of(plan, result.samples, result.drifts)
    ).copy(
      millis = Some(result.sampleMillis + result.writeMillis),
      readBack =
        Option.when(result.readBack.nonEmpty)(ReadBackCost(result.readBack.size, result.readBack.map(_.millis).sum)),
      columnwise = Some(result.columnwise)
    )
}
