package org.sparkzorder.optimize.run

import org.apache.hadoop.fs.{FileStatus, Path}

import org.sparkzorder.commit.{CatalogPartition, FileMeta, LocationUpdate, OpenUpload, TableFolder, VersionDirectory}
import org.sparkzorder.commit.catalog.{CatalogCommitter, CatalogOutputs, PlacedOutput}
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.machine.Operation
import org.sparkzorder.compat._
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.indexing.{CompleteFiles, ExcludedColumns, TableIndex}
import org.sparkzorder.optimize.Rewrite
import org.sparkzorder.optimize.plan.OptimizePlan
import org.sparkzorder.progress.StatementProgress
import org.sparkzorder.statement.OptimizeStatement
import org.sparkzorder.stats.FileId
import org.sparkzorder.table.{CachedTable, SessionCatalogLocations}
import org.sparkzorder.write.job.RewriteResult

/**
 * Writes a plan's rewrites to new folders and tells the catalog of them. The new files are in their
 * places before that, so the index can name them.
 *
 * @param partitions what the folders are in the catalog
 */
private[optimize] final class OptimizeByCatalog(
    statement: OptimizeStatement,
    plan: OptimizePlan,
    groups: Seq[Seq[Rewrite]],
    folder: TableFolder,
    lock: Lock,
    snapshot: Option[IndexSnapshot],
    partitions: Map[Path, CatalogPartition]
) {
  private val table = plan.table
  private val directory = VersionDirectory.of(folder.root, plan.version + 1, lock.operationId)
  private val folders = plan.rewrites.map(_.folder).distinctBy(_.path)

  /** Where the files of each folder go. */
  private val moves = folders.map { f =>
    val partition = partitions(f.path)
    f.path -> LocationUpdate(
      partition,
      f.path,
      VersionDirectory.partition(directory, SessionCatalogLocations.folderOf(partition))
    )
  }.toMap

  private val committer = new CatalogCommitter(
    folder,
    lock,
    new SessionCatalogLocations(table),
    CompleteFiles.rowsOf(table),
    folders.map(f => moves(f.path)),
    Some(directory)
  )

  def run(): CommittedRewrite = CachedTable.following(table) {
    try {
      val (done, (result, written)) = Operation.run(committer, folder, lock)(begin())((_, _) => ())
      CommittedRewrite(done.version, result, written)
    } finally table.refreshCaches()
  }

  /** Everything up to the commit point. */
  private def begin(): (RewriteResult, Seq[FileId]) = {
    committer.claim(plan.folders)
    val excluded = ExcludedColumns.checked(table)
    val columns = plan.indexed(TableIndex.columnsOf(table, snapshot, excluded, plan.members))
    val result = new PlanJobs(plan, groups).run(folder, lock.operationId, columns, committer)
    StatementProgress.current.foreach(_.stepTo("checking"))
    if (!committer.leavesUploadsOpen) plan.adoptRights(folder, result)
    val placed = place(result)
    val encryption = WrittenFiles.check(plan, result, placed.map(statusOf))
    val newFiles = result.outputs.zip(placed).map { case (o, m) =>
      val name = table.names.of(m.path)
      NewFile(o, name, published = Some(FileId(name, m.length, m.modificationTime)))
    }
    val parts = new CatalogParts(table, committer, plan)
    val changes = folders.map { f =>
      val outputs = result.outputs.zip(placed).filter { case (o, _) => plan.rewrites(o.unit).folder.path == f.path }
      parts.change(f, moves(f.path), outputs.map { case (o, m) => m -> o.rows })
    }
    NewFile.addToIndex(plan, statement, folder, lock, snapshot, newFiles, encryption, excluded, parts.copies)
    val record =
      new OptimizeRecord(statement, plan, excluded).of(lock.operationId, Nil, result, groups.size, encryption)
    committer.prepare(record.copy(inputs = Nil, locationChanges = changes))
    StatementProgress.current.foreach(_.stepTo("publishing"))
    (result, newFiles.map(_.id))
  }

  private def place(result: RewriteResult): Seq[FileMeta] = CatalogOutputs.place(
    folder,
    lock,
    directory,
    result.outputs.map { o =>
      val to = moves(plan.rewrites(o.unit).folder.path).to
      PlacedOutput(o.path, o.upload.map(u => OpenUpload(u.id, u.parts)), to, NewFile.nameOf(o))
    }
  )

  private def statusOf(m: FileMeta): FileStatus = new FileStatus(m.length, false, 1, 0L, m.modificationTime, m.path)
}
