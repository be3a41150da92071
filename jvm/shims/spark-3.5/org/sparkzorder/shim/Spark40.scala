package org.sparkzorder.shim

import org.apache.parquet.column.page.PageReadStore
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{Column, Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.{DataSource, LogicalRelation}
import org.apache.spark.sql.types.{DataType, ObjectType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** What the sources use of Spark 4 and of its libraries, and 3.5 lacks. `build.sbt` imports it into each source. */
object Spark40 {

  /** The condition of an error has another name. */
  implicit class SparkThrowable40(private val e: SparkThrowable) extends AnyVal {
    def getCondition: String = e.getErrorClass
  }

  /** There are no collations: all strings are compared by their bytes. */
  implicit class StringType40(private val dataType: StringType) extends AnyVal {
    def collationId: Int = 0
  }

  object CollationFactory {
    def getCollationKeyBytes(value: UTF8String, collationId: Int): Array[Byte] = value.getBytes
  }

  /** There is no such type: no column has this one. */
  val VariantType: DataType = ObjectType(classOf[UnresolvedDataSource])

  implicit class RowToSeq213(private val row: Row) extends AnyVal {
    def toSeq213: Seq[Any] = row.toSeq
  }

  /** Only newer Parquet closes pages. */
  implicit class PageReadStore40(private val pages: PageReadStore) extends AnyVal {
    def close(): Unit = ()
  }

  /** Readers resolve their paths before there is a plan. The two classes are for paths in SQL. */
  final case class UnresolvedDataSource(
      format: String,
      userSpecifiedSchema: Option[StructType],
      options: CaseInsensitiveMap[String],
      override val isStreaming: Boolean,
      paths: Seq[String]
  ) extends LeafNode {
    override def output: Seq[Attribute] = Nil
  }

  final class ResolveDataSource(session: SparkSession) {
    def apply(source: UnresolvedDataSource): LogicalPlan =
      LogicalRelation(
        DataSource(session, source.format, source.paths, options = source.options).resolveRelation(),
        isStreaming = false
      )
  }

  /** A hint's parameters are what its user wrote. */
  def parametersOf(hint: UnresolvedHint): Seq[Expression] = hint.parameters.map {
    case column: Column         => column.expr
    case expression: Expression => expression
    case value                  => Literal(value)
  }
}
