package org.sparkzorder.optimize.run

import org.sparkzorder.commit.{FileNames, OutputFile, TableFolder}
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.footer.Encryption
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.indexing.TableIndex
import org.sparkzorder.layout.CurveInterval
import org.sparkzorder.optimize.check.EncryptedFiles
import org.sparkzorder.optimize.plan.{FileOrigin, OptimizePlan}
import org.sparkzorder.statement.OptimizeStatement
import org.sparkzorder.stats.FileId
import org.sparkzorder.table.ExcludedNames
import org.sparkzorder.write.job.{RewriteResult, StagedFile}

/**
 * A file that is written but not yet published.
 *
 * @param name its later name, relative to the table's root
 * @param published the file, once it is published
 */
private[optimize] final case class NewFile(staged: StagedFile, name: String, published: Option[FileId] = None) {
  def id: FileId = published.getOrElse(FileId(name, staged.length, staged.modificationTime))
  def output: OutputFile = OutputFile(name, staged.length, staged.modificationTime, staged.rows, upload = staged.upload)
}

private[optimize] object NewFile {

  def nameOf(staged: StagedFile): String = staged.path.getName.stripSuffix(FileNames.StagedSuffix)

  /** A file that goes to the folder whose rows it has. */
  def inPlace(plan: OptimizePlan, staged: StagedFile): NewFile = {
    val folder = plan.folderOf(plan.rewrites(staged.unit))
    NewFile(staged, if (folder.isEmpty) nameOf(staged) else s"$folder/${nameOf(staged)}")
  }

  /**
   * Adds the statistics of the new files to the index. Those of the inputs stay in it until its
   * next change, since the operation may still be undone.
   *
   * @param excluded the columns to leave out
   * @param copied files that were copied as they are, with their copies
   */
  def addToIndex(
      plan: OptimizePlan,
      statement: OptimizeStatement,
      folder: TableFolder,
      lock: Lock,
      snapshot: Option[IndexSnapshot],
      newFiles: Seq[NewFile],
      encryption: Encryption,
      excluded: ExcludedNames,
      copied: Map[FileId, FileId] = Map.empty
  ): Unit = {
    val statistics = newFiles.map(f => f.id -> EncryptedFiles.shown(f.staged.stats, encryption))
    // The frame of a curve holds sampled values of all keys, so it must not be stored if one of
    // them is encrypted. Attributes of a dimension say something of the column that is joined.
    val joined = plan.dimensions.map(_.column)
    val isHidden = plan.keys.exists(key => encryption.hides(key.path)) ||
      joined.exists(column => encryption.hides(column) || excluded.covers(column))
    val intervals =
      if (isHidden) Map.empty[FileId, CurveInterval]
      else newFiles.flatMap(f => f.staged.interval.map(f.id -> _)).toMap
    val origin = FileOrigin.of(plan.layout, statement.where.map(_.text), plan.options, plan.maxRecords).text
    TableIndex.add(
      plan.table,
      folder,
      lock,
      snapshot,
      plan.listed,
      statistics,
      intervals,
      namesInAnyCase = plan.kept.namesInAnyCase,
      copied = copied,
      known = Some(excluded),
      origins = newFiles.map(_.id -> origin).toMap,
      change = plan.members
    )
  }
}

/**
 * A committed operation of an OPTIMIZE.
 *
 * @param version of the table that it made
 * @param written the files that it added
 */
private[sparkzorder] final case class CommittedRewrite(version: Long, result: RewriteResult, written: Seq[FileId])
