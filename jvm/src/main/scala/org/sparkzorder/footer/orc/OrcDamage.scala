package org.sparkzorder.footer.orc

import java.io.{EOFException, IOException}
import java.util.zip.DataFormatException

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
