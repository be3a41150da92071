package org.sparkzorder.write.preserve

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.util.{Base64, Collections, HashMap}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.format.Util
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.api.WriteSupport.WriteContext
import org.apache.parquet.hadoop.metadata.{BlockMetaData, FileMetaData, ParquetMetadata}
import org.apache.parquet.io.api.RecordConsumer
import org.apache.parquet.schema.{GroupType, MessageType, Type}
import org.apache.spark.sql.execution.datasources.parquet.{ParquetReadSupport, ParquetWriteSupport}
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructType}

import org.sparkzorder.compat._

/**
 * Spark's writer of Parquet records, for new files with the schema and key-value metadata of old
 * ones. The keys that describe Spark and its calendar stay Spark's own, since Spark's code converts
 * the values. Spark creates it by name from a job's settings.
 */
final class PreservedWriteSupport extends ParquetWriteSupport {

  private var spark: MessageType = _
  private var kept: Option[MessageType] = None

  override def init(conf: Configuration): WriteContext = {
    val own = super.init(conf)
    val footer = PreservedFooter.in(conf)
    spark = own.getSchema
    kept = footer.schema
    val metadata = new HashMap[String, String]
    footer.keyValues.foreach { case (key, value) => metadata.put(key, value) }
    metadata.putAll(own.getExtraMetaData)
    kept.foreach { schema =>
      val key = ParquetReadSupport.SPARK_METADATA_KEY
      Option(metadata.get(key)).foreach(json => metadata.put(key, SparkNames.of(json, schema)))
    }
    new WriteContext(kept.getOrElse(spark), metadata)
  }

  override def prepareForWrite(consumer: RecordConsumer): Unit = {
    val changed = kept.map(PreservedNode.root(spark, _)).filter(_.isNeeded)
    super.prepareForWrite(changed.fold(consumer)(new PreservedConsumer(consumer, _)))
  }
}

/** Spark's own copy of the schema, which Spark prefers to the file's, with the names of the file. */
private[write] object SparkNames {

  def of(json: String, kept: GroupType): String = DataType.fromJson(json) match {
    case s: StructType =>
      val renamed = struct(s, kept)
      if (renamed == s) json else renamed.json
    case _ => json
  }

  private def struct(s: StructType, kept: GroupType): StructType =
    if (s.length != kept.getFieldCount) s
    else StructType(s.fields.zipWithIndex.map { case (f, i) =>
      f.copy(name = kept.getType(i).getName, dataType = dataType(f.dataType, kept.getType(i)))
    })

  private def dataType(t: DataType, kept: Type): DataType = t match {
    case s: StructType => struct(s, kept.asGroupType)
    case a: ArrayType  =>
      EntryShape.of(kept, 1).fold(a)(e => a.copy(elementType = dataType(a.elementType, e.parts.head)))
    case m: MapType => EntryShape.of(kept, 2).fold(m) { e =>
        m.copy(keyType = dataType(m.keyType, e.parts.head), valueType = dataType(m.valueType, e.parts(1)))
      }
    case other => other
  }
}

/**
 * The schema and the key-value metadata of new Parquet files. They are sent to the executors as a
 * footer without row groups.
 */
private[write] final case class PreservedFooter(schema: Option[MessageType], keyValues: Map[String, String]) {
  import PreservedFooter._

  def put(conf: Configuration): Unit = {
    val file = new FileMetaData(schema.getOrElse(NoSchema), keyValues.asJava, "spark-zorder")
    val metadata = new ParquetMetadata(file, Collections.emptyList[BlockMetaData])
    val out = new ByteArrayOutputStream
    Util.writeFileMetaData(new ParquetMetadataConverter().toParquetMetadata(1, metadata), out)
    conf.set(Footer, Base64.getEncoder.encodeToString(out.toByteArray))
    conf.setBoolean(HasSchema, schema.isDefined)
  }
}

private[write] object PreservedFooter {
  private val Footer = "org.sparkzorder.kept.footer"
  private val HasSchema = "org.sparkzorder.kept.schema"
  private val NoSchema = new MessageType("none", Collections.emptyList[org.apache.parquet.schema.Type])

  def in(conf: Configuration): PreservedFooter = {
    val bytes = Base64.getDecoder.decode(conf.get(Footer))
    val file = new ParquetMetadataConverter()
      .fromParquetMetadata(Util.readFileMetaData(new ByteArrayInputStream(bytes)))
      .getFileMetaData
    PreservedFooter(
      Option.when(conf.getBoolean(HasSchema, false))(file.getSchema),
      file.getKeyValueMetaData.asScala.toMap
    )
  }
}
