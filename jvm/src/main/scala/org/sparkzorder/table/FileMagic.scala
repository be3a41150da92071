package org.sparkzorder.table

import java.nio.charset.StandardCharsets.ISO_8859_1

import org.apache.hadoop.fs.{FileSystem, Path}

/** The first bytes of a file, which tell its format. */
private[table] object FileMagic {

  /** Begins Parquet files with an encrypted footer. */
  val EncryptedFooter = "PARE"

  /** The first four bytes, each as one character. */
  def of(fs: FileSystem, file: Path, length: Long): String = {
    val bytes = new Array[Byte](math.min(4L, length).toInt)
    val in = fs.open(file)
    try in.readFully(0, bytes)
    finally in.close()
    new String(bytes, ISO_8859_1)
  }

  /** Spark's name of the format, parquet or orc; None for other files. */
  def format(fs: FileSystem, file: Path, length: Long): Option[String] = of(fs, file, length) match {
    case "PAR1" | EncryptedFooter => Some("parquet")
    case s if s.startsWith("ORC") => Some("orc")
    case _                        => None
  }
}
