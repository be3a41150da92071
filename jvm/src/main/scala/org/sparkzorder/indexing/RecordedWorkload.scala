package org.sparkzorder.indexing

import org.sparkzorder.commit.{TableFolder, WorkloadFiles}
import org.sparkzorder.table.{PlainTable, TableSideFolder}
import org.sparkzorder.workload.{SketchJson, WorkloadRecorder, WorkloadSketch}

/** What queries of all processes have asked a table for. */
private[sparkzorder] object RecordedWorkload {

  /** Without columns that are to be kept out. Files that cannot be read are passed over with a warning. */
  def of(table: PlainTable): WorkloadSketch = {
    // What this process has not written yet counts, too.
    WorkloadRecorder.flush()
    read(TableSideFolder.of(table)).without(ExcludedColumns.of(table))
  }

  /** Forgets all when some of it is about columns that are to be kept out since. */
  def forgetExcluded(table: PlainTable, folder: TableFolder): Unit = {
    val isExcluded = ExcludedColumns.of(table)
    if (read(folder).columns.exists { case (path, _) => isExcluded(path) }) WorkloadFiles.clear(folder)
  }

  private def read(folder: TableFolder): WorkloadSketch =
    WorkloadFiles.read(folder)(SketchJson.read).foldLeft(WorkloadSketch.empty)(_ ++ _)
}
