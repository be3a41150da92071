package org.sparkzorder.memory

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String
import org.roaringbitmap.RoaringBitmap

/**
 * Files that are known to hold no row of a query.
 *
 * @param parts numbers of such files, and the table's numbers of files
 * @param now whether the settings of the plan are in force
 */
final class RememberedFiles private[memory] (parts: Seq[(FileNumbers, RoaringBitmap)], now: () => Boolean) {

  /** Whether the settings are still those of the plan, so that the readers find the same rows. */
  def holdsNow: Boolean = now()

  /**
   * Whether no row of a listed file passes the query's filter.
   *
   * @param values of the file's partition, see [[RememberedFiles.valuesOf]]
   */
  def has(file: FileStatusWithMetadata, values: String): Boolean = {
    val listed = ReadFile(file.getPath, file.getLen, file.getModificationTime, values)
    parts.exists { case (numbers, without) =>
      val number = numbers.of(listed)
      number >= 0 && without.contains(number)
    }
  }
}

object RememberedFiles {

  /** A text of a partition's values. Equal texts are equal values of the same columns. */
  def valuesOf(values: InternalRow, schema: StructType): String =
    values.toSeq(schema).zip(schema.fields).map { case (value, f) =>
      val text = value match {
        case null           => "-"
        case s: UTF8String  => ExpressionText.bytes(s.getBytes)
        case b: Array[Byte] => ExpressionText.bytes(b)
        case other          => s"=$other"
      }
      s"${ExpressionText.quoted(f.name)} ${ExpressionText.of(f.dataType)} $text"
    }.mkString(";")

}
