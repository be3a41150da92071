package org.sparkzorder.table

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.AccessDeniedException

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.apache.hadoop.security.AccessControlException
import org.apache.parquet.crypto.ParquetCryptoRuntimeException

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.statement.PathTarget

/** The data files of a folder that a statement names by its path, and the format that their first bytes tell. */
private[table] object DataFiles {

  /**
   * The data files below a folder that Spark's listing would show: hidden names and everything
   * below them are left out. Folders are listed only when the iterator reaches them.
   */
  def below(fs: FileSystem, folder: Path): Iterator[FileStatus] =
    fs.listStatus(folder).sortBy(_.getPath.getName).iterator.flatMap { s =>
      val name = s.getPath.getName
      val hidden = (name.startsWith("_") && !name.contains("=")) || name.startsWith(".")
      if (hidden) Nil else if (s.isDirectory) below(fs, s.getPath) else if (s.getLen > 0) Seq(s) else Nil
    }

  /** The format of the files, which must be one. */
  def sniff(fs: FileSystem, target: PathTarget, files: Seq[FileStatus]): String =
    files.flatMap(f => magic(fs, f)).distinct match {
      case Seq(one) => one
      case Seq() => throw ZOrderErrors.notDataFile(files.head.getPath.toUri.getPath, "Parquet or ORC", "it is neither")
      case _     => throw ZOrderErrors.mixedFormats(target.path)
    }

  /** The error for the first file that is not of the format; None when all begin as its files do. */
  def firstForeign(fs: FileSystem, target: PathTarget, files: Seq[FileStatus], format: String): Option[Throwable] = {
    val foreign = files.iterator.map(f => f -> isThere(magic(fs, f))).find { case (_, m) =>
      m.exists(!_.contains(format))
    }
    foreign.map { case (f, m) =>
      val path = f.getPath.toUri.getPath
      m.flatten match {
        case Some(other) if files.forall(one => isThere(magic(fs, one)).forall(!_.contains(format))) =>
          ZOrderErrors.wrongFormat(target.sql, path, shown(other), PathTarget(target.path, Some(other)).sql)
        case Some(_) => ZOrderErrors.mixedFormats(target.path)
        case None    => ZOrderErrors.notDataFile(path, shown(format), s"it does not begin as ${shown(format)} files do")
      }
    }
  }

  /** The error for a file with an encrypted footer, if that is why the files cannot be read. */
  def firstSecret(fs: FileSystem, files: Seq[FileStatus], cause: Throwable): Option[Throwable] =
    Iterator.iterate(cause)(_.getCause).takeWhile(_ != null).collectFirst { case e: ParquetCryptoRuntimeException => e }
      .flatMap { e =>
        files.find(f => isThere(FileMagic.of(fs, f.getPath, f.getLen)).contains(FileMagic.EncryptedFooter))
          .map(f => ZOrderErrors.notDecrypted(f.getPath.toUri.getPath, e.getMessage))
      }

  def shown(format: String): String = if (format == "orc") "ORC" else "Parquet"

  /**
   * None for a file that was deleted meanwhile, or that we may not read. The error that led here describes this better.
   */
  private def isThere[T](look: => T): Option[T] =
    try Some(look)
    catch { case _: FileNotFoundException | _: AccessControlException | _: AccessDeniedException => None }

  private def magic(fs: FileSystem, file: FileStatus): Option[String] = FileMagic.format(fs, file.getPath, file.getLen)
}

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
