package org.sparkzorder.predicate

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Right => _, _}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest

/** Compares conditions on functions of strings with Spark's own evaluation of them. */
class StringTestsSuite extends AnyFunSuite {

  private val byName = (a: AttributeReference) => Right(Seq(a.name)): Either[Reason, Seq[String]]
  private val s = AttributeReference("s", StringType)()
  private val n = AttributeReference("n", LongType)()
  private val schema = new StructType().add("s", StringType).add("n", LongType)
  private val random = new Random(51L)

  private def one[A](of: Seq[A]): A = of(random.nextInt(of.size))
  private def text(s: String) = Literal(UTF8String.fromString(s), StringType)

  /** Characters with more than one original in the other case, of several bytes, and broken ones. */
  private val characters: Seq[Seq[Byte]] =
    ("aAbkK\u212asS\u017f\u00df\ufb01fFiI\u0131\u0130  %07\u00e9\u03a3".map(_.toString) :+ "\ud83d\ude00")
      .map(_.getBytes("UTF-8").toSeq) :+ Seq(0xe4.toByte)

  private def string(): UTF8String = UTF8String.fromBytes(Seq.fill(random.nextInt(6))(one(characters)).flatten.toArray)

  private def function(): Expression = random.nextInt(9) match {
    case 0     => StringTrim(s, None)
    case 1     => StringTrimLeft(s, None)
    case 2     => StringTrimRight(s, None)
    case 3 | 4 => Upper(s)
    case 5 | 6 => Lower(s)
    case 7     => Cast(n, StringType)
    case _     => Concat(one(Seq(Seq(text("a"), s), Seq(s, text("ba")), Seq(text("k"), s, text("k")))))
  }

  private def condition(f: Expression, seen: String): Expression = {
    val start = seen.take(random.nextInt(seen.length + 1))
    random.nextInt(8) match {
      case 0 => StartsWith(f, text(start))
      case 1 => new Like(f, text(start.replaceAll("([\\\\%_])", "\\\\$1") + "%"))
      case 2 => In(f, Seq(text(seen), text("b")))
      case 3 => EqualNullSafe(f, text(seen))
      case 4 => RLike(s, text("^" + one(Seq("a", "ab?", "k+", "K\\w", "f.", " *a", "S|a", "(a)"))))
      case 5 => Not(EqualTo(f, text(seen)))
      case _ => EqualTo(f, text(seen))
    }
  }

  test("the outcomes of tests of strings include those that Spark gives for the rows", InRest) {
    var (used, skipped, files) = (0, 0, 0)
    (1 to 20000).foreach { _ =>
      def row() = InternalRow(if (random.nextInt(10) == 0) null else string(), random.nextInt(30).toLong - 5)
      val models = Seq.fill(4)(ModelFile(schema, Seq.fill(1 + random.nextInt(3))(row())))
      val f = function()
      val bound = BindReferences.bindReference(f, Seq(s, n))
      val seen = String.valueOf(bound.eval(one(models.flatMap(_.rows))))
      val e = condition(f, seen)
      val predicate = CatalystTranslator.translate(e, byName)
      if (!predicate.isInstanceOf[Unknown]) {
        used += 1
        val whole = BindReferences.bindReference(e, Seq(s, n))
        models.zip(Evaluation.outcomes(predicate, new ModelTable(models.map(_.exact)))).foreach { case (model, mask) =>
          val outcomes = RowOutcomes.of(whole, model.rows)
          assert(outcomes.size == model.rows.size)
          val real = outcomes.foldLeft(0)(_ | _)
          if ((real & ~mask) != 0)
            fail(s"rows $real, statistics $mask: $e as $predicate over ${model.rows.mkString("; ")}")
          files += 1
          if ((mask & Outcomes.True) == 0) skipped += 1
        }
      }
    }
    info(s"$used conditions used, $skipped of $files files skipped")
    assert(used > 12000 && skipped > files / 4)
  }

  test("the start of a regular expression") {
    val starts = Seq(
      "^ab" -> "ab",
      "^abc?" -> "ab",
      "^ab*" -> "a",
      "^a{2}" -> "",
      "^a.b" -> "a",
      "^k0007" -> "k0007",
      "^a$" -> "a",
      "ab" -> "",
      "^a|b" -> "",
      "^\\Qa" -> "",
      "^(a)" -> "",
      "(?i)^a" -> "",
      "^a\ud83d\ude00" -> "a"
    )
    starts.foreach { case (regex, start) => assert(RegexPrefix.of(regex) == start, regex) }
  }
}
