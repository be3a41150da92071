package org.sparkzorder.predicate

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, BindReferences, Expression}
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.Assertions.fail

/** What Spark's own evaluation of a condition gives for rows. */
object RowOutcomes {

  val byName: AttributeReference => Either[Reason, Seq[String]] = a => Right(Seq(a.name))

  /** None if Spark throws: an error is no outcome. */
  def evaluated(e: Expression, row: InternalRow): Option[Any] =
    try Some(e.eval(row))
    catch {
      case _: ArithmeticException | _: org.apache.spark.SparkThrowable | _: java.time.DateTimeException => None
    }

  /** The outcomes of the rows for which it does not throw, one mask for each. */
  def of(condition: Expression, rows: Seq[InternalRow]): Seq[Int] = rows.flatMap(evaluated(condition, _)).map {
    case null => Outcomes.Null
    case true => Outcomes.True
    case _    => Outcomes.False
  }

  def inMode[A](ansi: Boolean)(work: => A): A = {
    val conf = new SQLConf
    conf.setConf(SQLConf.ANSI_ENABLED, ansi)
    SQLConf.withExistingConf(conf)(work)
  }
}

/** Holds what statistics of files say of conditions against what Spark gives for their rows, and counts. */
final class ComparedOutcomes {
  var used, files, skipped, exact, thrown = 0

  /**
   * Fails if a row has an outcome that the statistics of its file rule out.
   *
   * @return whether each file is skipped; empty if the condition is of no use
   */
  def compare(condition: Expression, columns: Seq[AttributeReference], models: Seq[ModelFile]): Seq[Boolean] = {
    val predicate = CatalystTranslator.translate(condition, RowOutcomes.byName)
    if (predicate.isInstanceOf[Unknown]) Nil
    else {
      used += 1
      val bound = BindReferences.bindReference(condition, columns)
      models.zip(Evaluation.outcomes(predicate, new ModelTable(models.map(_.exact)))).map { case (model, mask) =>
        val outcomes = RowOutcomes.of(bound, model.rows)
        val real = outcomes.foldLeft(0)(_ | _)
        if ((real & ~mask) != 0)
          fail(s"rows $real, statistics $mask: $condition as $predicate over ${model.rows.mkString("; ")}")
        files += 1
        thrown += model.rows.size - outcomes.size
        if (model.rows.size == 1 && outcomes.size == 1 && real == mask) exact += 1
        val isSkipped = (mask & Outcomes.True) == 0
        if (isSkipped) skipped += 1
        isSkipped
      }
    }
  }

  override def toString: String = s"$used conditions used, $skipped of $files files skipped, $exact of one row exact"
}

/** Chooses at random. */
trait Choices {
  protected def random: Random
  protected def one[A](of: Seq[A]): A = of(random.nextInt(of.size))
}
