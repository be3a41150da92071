package org.sparkzorder.footer.orc

import java.io.{EOFException, IOException}
import java.net.URI
import java.util.zip.DataFormatException
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{ChecksumException, Path}
import org.apache.orc.TypeDescription.Category
import org.apache.orc.impl.RecordReaderImpl
import org.apache.orc.{FileFormatException, OrcFile, OrcProto, Reader, StripeInformation}
import org.apache.spark.SparkException

import org.sparkzorder.footer.{DataFormat, NotDataFileException}
import org.sparkzorder.shim.SparkShim.conditionOf

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
   * Exceptions of file systems come from their own classes, also when ORC called them. One that ORC has wrapped has a
   * cause.
   */
  private def isMadeByOrc(e: IOException): Boolean =
    e.getCause == null && e.getStackTrace.headOption.exists(_.getClassName.startsWith("org.apache.orc."))

  private def isOfDecoder(e: Throwable): Boolean = e match {
    case _: DataFormatException => true
    case _                      => Seq("protobuf", "airlift.compress", "luben.zstd").exists(e.getClass.getName.contains)
  }
}

object StripeFooters {

  /** @throws NotDataFileException for a footer that is damaged */
  private[footer] def read(
      conf: Configuration,
      path: Path,
      reader: Reader,
      stripe: StripeInformation
  ): OrcProto.StripeFooter =
    // To open the rows reads the footer of the first stripe, too.
    try Using.resource(reader.rows())(_.asInstanceOf[RecordReaderImpl].readStripeFooter(stripe))
    catch {
      case e: IOException =>
        // ORC and file systems throw the same class. Bytes that can be read are damaged.
        readBytes(conf, path, stripe)
        throw damaged(path, e)
      case e @ OrcDamage() => throw damaged(path, e)
    }

  /**
   * Looks for a damaged stripe in the file that a job of Spark's could not read.
   *
   * @throws NotDataFileException if there is one
   */
  def explain(conf: Configuration, format: DataFormat, failure: SparkException): Unit =
    if (format == DataFormat.Orc && Option(conditionOf(failure)).exists(_.startsWith("FAILED_READ_FILE")))
      Option(failure.getMessageParameters.get("path")).foreach(p => check(conf, new Path(new URI(p))))

  private def check(conf: Configuration, path: Path): Unit = {
    Using.resource(OrcReaders.open(conf, path))(reader =>
      reader.getStripes.asScala.foreach(read(conf, path, reader, _))
    )
  }

  private def readBytes(conf: Configuration, path: Path, stripe: StripeInformation): Unit = {
    val at = stripe.getOffset + stripe.getIndexLength + stripe.getDataLength
    Using.resource(path.getFileSystem(conf).open(path))(_.readFully(at, new Array[Byte](stripe.getFooterLength.toInt)))
  }

  private def damaged(path: Path, e: Throwable): NotDataFileException =
    new NotDataFileException(path.toString, "the footer of a stripe is damaged", e)
}
