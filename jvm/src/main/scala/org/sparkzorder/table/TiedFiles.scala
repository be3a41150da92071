package org.sparkzorder.table

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{FileMeta, TiedFileException, TiedNames}
import org.sparkzorder.compat._

/** Refuses to move or delete data files to which others are tied by their names, see [[TiedNames]]. */
private[sparkzorder] object TiedFiles {

  /**
   * @param files that would move
   * @param beside hidden entries of their folders
   * @throws org.apache.spark.sql.AnalysisException for the first entry that is tied to a file
   */
  def refuse(table: TableLocation, files: Seq[Path], beside: Seq[FileMeta]): Unit =
    if (beside.exists(m => TiedNames.mayBe(m.name))) {
      val names = files.groupMap(_.getParent.toUri.getPath)(_.getName).map { case (f, all) => f -> all.toSet }
      told(table) {
        beside.groupBy(_.path.getParent.toUri.getPath).foreach { case (folder, entries) =>
          TiedNames.refuse(entries, names.getOrElse(folder, Set.empty[String]), TiedFileException.Moves)
        }
      }
    }

  /** Turns the exception of such a file into the error of a statement. */
  def told[T](table: TableLocation)(work: => T): T =
    try work
    catch { case e: TiedFileException => throw RecoveryErrors.of(table.name, "OPTIMIZE", e) }
}
