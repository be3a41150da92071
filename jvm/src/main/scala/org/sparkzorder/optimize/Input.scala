package org.sparkzorder.optimize

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.footer.FileFooter

/** A file that is rewritten, with what its footer says. */
private[sparkzorder] final case class Input(status: FileStatus, footer: FileFooter)
