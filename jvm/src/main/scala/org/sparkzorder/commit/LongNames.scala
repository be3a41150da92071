package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

/** Adds our suffixes to names, which must not become longer than file systems allow. */
private[commit] object LongNames {

  /** The most bytes that a name may have in UTF-8, on local disks and in HDFS. */
  private val MostBytes = 255

  private val KeptBytes = 180

  def isPossible(name: String): Boolean = name.getBytes(UTF_8).length <= MostBytes

  /**
   * The name with the suffix. If that is too long, the beginning of the name with a hash of the
   * whole name, as in `abc..-0123456789abcdef.retired`. It depends on the name alone.
   */
  def fit(name: String, suffix: String): String =
    if (isPossible(name + suffix)) name + suffix else s"${beginning(name)}-${hash(name)}$suffix"

  /** As many whole characters as fit. */
  private def beginning(name: String): String = {
    var bytes = 0
    val kept = name.codePoints.toArray.takeWhile { c =>
      bytes += new String(Character.toChars(c)).getBytes(UTF_8).length
      bytes <= KeptBytes
    }
    new String(kept, 0, kept.length)
  }

  /** 16 hexadecimal digits. */
  def hash(name: String): String =
    MessageDigest.getInstance("SHA-256").digest(name.getBytes(UTF_8)).take(8).map(b => f"${b & 0xff}%02x").mkString
}
