package org.sparkzorder.footer.orc

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.orc.{OrcConf, Reader, TypeDescription}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.execution.datasources.orc.OrcUtils
import org.apache.spark.sql.types._

import org.sparkzorder.compat._
import org.sparkzorder.footer._
import org.sparkzorder.stats.ColumnKey

/** Reads the footers of ORC files, with the statistics of whole files. */
private[footer] final class OrcFooter(
    conf: Configuration,
    tableSchema: StructType,
    columns: Seq[ColumnKey],
    settings: FooterSettings,
    withTraits: Boolean = false
) extends FooterReader {

  private val own = new Configuration(conf)
  private val forcedPositions = OrcConf.FORCE_POSITIONAL_EVOLUTION.getBoolean(own)

  override def read(status: FileStatus): FileFooter = {
    val path = status.getPath.toString
    val reader = OrcReaders.open(own, status.getPath)
    try footerOf(path, reader)
    catch {
      // Parts of the footer, and the footers of stripes, are decoded here.
      case e: NotDataFileException => throw e
      case e @ OrcDamage()         => throw new NotDataFileException(path, "a footer in the ORC file is damaged", e)
    } finally reader.close()
  }

  private def footerOf(path: String, reader: Reader): FileFooter = {
    val names = namesOf(reader.getSchema)
    val positional = names.nonEmpty && (forcedPositions || NamelessColumns.are(names))
    val encryption = encryptionOf(reader)
    val judged = judgements(reader, names, positional, encryption)
    val (schema, unreadable) = typesOf(reader.getSchema)
    FileFooter(
      path,
      DataFormat.Orc,
      rows = reader.getNumberOfRows,
      schema,
      unreadable ++ quoted(reader),
      timestamps = None,
      codec = if (reader.getNumberOfRows == 0) None else Some(ColumnFinder.fold(reader.getCompressionKind.name)),
      stats = judged.stats,
      loose = judged.loose,
      untrusted = judged.untrusted,
      missing = judged.missing,
      sessionBound = judged.sessionBound,
      positional,
      encryption,
      finerThanMicros = finerThanMicros(reader),
      otherZone = if (withTraits) otherZone(path, reader) else None,
      traits = if (withTraits)
        Some(OrcTraits.of(reader, encryption, StripeFooters.read(own, new Path(path), reader, _)))
      else None
    )
  }

  private def judgements(
      reader: Reader,
      names: IndexedSeq[String],
      positional: Boolean,
      encryption: Encryption
  ): Judgement = {
    val nameless = NamelessColumns.are(names)
    // Where the names agree with the table's one by one, it makes no difference how columns are found.
    val moved = positional && names != tableSchema.fieldNames.take(names.size).toSeq
    val statistics = new OrcStatistics(reader)
    val places = new ColumnFinder[TypeDescription](
      reader.getSchema,
      settings.caseSensitive,
      _.getCategory == TypeDescription.Category.STRUCT,
      struct => namesOf(struct).zip(childrenOf(struct))
    )
    Judgement(columns.map { key =>
      // Without the key, ORC shows masked values of an encrypted column.
      if (encryption.hides(key.path) || (moved && !encryption.isNone)) JudgedColumn(key, StatisticsTrust.Unknown, None)
      // Another reader may call another column by this name, and then takes it from another position of the file.
      else if (moved || (nameless && !NamelessColumns.isAtItsPosition(names, key.path.head)))
        JudgedColumn(key, StatisticsTrust.Untrusted, Some(SessionBound.Always))
      else judge(key, places.of(key.path), statistics)
    })
  }

  /** Files without Spark's version may hold nanoseconds. */
  private def finerThanMicros(reader: Reader): Seq[Seq[String]] =
    if (reader.hasMetadataValue("org.apache.spark.version")) Nil else OrcTimestamps.columns(reader.getSchema).map(_._1)

  private def otherZone(path: String, reader: Reader): Option[OtherZone] = {
    val hasClocks =
      OrcTimestamps.columns(reader.getSchema).exists(_._2.getCategory == TypeDescription.Category.TIMESTAMP)
    if (!hasClocks || reader.getStripes.isEmpty) None
    else {
      val footer = StripeFooters.read(own, new Path(path), reader, reader.getStripes.get(0))
      OtherZone.of(Option.when(footer.hasWriterTimezone)(footer.getWriterTimezone))
    }
  }

  private def encryptionOf(reader: Reader): Encryption = Option(reader.getEncryptionVariants) match {
    case Some(variants) if variants.nonEmpty => Encryption(footer = false, variants.map(v => pathOf(v.getRoot)).toSet)
    case _                                   => Encryption.none
  }

  // ORC's own full name joins the names by dots, and names may contain dots.
  private def pathOf(column: TypeDescription): Seq[String] = Option(column.getParent) match {
    case Some(struct) if struct.getCategory == TypeDescription.Category.STRUCT =>
      pathOf(struct) :+ struct.getFieldNames.get(struct.getChildren.asScala.indexWhere(_ eq column))
    case Some(other) => pathOf(other)
    case None        => Nil
  }

  private def judge(key: ColumnKey, place: ColumnMatch[TypeDescription], statistics: OrcStatistics): JudgedColumn =
    place match {
      case ColumnMatch.Found(way, exact) if way.last.getCategory.isPrimitive =>
        // An ORC timestamp is a wall clock, which each JVM reads in its own time zone.
        if (exact && key.dataType == TimestampType)
          JudgedColumn(key, statistics.nulls(key.dataType, way.last), Some(SessionBound.ButForNulls))
        else {
          val bound =
            if (!exact) Some(SessionBound.Always)
            else if (key.dataType == DateType) Some(SessionBound.WhenAncient) else None
          JudgedColumn(key, statistics.judge(key, way.last), bound)
        }
      case other => JudgedColumn.without(key, other)
    }

  private def namesOf(struct: TypeDescription): IndexedSeq[String] =
    if (struct.getCategory == TypeDescription.Category.STRUCT) struct.getFieldNames.asScala.toIndexedSeq
    else IndexedSeq.empty

  private def typesOf(schema: TypeDescription): (StructType, Seq[Unreadable]) = {
    val converted = namesOf(schema).zip(childrenOf(schema)).map { case (name, child) =>
      try Right(OrcUtils.toCatalystSchema(TypeDescription.createStruct.addField(name, child.clone())).fields.toSeq)
      catch { case _: AnalysisException => Left(Unreadable(Seq(name), Unreadable.NoType)) }
    }
    (StructType(converted.collect { case Right(f) => f }.flatten), converted.collect { case Left(u) => u })
  }

  /** Of columns and fields at any depth. ORC's own schema has their names without what it takes for quotes. */
  private def quoted(reader: Reader): Seq[Unreadable] =
    reader.getFileTail.getFooter.getTypesList.asScala.flatMap(_.getFieldNamesList.asScala).filter(_.contains('`'))
      .map(name => Unreadable(Seq(name), Unreadable.Quoted)).toVector

  private def childrenOf(t: TypeDescription): Seq[TypeDescription] =
    Option(t.getChildren).fold(Seq.empty[TypeDescription])(_.asScala.toVector)
}

/**
 * Old versions of Hive call the columns of ORC files `_col0`, `_col1` and so on. When all names of a
 * file begin with `_col`, Spark finds its columns by position.
 */
object NamelessColumns {
  private val Prefix = "_col"

  /** Whether a file with these names is read by position. */
  def are(names: Seq[String]): Boolean = names.nonEmpty && names.forall(_.startsWith(Prefix))

  /** Whether a column has such a name at another position, so that its statistics are not found by name. */
  def isMisplaced(names: IndexedSeq[String], column: String): Boolean =
    column.startsWith(Prefix) && !isAtItsPosition(names, column)

  /** Whether a column has such a name at the position that the name says. */
  def isAtItsPosition(names: IndexedSeq[String], column: String): Boolean =
    column.startsWith(Prefix) && column.substring(Prefix.length).toIntOption.exists { i =>
      column == s"$Prefix$i" && names.isDefinedAt(i) && names(i) == column
    }
}
