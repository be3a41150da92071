package org.sparkzorder.table

import java.io.IOException
import java.util.Locale

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.catalyst.util.quoteIdentifier
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import org.sparkzorder.compat._
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.files.Footers
import org.sparkzorder.footer.{DataFormat, FileFooter, NotDataFileException, Unreadable}

/** Why Spark finds no columns in files that begin as those of their format do. */
private[table] object UnknownColumns {

  /** The error for the first file that explains it; None when no file does. */
  def explained(place: TableLocation, files: Seq[FileStatus], format: String): Option[Throwable] = {
    val footers =
      try Footers.tryAll(place.session, files, DataFormat.of(format).get, new StructType(), Nil)
      catch { case _: IOException => Nil }
    footers.iterator.flatMap {
      case Left(damaged) if !damaged.isGone => Some(errorOf(damaged, format))
      case Left(_)                          => None
      case Right(footer)                    => unreadable(place, footer).orElse(doubled(place, footer))
    }.nextOption()
  }

  private def errorOf(damaged: NotDataFileException, format: String): Throwable =
    ZOrderErrors.notDataFile(damaged.path, DataFiles.shown(format), damaged.reason)

  private def doubled(place: TableLocation, footer: FileFooter): Option[Throwable] = {
    val names = if (place.session.sessionState.conf.caseSensitiveAnalysis) Nil else footer.schema.fieldNames.toSeq
    names.groupBy(_.toLowerCase(Locale.ROOT)).values.find(_.size > 1).map { found =>
      val reason =
        s"the file also has it as ${found.tail.map(quoteIdentifier).mkString(", ")}, and the session takes these for one"
      ZOrderErrors.schemaDrift(footer.path, quoteIdentifier(found.head), reason, anySchema = true)
    }
  }

  private def unreadable(place: TableLocation, footer: FileFooter): Option[Throwable] = {
    val nanosFit = place.session.sessionState.conf.getConf(SQLConf.LEGACY_PARQUET_NANOS_AS_LONG)
    footer.unreadable.find(u => u.why == Unreadable.NoType || (u.why == Unreadable.Nanoseconds && !nanosFit))
      .map(u => ZOrderErrors.unknownType(place.name, footer.path, u.column, u.reason))
  }
}
