package org.sparkzorder.command

import java.sql.Timestamp

import scala.util.control.NonFatal

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException
import org.apache.spark.sql.catalyst.catalog.{CatalogTableType, SessionCatalog}
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.types._

import org.sparkzorder.commit.WorkerThreads
import org.sparkzorder.commit.lock.LockState
import org.sparkzorder.commit.log.TableState
import org.sparkzorder.compat._
import org.sparkzorder.errors.ZOrderAnalysisException
import org.sparkzorder.optimize.check.CommitMode
import org.sparkzorder.optimize.report.ClusteringStatus
import org.sparkzorder.statement.TableTarget
import org.sparkzorder.table.{PlainTables, TableSideFolder}

/**
 * `SHOW CLUSTERING`: a row for each table of a database, first those that an OPTIMIZE would gain
 * most for. A table that is not ours, or cannot be looked at, has a row that says why.
 *
 * @param database its name; empty for the current one
 */
final case class ShowClusteringCommand(database: Seq[String]) extends NamedCommand {
  import ShowClusteringCommand._

  override protected def resultColumns: StructType = NamedCommand.columns(
    "table" -> StringType,
    "format?" -> StringType,
    "state" -> StringType,
    "files?" -> LongType,
    "bytes?" -> LongType,
    "small_files?" -> LongType,
    "layout?" -> StringType,
    "mean_files?" -> DoubleType,
    "bound_files?" -> DoubleType,
    "new_bytes?" -> LongType,
    "drift?" -> DoubleType,
    "trash_bytes?" -> LongType,
    "last_optimize?" -> TimestampType,
    "gain_bytes?" -> LongType,
    "stale_appends?" -> LongType
  )

  override def title: String = "SHOW CLUSTERING" + database.headOption.fold("")(_ => s" IN ${database.mkString(".")}")

  override protected def work(session: SparkSession): Seq[Row] = {
    val classicSession = session.asInstanceOf[ClassicSession]
    val catalog = classicSession.sessionState.catalog
    val name = databaseOf(catalog)
    val tables = catalog.listTables(name, "*", includeLocalTempViews = false)
    WorkerThreads.map(tables, Threads)(rowOf(classicSession, _)).sortBy(row => (-row.gain, row.name)).map(_.row)
  }

  private def databaseOf(catalog: SessionCatalog): String = database match {
    case Seq()                     => catalog.getCurrentDatabase
    case Seq(one)                  => one
    case Seq("spark_catalog", one) => one
    case parts                     => throw new NoSuchNamespaceException(parts)
  }

  private def rowOf(session: ClassicSession, table: TableIdentifier): TableRow = {
    val name = table.copy(catalog = None).unquotedString
    def without(state: String): TableRow = TableRow(name, None, state, None, None)
    SparkSession.setActiveSession(session)
    try {
      val metadata = session.sessionState.catalog.getTableMetadata(table)
      if (metadata.tableType == CatalogTableType.VIEW) without("not ours: it is a view")
      else {
        val location = PlainTables.locate(session, TableTarget(table.database.toSeq :+ table.table))
        val looked = TableSideFolder.look(location)
        val state = stateOf(session, looked)
        val opened = PlainTables.open(location)
        val stale =
          if (CommitMode.isNewLocation(location, looked))
            CatalogTables.staleAppends(location, "SHOW CLUSTERING").count(!_.isCopied)
          else 0
        TableRow(name, Some(opened.formatName), state, Some(ClusteringStatus.of(opened)), Some(stale.toLong))
      }
    } catch {
      case e: ZOrderAnalysisException if NotOurs(e.condition) => without(s"not ours: ${sentence(e.reason)}")
      // The row says it, and the other tables have theirs.
      case NonFatal(e) =>
        logWarning(s"SHOW CLUSTERING cannot look at $name", e)
        without(s"error: ${sentence(words(e))}")
    }
  }

  private def stateOf(session: ClassicSession, state: TableState): String =
    state.lockState(TableLocking.settings(session)) match {
      case LockState.Live(owner) => s"locked${owner.fold("")(o => s" by ${o.describe}")}"
      case _ if state.publishing.nonEmpty || state.moving.nonEmpty => "half published: the next statement recovers it"
      case _                                                       => Quiet
    }

  /** The first line of an error without its condition. */
  private def words(e: Throwable): String =
    Option(e.getMessage).flatMap(_.linesIterator.nextOption()).getOrElse(e.toString)
      .replaceAll("^\\[[A-Z0-9_.]+\\] ", "")

  private def sentence(text: String): String = text.replaceAll("\\.( .*)?$", "")
}

object ShowClusteringCommand {

  private val Threads = 8

  private val Quiet = "ok"

  private val NotOurs = Set(
    "ZORDER_UNSUPPORTED_TARGET.KIND",
    "ZORDER_UNSUPPORTED_TARGET.OTHER_TABLE_FORMAT",
    "ZORDER_UNSAFE_TABLE.BUCKETED",
    "ZORDER_UNSUPPORTED_TARGET.PARTITION_FOLDER"
  )

  private final case class TableRow(
      name: String,
      format: Option[String],
      state: String,
      status: Option[ClusteringStatus],
      staleAppends: Option[Long]
  ) {
    def gain: Long = status.fold(-1L)(_.gainBytes)

    def row: Row = Row(
      name,
      format.orNull,
      state,
      status.map(_.files).orNull,
      status.map(_.bytes).orNull,
      status.map(_.smallFiles).orNull,
      status.flatMap(_.layout).orNull,
      status.flatMap(_.meanFiles).orNull,
      status.flatMap(_.boundFiles).orNull,
      status.map(_.newBytes).orNull,
      status.flatMap(_.drift).orNull,
      status.map(_.trashBytes).orNull,
      status.flatMap(_.lastOptimize).map(new Timestamp(_)).orNull,
      status.map(_.gainBytes).orNull,
      staleAppends.orNull
    )
  }
}
