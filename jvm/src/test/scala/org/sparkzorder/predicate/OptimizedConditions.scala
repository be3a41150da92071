package org.sparkzorder.predicate

import java.nio.file.Files

import scala.collection.mutable

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation}
import org.apache.spark.sql.types.StructType
import org.scalatest.Suite

import org.sparkzorder.LocalSpark

/** Gives the conditions that Spark's optimizer leaves above a scan of files. */
trait OptimizedConditions extends LocalSpark with PredicateHelper { this: Suite =>

  override protected def master: String = "local[1]"
  override protected def settings: Map[String, String] = Map("spark.sql.session.timeZone" -> "UTC")

  private lazy val folder = Files.createDirectory(dir.toPath.resolve("empty"))
  private val tables = mutable.Map.empty[StructType, DataFrame]

  protected val byName: AttributeReference => Either[Reason, Seq[String]] = RowOutcomes.byName

  /** The conjuncts of the filter over a table of this schema. None if the optimizer knows that no row passes. */
  protected def conjuncts(schema: StructType, condition: String): Option[Seq[Expression]] = {
    val table = tables.getOrElseUpdate(schema, spark.read.schema(schema).parquet(folder.toString))
    val plan = table.where(condition).queryExecution.optimizedPlan
    if (plan.exists(_.isInstanceOf[LocalRelation])) None
    else Some(plan.collect { case f: Filter => f.condition }.flatMap(splitConjunctivePredicates))
  }
}
