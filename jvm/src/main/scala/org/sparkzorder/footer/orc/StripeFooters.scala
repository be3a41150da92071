package org.sparkzorder.footer.orc

import java.io.IOException
import java.net.URI

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.orc.{OrcProto, Reader, StripeInformation}
import org.apache.orc.impl.RecordReaderImpl
import org.apache.spark.SparkException

import org.sparkzorder.footer.{DataFormat, NotDataFileException}

import org.sparkzorder.shim.SparkShim.conditionOf

/** The footers of the stripes of ORC files. */
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
    val reader = OrcReaders.open(conf, path)
    try reader.getStripes.asScala.foreach(read(conf, path, reader, _))
    finally reader.close()
  }

  private def readBytes(conf: Configuration, path: Path, stripe: StripeInformation): Unit = {
    val stream = path.getFileSystem(conf).open(path)
    try stream.readFully(
        stripe.getOffset + stripe.getIndexLength + stripe.getDataLength,
        new Array[Byte](stripe.getFooterLength.toInt)
      )
    finally stream.close()
  }

  private def damaged(path: Path, e: Throwable): NotDataFileException =
    new NotDataFileException(path.toString, "the footer of a stripe is damaged", e)
}
