package org.sparkzorder.predicate

import java.nio.file.Files

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation}
import org.apache.spark.sql.types.StructType
import org.scalatest.{BeforeAndAfterAll, Suite}

/** Gives the conditions that Spark's optimizer leaves above a scan of files. */
trait OptimizedConditions extends BeforeAndAfterAll with PredicateHelper { this: Suite =>

  protected var spark: SparkSession = _
  private val folder = Files.createTempDirectory("conditions")
  private val tables = mutable.Map.empty[StructType, DataFrame]

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark = SparkSession.builder().master("local[1]").config("spark.sql.session.timeZone", "UTC")
      .config("spark.sql.warehouse.dir", folder.toString).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
  }

  override def afterAll(): Unit = {
    spark.stop()
    Files.delete(folder)
    super.afterAll()
  }

  protected val byName: AttributeReference => Either[Reason, Seq[String]] = a => Right(Seq(a.name))

  /**
   * The conjuncts of the filter over a table of this schema; None when the optimizer knows that no
   * row passes.
   */
  protected def conjuncts(schema: StructType, condition: String): Option[Seq[Expression]] = {
    val table = tables.getOrElseUpdate(schema, spark.read.schema(schema).parquet(folder.toString))
    val plan = table.where(condition).queryExecution.optimizedPlan
    if (plan.exists(_.isInstanceOf[LocalRelation])) None
    else Some(plan.collect { case f: Filter => f.condition }.flatMap(splitConjunctivePredicates))
  }

  protected def predicate(schema: StructType, condition: String): StatsPredicate =
    conjuncts(schema, condition).fold[StatsPredicate](Const.False) { parts =>
      Filters.conjunction(parts.map(CatalystTranslator.translate(_, byName)))
    }
}
