package org.sparkzorder.optimize.run

import org.sparkzorder.stats.FileId
import org.sparkzorder.write.job.RewriteResult

/**
 * A committed operation of an OPTIMIZE.
 *
 * @param version of the table that it made
 * @param written the files that it added
 */
private[sparkzorder] final case class CommittedRewrite(version: Long, result: RewriteResult, written: Seq[FileId])
