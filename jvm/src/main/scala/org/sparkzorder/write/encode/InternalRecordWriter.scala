package org.sparkzorder.write.encode

import java.lang.reflect.Field

import scala.jdk.CollectionConverters._

import org.apache.parquet.column.{ColumnDescriptor, ColumnWriteStore, ColumnWriter, ParquetProperties}
import org.apache.parquet.schema.MessageType
import org.apache.spark.sql.execution.datasources.parquet.ParquetOutputWriter

/** parquet-java's writer of the records of one file, which it keeps to itself. */
private[encode] final class InternalRecordWriter(writer: ParquetOutputWriter) {
  import InternalRecordWriter._

  private val records = fieldOf(fieldOf(writer, "recordWriter"), "internalWriter")
  private val recordCount = field(records, "recordCount")
  private val nextMemoryCheck = field(records, "recordCountForNextMemCheck")
  private val storeField = field(records, "columnStore")

  /** The most rows of a row group. Before parquet-java 1.16, there is no limit. */
  private val mostRows: Long =
    find(records.getClass, "rowGroupRecordCountThreshold").fold(Long.MaxValue)(_.get(records).asInstanceOf[Int].toLong)

  val properties: ParquetProperties = fieldOf(records, "props").asInstanceOf[ParquetProperties]
  val schema: MessageType = fieldOf(records, "schema").asInstanceOf[MessageType]

  /** Makes the writers of the first row group again. */
  def begin(): Unit = {
    val begin = records.getClass.getDeclaredMethod("initStore")
    begin.setAccessible(true)
    begin.invoke(records)
    ()
  }

  private def store: ColumnWriteStore = storeField.get(records).asInstanceOf[ColumnWriteStore]

  val columns: Array[ColumnDescriptor] = schema.getColumns.asScala.toArray

  private var known: ColumnWriteStore = _
  private var writers = Array.empty[ColumnWriter]
  private lazy val storeRows = field(store, "rowCount")
  private lazy val nextSizeCheck = field(store, "rowCountForNextSizeCheck")

  /** The writers of the columns in the row group now. */
  def columnWriters: Array[ColumnWriter] = {
    if (store ne known) {
      known = store
      writers = columns.map(known.getColumnWriter(_))
    }
    writers
  }

  /** How many rows come before the one after which parquet-java looks at sizes. */
  def rowsBeforeNextLook: Int = {
    val ofPages = nextSizeCheck.getLong(store) - storeRows.getLong(store)
    val ofRowGroup = math.min(nextMemoryCheck.getLong(records), mostRows) - recordCount.getLong(records)
    math.max(0L, math.min(Int.MaxValue.toLong, math.min(ofPages, ofRowGroup) - 1)).toInt
  }

  /** Tells of rows whose values the columns have got. There must have been as much room before the next look. */
  def written(rows: Int): Unit = {
    val of = store
    (0 until rows).foreach(_ => of.endRecord())
    recordCount.setLong(records, recordCount.getLong(records) + rows)
  }
}

private[encode] object InternalRecordWriter {

  /** Sets a private field. */
  def set(of: AnyRef, name: String, value: AnyRef): Unit = field(of, name).set(of, value)

  private def fieldOf(of: AnyRef, name: String): AnyRef = field(of, name).get(of)

  private def field(of: AnyRef, name: String): Field =
    find(of.getClass, name).getOrElse(throw new NoSuchFieldException(s"$name of ${of.getClass.getName}"))

  private def find(in: Class[_], name: String): Option[Field] =
    if (in == null) None
    else in.getDeclaredFields.find(_.getName == name) match {
      case Some(f) =>
        f.setAccessible(true)
        Some(f)
      case None => find(in.getSuperclass, name)
    }
}
