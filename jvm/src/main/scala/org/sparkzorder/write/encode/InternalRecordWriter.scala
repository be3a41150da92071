package org.sparkzorder.write.encode

import java.lang.reflect.Field

import scala.jdk.CollectionConverters._

import org.apache.parquet.column.{ColumnDescriptor, ColumnWriteStore, ColumnWriter, ParquetProperties}
import org.apache.parquet.column.values.factory.ValuesWriterFactory
import org.apache.parquet.schema.MessageType
import org.apache.spark.sql.execution.datasources.parquet.ParquetOutputWriter

/**
 * parquet-java's writer of the records of one file, which it keeps to itself.
 *
 * All that is needed of it is looked for before any of it is changed. So a version that lacks something is noticed
 * while the writer is as parquet-java has made it.
 */
private[encode] final class InternalRecordWriter(writer: ParquetOutputWriter) {
  import InternalRecordWriter._

  private val records = valueOf(valueOf(writer, "recordWriter", classOf[AnyRef]), "internalWriter", classOf[AnyRef])
  private val ofGroup = new RowCount(records, "recordCount", "recordCountForNextMemCheck")
  private val storeField = field(records, "columnStore", classOf[ColumnWriteStore])
  private val ofStore = new RowCount(store, "rowCount", "rowCountForNextSizeCheck")

  /** The most rows of a row group. Before parquet-java 1.16, there is no limit. */
  private val mostRows: Long =
    if (find(records.getClass, "rowGroupRecordCountThreshold").isEmpty) Long.MaxValue
    else field(records, "rowGroupRecordCountThreshold", Integer.TYPE).getInt(records).toLong

  val properties: ParquetProperties = valueOf(records, "props", classOf[ParquetProperties])
  val schema: MessageType = valueOf(records, "schema", classOf[MessageType])

  /** Makes the writers of the first row group again, with what writes values. */
  def begin(of: ValuesWriterFactory): Unit = {
    val factory = field(properties, "valuesWriterFactory", classOf[ValuesWriterFactory])
    val initStore = records.getClass.getDeclaredMethod("initStore")
    initStore.setAccessible(true)
    factory.set(properties, of)
    initStore.invoke(records)
    ()
  }

  private def store: ColumnWriteStore = storeField.get(records).asInstanceOf[ColumnWriteStore]

  val columns: Array[ColumnDescriptor] = schema.getColumns.asScala.toArray

  private var known: ColumnWriteStore = _
  private var writers = Array.empty[ColumnWriter]

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
    val ofPages = ofStore.nextCheck.getLong(store) - ofStore.rows.getLong(store)
    val ofRowGroup = math.min(ofGroup.nextCheck.getLong(records), mostRows) - ofGroup.rows.getLong(records)
    math.max(0L, math.min(Int.MaxValue.toLong, math.min(ofPages, ofRowGroup) - 1)).toInt
  }

  /** Tells of rows whose values the columns have got. There must have been as much room before the next look. */
  def written(rows: Int): Unit = {
    val of = store
    (0 until rows).foreach(_ => of.endRecord())
    ofGroup.rows.setLong(records, ofGroup.rows.getLong(records) + rows)
  }
}

private object InternalRecordWriter {

  private val LongType = java.lang.Long.TYPE

  /** The fields for the rows so far, and for the row after which parquet-java looks at sizes. */
  private final class RowCount(of: AnyRef, name: String, nextName: String) {
    val rows: Field = field(of, name, LongType)
    val nextCheck: Field = field(of, nextName, LongType)
  }

  private def valueOf[T](of: AnyRef, name: String, dataType: Class[T]): T =
    Option(field(of, name, dataType).get(of)).map(dataType.cast(_)).getOrElse(throw lacks(of, name, dataType))

  private def field(of: AnyRef, name: String, dataType: Class[_]): Field =
    find(of.getClass, name).filter(f => dataType.isAssignableFrom(f.getType)).getOrElse(throw lacks(of, name, dataType))

  private def lacks(of: AnyRef, name: String, dataType: Class[_]) =
    new NoSuchFieldException(s"$name, a ${dataType.getName} of ${of.getClass.getName}")

  private def find(in: Class[_], name: String): Option[Field] =
    if (in == null) None
    else in.getDeclaredFields.find(_.getName == name) match {
      case Some(f) =>
        f.setAccessible(true)
        Some(f)
      case None => find(in.getSuperclass, name)
    }
}
