package org.sparkzorder.optimize.run

import org.apache.hadoop.fs.{FileStatus, Path}

import org.sparkzorder.commit._
import org.sparkzorder.commit.catalog.{CatalogCommitter, CatalogOutputs, PlacedOutput}
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.machine.Operation
import org.sparkzorder.compat._
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.indexing.{CompleteFiles, ExcludedColumns, TableIndex}
import org.sparkzorder.optimize.{Input, Rewrite}
import org.sparkzorder.optimize.plan.OptimizePlan
import org.sparkzorder.progress.StatementProgress
import org.sparkzorder.statement.OptimizeStatement
import org.sparkzorder.stats.FileId
import org.sparkzorder.table.{CachedTable, DataFolder, PlainTable, SessionCatalogLocations}
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
  private def table = plan.table
  private val directory = VersionDirectory.of(folder.root, plan.version + 1, lock.operationId)
  private def folders = plan.rewrites.map(_.folder).distinctBy(_.path)

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

/**
 * What an operation that tells the catalog of new folders does beside the rewrites: files that are not
 * rewritten are copied as they are.
 */
private[optimize] final class CatalogParts(table: PlainTable, committer: CatalogCommitter, plan: OptimizePlan) {
  private val rewritten = plan.rewrites.flatMap(_.files.map(_.getPath)).toSet
  private val rowsOfInputs = plan.inputs.map(i => i.status.getPath -> i.footer.rows).toMap

  /** The files that were copied, with their copies. */
  var copies: Map[FileId, FileId] = Map.empty

  /**
   * Copies the rest of a folder.
   *
   * @param outputs the new files of this folder with their rows
   */
  def change(folder: DataFolder, move: LocationUpdate, outputs: Seq[(FileMeta, Long)]): LocationChange = {
    val (inputs, rest) = folder.files.partition(f => rewritten(f.getPath))
    val rowsOfRest = Input.read(table, rest, Nil).map(_.footer.rows)
    val (found, kept) = (inputs.map(atBegin(folder, _)), rest.map(atBegin(folder, _)))
    val made = committer.copied(kept, move.to)
    copies ++= rest.zip(made).map { case (f, m) =>
      TableIndex.idOf(table, f) -> FileId(table.names.of(m.path), m.length, m.modificationTime)
    }
    val rows = inputs.map(f => rowsOfInputs(f.getPath)) ++ rowsOfRest
    LocationChange(
      move.partition,
      move.from.toString,
      move.to.toString,
      (found ++ kept).zip(rows).map { case (m, n) =>
        InputFile(m.path.toString, m.length, m.modificationTime, n, m.etag)
      },
      (outputs ++ made.zip(rowsOfRest)).map { case (m, n) =>
        OutputFile(m.path.toString, m.length, m.modificationTime, n, etag = m.etag)
      }
    )
  }

  private def atBegin(folder: DataFolder, file: FileStatus): FileMeta =
    committer.atBegin(folder.path, file.getPath.getName, file.getLen, file.getModificationTime).getOrElse {
      throw new CommitConflictException(Seq(file.getPath.toString), "they are gone, or were changed or replaced")
    }
}
