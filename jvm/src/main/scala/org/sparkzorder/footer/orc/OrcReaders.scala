package org.sparkzorder.footer.orc

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{ChecksumException, Path}
import org.apache.orc.{FileFormatException, OrcFile, Reader}
import org.apache.orc.TypeDescription.Category

import org.sparkzorder.footer.NotDataFileException

/** Opens ORC files. To open one reads its footer. */
private[footer] object OrcReaders {

  /** @throws NotDataFileException for a file that is not intact, or whose rows are not structs */
  def open(conf: Configuration, path: Path): Reader = {
    def not(reason: String, cause: Throwable = null) = new NotDataFileException(path.toString, reason, cause)
    val reader =
      try OrcFile.createReader(path, OrcFile.readerOptions(conf).filesystem(path.getFileSystem(conf)))
      catch {
        case e: FileFormatException => throw not("it is not a readable ORC file", e)
        case e: ChecksumException   => throw not("its checksum does not match", e)
        case e @ OrcDamage()        =>
          val why = Option(e.getMessage).getOrElse(e.getClass.getSimpleName)
          throw not(s"ORC does not read its footer ($why)", e)
      }
    if (reader.getSchema.getCategory != Category.STRUCT) {
      reader.close()
      throw not(s"its rows have the type ${reader.getSchema}, and Spark reads only structs")
    }
    reader
  }
}
