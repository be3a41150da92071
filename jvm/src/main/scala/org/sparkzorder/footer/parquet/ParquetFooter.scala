package org.sparkzorder.footer.parquet

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.parquet.CorruptDeltaByteArrays.requiresSequentialReads
import org.apache.parquet.column.Encoding
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.crypto.ParquetCryptoRuntimeException
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ColumnPath, FileMetaData}
import org.apache.parquet.hadoop.metadata.FileMetaData.EncryptionType
import org.apache.parquet.schema.{PrimitiveType, Type}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT96
import org.apache.parquet.schema.Type.Repetition.{REPEATED, REQUIRED}
import org.apache.spark.sql.execution.datasources.parquet.ParquetUtils
import org.apache.spark.sql.types.{ArrayType, MapType, StructType, TimestampType}

import org.sparkzorder.compat._
import org.sparkzorder.footer._
import org.sparkzorder.stats.{ColumnKey, ColumnStats}

/** Reads the footers of Parquet files with parquet-java, which itself drops bounds that it knows to be wrong. */
private[footer] final class ParquetFooter(
    conf: Configuration,
    tableSchema: StructType,
    columns: Seq[ColumnKey],
    settings: FooterSettings,
    withTraits: Boolean = false
) extends FooterReader {

  private val own = {
    val copy = new Configuration(conf)
    // Old bounds of strings are in the order of signed bytes. Users may accept them for row groups,
    // but skipping files by them would lose rows.
    copy.setBoolean("parquet.strings.signed-min-max.enabled", false)
    copy
  }
  private val types = new ParquetTypes(conf)
  private val byFieldId = settings.fieldIds && ParquetUtils.hasFieldIds(tableSchema)

  override def read(status: FileStatus): FileFooter = {
    val metadata = ParquetMetadataReader.read(own, status)
    val file = metadata.getFileMetaData
    val keys = file.getKeyValueMetaData
    val blocks = metadata.getBlocks.asScala.toVector
    val chunks = blocks.map(b => (b.getRowCount, b.getColumns.asScala.map(c => c.getPath -> c).toMap))
    val encryption = encryptionOf(file, blocks.flatMap(_.getColumns.asScala))
    def isEncrypted(chunk: ColumnChunkMetaData) = encryption.columns(pathOf(chunk))
    val rowGroups = blocks.filter(_.getRowCount > 0).map(_.getColumns.asScala.filterNot(isEncrypted).toVector)
    val plain = rowGroups.flatten
    def isRepeated(chunk: ColumnChunkMetaData) = file.getSchema.getMaxRepetitionLevel(chunk.getPath.toArray: _*) > 0
    val writer = new ParquetWriter(file.getCreatedBy, key => Option(keys.get(key)), rowGroups, isRepeated)
    val places = new ColumnFinder[Type](file.getSchema, settings.caseSensitive, isStruct, fieldsOf)
    val (stored, unreadable) = types.of(file.getSchema)
    val judged = Judgement(columns.map { key =>
      if (encryption.hides(key.path) || (byFieldId && !encryption.isNone))
        JudgedColumn(key, StatisticsTrust.Unknown, None)
      else judge(key, places, chunks, writer, stored)
    })
    val noted = Option(keys.get(SparkRowTypes.key)).filter(_ => writer.isSpark)
    val moved = if (settings.int96Conversion && !writer.isParquetJava) ParquetTypes.int96(file.getSchema) else Nil
    FileFooter(
      status.getPath.toString,
      DataFormat.Parquet,
      rows = blocks.map(_.getRowCount).sum,
      schema = noted.fold(stored)(SparkRowTypes.refine(stored, _)),
      unreadable = unreadable ++ moved ++ refusedByRow(file, plain),
      timestamps = ParquetTypes.timestamps(file.getSchema),
      codec = codecOf(plain),
      stats = judged.stats,
      loose = judged.loose,
      untrusted = judged.untrusted,
      missing = judged.missing,
      sessionBound = judged.sessionBound,
      positional = false,
      encryption,
      finerThanMicros = if (writer.isSpark) Nil else ParquetTypes.int96Columns(file.getSchema),
      traits = Option.when(withTraits)(ParquetTraits.of(metadata, isEncrypted)),
      unsaidCalendar = if (writer.saysCalendar) Nil else ParquetTypes.ofCalendar(file.getSchema),
      hasDifferences = blocks.exists(_.getColumns.asScala.exists(c => isEncrypted(c) || hasDifferences(c)))
    )
  }

  private def hasDifferences(chunk: ColumnChunkMetaData) = chunk.getEncodings.contains(Encoding.DELTA_BYTE_ARRAY)

  /** parquet-java's reader of rows opens no file whose writer may have continued such bytes from another row group. */
  private def refusedByRow(file: FileMetaData, chunks: Seq[ColumnChunkMetaData]): Seq[Unreadable] =
    if (chunks.exists(_.getEncodings.asScala.exists(requiresSequentialReads(file.getCreatedBy, _))))
      file.getSchema.getFields.asScala.map(f => Unreadable(Seq(f.getName), Unreadable.Sequential)).toVector
    else Nil

  private def codecOf(chunks: Seq[ColumnChunkMetaData]): Option[String] = chunks.map(_.getCodec).distinct match {
    case Seq(one) => Some(ColumnFinder.fold(one.name))
    case _        => None
  }

  private def pathOf(chunk: ColumnChunkMetaData): Seq[String] = chunk.getPath.toArray.toSeq

  private def encryptionOf(file: FileMetaData, chunks: Seq[ColumnChunkMetaData]): Encryption =
    file.getEncryptionType match {
      case EncryptionType.UNENCRYPTED => Encryption.none
      case kind                       =>
        val decryptor = Option(file.getFileDecryptor).filterNot(_.plaintextFile)
        def isEncrypted(c: ColumnChunkMetaData) =
          c.isEncrypted || decryptor.exists(_.getColumnSetup(c.getPath).isEncrypted)
        Encryption(kind == EncryptionType.ENCRYPTED_FOOTER, chunks.filter(isEncrypted).map(pathOf).toSet)
    }

  private def judge(
      key: ColumnKey,
      places: ColumnFinder[Type],
      chunks: Seq[(Long, Map[ColumnPath, ColumnChunkMetaData])],
      writer: ParquetWriter,
      stored: StructType
  ): JudgedColumn = if (byFieldId) JudgedColumn(key, StatisticsTrust.Untrusted, Some(SessionBound.Always))
  else places.of(key.path) match {
    case ColumnMatch.Found(way, _) if way.last.isRepetition(REPEATED) =>
      JudgedColumn(key, StatisticsTrust.Unknown, None)
    case ColumnMatch.Found(way, exact) if way.last.isPrimitive =>
      val leaf = way.last.asPrimitiveType
      val column = ColumnPath.get(namesOf(way): _*)
      val verdict =
        if (chunks.exists { case (rows, byPath) => rows > 0 && !byPath.contains(column) }) StatisticsTrust.Untrusted
        else {
          val parts = chunks.filter(_._1 > 0).map { case (rows, byPath) => chunkOf(rows, byPath(column)) }
          ParquetChunks.judge(key, leaf, isRequired(way), parts, writer)
        }
      JudgedColumn(key, verdict, if (exact) boundOf(key, leaf, writer) else Some(SessionBound.Always))
    case ColumnMatch.Found(way, exact) => JudgedColumn(key, judgeGroup(key, way, exact, chunks, writer, stored), None)
    case other                         => JudgedColumn.without(key, other)
  }

  private def isStruct(field: Type): Boolean =
    !field.isPrimitive && field.getLogicalTypeAnnotation == null && !field.isRepetition(REPEATED)

  private def fieldsOf(struct: Type): Seq[(String, Type)] =
    struct.asGroupType.getFields.asScala.toVector.map(f => f.getName -> f)

  private def namesOf(way: Seq[Type]): Seq[String] = way.map(_.getName)

  /** Whether neither the last field nor a struct above it can be null. */
  private def isRequired(way: Seq[Type]): Boolean = way.forall(_.isRepetition(REQUIRED))

  /** Of an array, map or struct only the nulls are counted. If the footer does not tell, no rows are read for it. */
  private def judgeGroup(
      key: ColumnKey,
      way: Seq[Type],
      exact: Boolean,
      chunks: Seq[(Long, Map[ColumnPath, ColumnChunkMetaData])],
      writer: ParquetWriter,
      stored: StructType
  ): StatisticsTrust = {
    val isNested = key.dataType match {
      case _: StructType | _: ArrayType | _: MapType => true
      case _                                         => false
    }
    val isSame = isNested && exact &&
      ParquetGroups.typeAt(stored, namesOf(way)).exists(ParquetGroups.isSame(key.dataType, _))
    val rowGroups = chunks.filter(_._1 > 0).map { case (rows, byPath) =>
      (leaf: Seq[String]) => byPath.get(ColumnPath.get(leaf: _*)).map(chunkOf(rows, _))
    }
    val nulls =
      if (isSame && (isRequired(way) || writer.belief.nullsOfFields))
        ParquetGroups.nulls(way.last.asGroupType, namesOf(way), isRequired(way), rowGroups)
      else None
    nulls.fold[StatisticsTrust](StatisticsTrust.Unknown)(n => StatisticsTrust.Trusted(ColumnStats(null, null, n, 0L)))
  }

  private def chunkOf(rows: Long, chunk: ColumnChunkMetaData): ParquetChunk =
    try chunkOf(rows, chunk.getValueCount, chunk.getStatistics)
    catch { case _: ParquetCryptoRuntimeException => unknown(rows) }

  /** The counts of a footer whose bounds are in the wrong order are not believed either. */
  private def chunkOf[T <: Comparable[T]](rows: Long, values: Long, s: Statistics[T]): ParquetChunk = {
    val hasBounds = s != null && s.hasNonNullValue
    val nulls = if (s != null && s.isNumNullsSet) Some(s.getNumNulls) else None
    if (hasBounds && s.compareMinToValue(s.genericGetMax) > 0) unknown(rows)
    else ParquetChunk(values, rows, nulls, if (hasBounds) Some((s.genericGetMin, s.genericGetMax)) else None)
  }

  private def unknown(rows: Long) = ParquetChunk(-1L, rows, None, None)

  private def boundOf(key: ColumnKey, leaf: PrimitiveType, writer: ParquetWriter): Option[SessionBound] =
    if (!Calendar.concerns(key.dataType)) None
    else if (leaf.getPrimitiveTypeName == INT96) {
      if (!writer.isParquetJava) Some(SessionBound.Always)
      else if (writer.prolepticInt96 || (writer.saysCalendar && writer.saysTimeZone)) None
      else Some(SessionBound.WhenAncient)
    } else if (writer.proleptic) None
    else if (writer.saysCalendar && (writer.saysTimeZone || key.dataType != TimestampType)) None
    else Some(SessionBound.WhenAncient)
}
