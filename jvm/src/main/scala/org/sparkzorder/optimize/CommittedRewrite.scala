package org.sparkzorder.optimize

import org.sparkzorder.stats.FileId
import org.sparkzorder.write.RewriteResult

/**
 * A committed operation of an OPTIMIZE.
 *
 * @param version of the table that it made
 * @param written the files that it added
 */
private[sparkzorder] final case class CommittedRewrite(version: Long, result: RewriteResult, written: Seq[FileId])
