package org.sparkzorder.write.preserve

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.util.{Base64, Collections}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.format.Util
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.metadata.{BlockMetaData, FileMetaData, ParquetMetadata}
import org.apache.parquet.schema.MessageType

import org.sparkzorder.compat._

/**
 * The schema and the key-value metadata of new Parquet files. They are sent to the executors as a
 * footer without row groups.
 */
private[write] final case class KeptFooter(schema: Option[MessageType], keyValues: Map[String, String]) {
  import KeptFooter._

  def put(conf: Configuration): Unit = {
    val file = new FileMetaData(schema.getOrElse(NoSchema), keyValues.asJava, "spark-zorder")
    val metadata = new ParquetMetadata(file, Collections.emptyList[BlockMetaData])
    val out = new ByteArrayOutputStream
    Util.writeFileMetaData(new ParquetMetadataConverter().toParquetMetadata(1, metadata), out)
    conf.set(Footer, Base64.getEncoder.encodeToString(out.toByteArray))
    conf.setBoolean(HasSchema, schema.isDefined)
  }
}

private[write] object KeptFooter {
  private val Footer = "org.sparkzorder.kept.footer"
  private val HasSchema = "org.sparkzorder.kept.schema"
  private val NoSchema = new MessageType("none", Collections.emptyList[org.apache.parquet.schema.Type])

  def in(conf: Configuration): KeptFooter = {
    val bytes = Base64.getDecoder.decode(conf.get(Footer))
    val file = new ParquetMetadataConverter()
      .fromParquetMetadata(Util.readFileMetaData(new ByteArrayInputStream(bytes)))
      .getFileMetaData
    KeptFooter(
      Option.when(conf.getBoolean(HasSchema, false))(file.getSchema),
      file.getKeyValueMetaData.asScala.toMap
    )
  }
}
