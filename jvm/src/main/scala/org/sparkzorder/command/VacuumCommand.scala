package org.sparkzorder.command

import java.util.UUID

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types.{StringType, StructType}

import org.sparkzorder.commit.{Record, TableState, Trash}
import org.sparkzorder.optimize.OptimizeOptions
import org.sparkzorder.statement.Target
import org.sparkzorder.table.{PlainTables, TableSideFolder}

/**
 * `VACUUM`: deletes retired files, after which there is no way back to the versions before. Returns the table's path as
 * Delta's does; a dry run returns the paths of the files that would go.
 *
 * @param retainHours as written; by default what OPTIMIZE was told, or seven days
 */
final case class VacuumCommand(target: Target, retainHours: Option[String], dryRun: Boolean)
    extends LeafRunnableCommand {

  override val output: Seq[Attribute] = toAttributes(VacuumCommand.schema)

  override def run(session: SparkSession): Seq[Row] = {
    val place = PlainTables.locate(session, target)
    LockedStatements.recover(place)
    val folder = TableSideFolder.of(place)
    val isOld = VacuumCommand.isOld(retainHours, System.currentTimeMillis())
    // A partition that was moved or copied has taken its trash along, which no record knows of.
    val state = TableState.look(place.root, folder.ops)
    val table = PlainTables.open(place)
    val data = table.listed
    TableSideFolder.reappeared(table, state, data.flatMap(_.files))
    val dirs = data.map(_.path).filter(p => p == table.root || table.names.isBelow(p))
      .map(p => if (p == table.root) "" else table.names.of(p))
    val expired = LockedStatements.translated(table, "VACUUM")(Trash.expired(folder, isOld, dirs))
    if (dryRun) expired.flatMap(_.files).map(f => Row(f.path.toString))
    else {
      if (expired.nonEmpty)
        LockedStatements.locked(table, "VACUUM", UUID.randomUUID().toString) { lock =>
          Trash.vacuum(folder, lock, Trash.expired(folder, isOld, dirs))
        }
      Seq(Row(table.root.toString))
    }
  }
}

object VacuumCommand {
  private val schema = new StructType().add("path", StringType, nullable = false)

  private val millisPerHour = BigDecimal(3600000)

  /** 0 hours are all, also what another machine's clock says is of a later time. */
  private def isOld(retainHours: Option[String], now: Long): Record => Boolean = record => {
    val hours = retainHours.map(BigDecimal(_)).getOrElse(BigDecimal(OptimizeOptions.retainHours(record.parameters)))
    hours == 0 || BigDecimal(record.timestamp) + hours * millisPerHour <= now
  }
}
