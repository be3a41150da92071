package org.sparkzorder.predicate

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Right => _, _}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest

/** Compares conditions on functions of strings with Spark's own evaluation of them. */
class StringTestsSuite extends AnyFunSuite with Choices {
  private val s = AttributeReference("s", StringType)()
  private val n = AttributeReference("n", LongType)()
  private val schema = new StructType().add("s", StringType).add("n", LongType)
  override protected val random = new Random(51L)

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
    val compared = new ComparedOutcomes
    (1 to 20000).foreach { _ =>
      def row() = InternalRow(if (random.nextInt(10) == 0) null else string(), random.nextInt(30).toLong - 5)
      val models = Seq.fill(4)(ModelFile(schema, Seq.fill(1 + random.nextInt(3))(row())))
      val f = function()
      val bound = BindReferences.bindReference(f, Seq(s, n))
      val seen = String.valueOf(bound.eval(one(models.flatMap(_.rows))))
      compared.compare(condition(f, seen), Seq(s, n), models)
    }
    info(s"$compared")
    assert(compared.used > 12000 && compared.skipped > compared.files / 4 && compared.thrown == 0)
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
