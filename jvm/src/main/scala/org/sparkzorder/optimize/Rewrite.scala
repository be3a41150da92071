package org.sparkzorder.optimize

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.table.DataFolder
import org.sparkzorder.write.UnitPlacement

/**
 * Files of one folder that are rewritten together, into so many.
 *
 * @param placement when they come to files that are along a curve already
 * @param incremental whether others of the folder are left as they are
 * @param reason why these files
 * @param rest files of the folder that are left, once for all of the folder's rewrites
 */
private[sparkzorder] final case class Rewrite(
    folder: DataFolder,
    files: Seq[FileStatus],
    outputFiles: Int,
    placement: Option[UnitPlacement] = None,
    incremental: Boolean = false,
    reason: String = "",
    rest: Seq[FileStatus] = Nil
)
