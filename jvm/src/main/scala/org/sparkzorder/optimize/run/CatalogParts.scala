package org.sparkzorder.optimize.run

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.commit.{CommitConflictException, FileMeta, InputFile, LocationChange, LocationUpdate, OutputFile}
import org.sparkzorder.commit.catalog.CatalogCommitter
import org.sparkzorder.indexing.TableIndex
import org.sparkzorder.optimize.Input
import org.sparkzorder.optimize.plan.OptimizePlan
import org.sparkzorder.stats.FileId
import org.sparkzorder.table.{DataFolder, PlainTable}

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
