package org.sparkzorder.footer.orc

import java.io.{EOFException, IOException}
import java.util.zip.DataFormatException

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

/**
 * Matches what ORC throws when it decodes damaged bytes, and not what a file system throws. ORC has
 * no class of its own for it: the errors are those of protobuf, of the codecs, of checks in arrays,
 * and plain exceptions that ORC's own code makes.
 */
private[footer] object OrcDamage {

  def unapply(e: Throwable): Boolean = e match {
    case _: IllegalArgumentException | _: IllegalStateException | _: IndexOutOfBoundsException => true
    case _: NullPointerException | _: NegativeArraySizeException | _: ArithmeticException      => true
    case _: EOFException                                                                       => true
    case io: IOException => isOfDecoder(io) || Option(io.getCause).exists(isOfDecoder) || isMadeByOrc(io)
    case other           => isOfDecoder(other)
  }

  /**
   * A file system's exception comes from the file system's classes, also when ORC called it. One that
   * ORC has wrapped has a cause.
   */
  private def isMadeByOrc(e: IOException): Boolean =
    e.getCause == null && e.getStackTrace.headOption.exists(_.getClassName.startsWith("org.apache.orc."))

  private def isOfDecoder(e: Throwable): Boolean = e match {
    case _: DataFormatException => true
    case _                      => Seq("protobuf", "airlift.compress", "luben.zstd").exists(e.getClass.getName.contains)
  }
}
