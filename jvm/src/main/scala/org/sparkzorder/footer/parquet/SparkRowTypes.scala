package org.sparkzorder.footer.parquet

import scala.util.control.NonFatal

import org.apache.spark.sql.types._

import org.sparkzorder.footer.TimePrecision

/**
 * Types that Spark wrote into a Parquet file and that the Parquet schema does not show. `TIME(0)`
 * is stored in microseconds like `TIME(6)`, and `VOID` as a boolean. Spark notes the types of its
 * rows in the key-value metadata.
 */
private[footer] object SparkRowTypes {

  val key = "org.apache.spark.sql.parquet.row.metadata"

  /**
   * @param file the types by the Parquet schema
   * @param noted Spark's note in the file, as JSON
   */
  def refine(file: StructType, noted: String): StructType =
    if (!noted.contains("\"time(") && !noted.contains("\"void\"")) file
    else {
      val types =
        try DataType.fromJson(noted)
        // Anyone may have written something else under this key.
        catch { case NonFatal(_) => file }
      refined(file, types).asInstanceOf[StructType]
    }

  private def refined(file: DataType, noted: DataType): DataType = (file, noted) match {
    case (f: StructType, n: StructType) =>
      val byName = n.groupBy(_.name)
      StructType(f.map { field =>
        byName.getOrElse(field.name, Nil) match {
          case Seq(one) => field.copy(dataType = refined(field.dataType, one.dataType))
          case _        => field
        }
      })
    case (f: ArrayType, n: ArrayType) => f.copy(elementType = refined(f.elementType, n.elementType))
    case (f: MapType, n: MapType)     =>
      f.copy(keyType = refined(f.keyType, n.keyType), valueType = refined(f.valueType, n.valueType))
    case (BooleanType, NullType) => NullType
    case _                       =>
      val isCoarser = TimePrecision.of(noted).exists(n => TimePrecision.of(file).exists(n < _))
      if (isCoarser) noted else file
  }
}
