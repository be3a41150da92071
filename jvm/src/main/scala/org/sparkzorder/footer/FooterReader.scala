package org.sparkzorder.footer

import org.apache.hadoop.fs.FileStatus

/** Reads footers of one format. One reader serves many files and many threads. */
trait FooterReader {

  /**
   * @throws NotDataFileException for a file that is not of the format, or is damaged
   * @throws java.io.IOException when the file is gone, may not be read, or the file system fails
   */
  def read(status: FileStatus): FileFooter
}
