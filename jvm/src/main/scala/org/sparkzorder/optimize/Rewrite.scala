package org.sparkzorder.optimize

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.table.DataFolder
import org.sparkzorder.write.UnitPlacement

/**
 * Files of one folder that are rewritten together.
 *
 * @param outputFiles how many files to make of them
 * @param placement where each row goes, if the files are added to others that lie along a curve
 *   already
 * @param incremental whether other files of the folder stay as they are
 * @param reason why these files are rewritten, in words
 * @param rest files of the folder that stay; only the first rewrite of each folder lists them
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
