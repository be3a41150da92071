package org.sparkzorder.footer.orc

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{ChecksumException, Path}
import org.apache.orc.{FileFormatException, OrcFile, Reader}

import org.sparkzorder.footer.NotDataFileException

/** Opens ORC files. To open one reads its footer. */
private[footer] object OrcReaders {

  /** @throws NotDataFileException for a file that is not intact */
  def open(conf: Configuration, path: Path): Reader =
    try OrcFile.createReader(path, OrcFile.readerOptions(conf).filesystem(path.getFileSystem(conf)))
    catch {
      case e: FileFormatException => throw new NotDataFileException(path.toString, "it is not a readable ORC file", e)
      case e: ChecksumException   => throw new NotDataFileException(path.toString, "its checksum does not match", e)
      case e @ OrcDamage()        => throw new NotDataFileException(path.toString, "its ORC footer is damaged", e)
    }
}
