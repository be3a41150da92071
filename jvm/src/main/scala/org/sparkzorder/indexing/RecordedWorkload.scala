package org.sparkzorder.indexing

import org.sparkzorder.commit.TableFolder
import org.sparkzorder.commit.side.WorkloadFiles
import org.sparkzorder.layout.JoinSpec
import org.sparkzorder.table.{ExcludedNames, PlainTable, TableSideFolder}
import org.sparkzorder.workload.{SketchJson, WorkloadRecorder, WorkloadSketch}

/** The recorded workload of a table: the conditions of queries of all processes. */
private[sparkzorder] object RecordedWorkload {

  /** Leaves out columns that the index must not contain. */
  def of(table: PlainTable): WorkloadSketch = {
    // Includes what this process has recorded but not written yet.
    WorkloadRecorder.flush()
    read(TableSideFolder.of(table)).without(ExcludedColumns.of(table))
  }

  /** Deletes everything recorded if it mentions such columns. */
  def forget(excluded: ExcludedNames, folder: TableFolder): Unit =
    if (excluded.names.nonEmpty && read(folder).columns.exists(c => excluded.covers(JoinSpec.columnOf(c._1))))
      WorkloadFiles.clear(folder)

  private def read(folder: TableFolder): WorkloadSketch =
    WorkloadFiles.read(folder)(SketchJson.read).foldLeft(WorkloadSketch.empty)(_ ++ _)
}
