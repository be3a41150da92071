package org.sparkzorder.functions

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.types.{ByteType, LongType, StringType}
import org.scalatest.funsuite.AnyFunSuite

class FunctionDescriptionsSuite extends AnyFunSuite {

  private def build(name: String)(children: Expression*): Expression =
    FunctionDescriptions.all.collectFirst { case (id, _, builder) if id.funcName == name => builder(children) }.get

  private def hex(e: Expression): String = e.eval().asInstanceOf[Array[Byte]].map(b => f"$b%02X").mkString

  test("each function has a name and a description with an example") {
    assert(FunctionDescriptions.all.map(_._1.funcName) ==
      Seq("interleave_bits", "ordered_bytes", "zvalue", "hilbert_value", "range_id"))
    FunctionDescriptions.all.foreach { case (id, info, _) =>
      assert(info.getName == id.funcName)
      assert(info.getUsage.startsWith(s"${id.funcName}(") && info.getExamples.contains(s"${id.funcName}("))
    }
  }

  test("zvalue interleaves ordered bytes, and null is the smallest value of its type") {
    def zvalue(columns: Expression*): Expression = build("zvalue")(columns: _*).asInstanceOf[ZValue].replacement
    assert(hex(zvalue(Literal(1.toByte), Literal(2.toByte))) == "C006")
    assert(hex(zvalue(Literal(null, ByteType), Literal(2.toByte))) == "4004")
    assert(hex(zvalue(Literal(null, StringType), Literal("a"))) == "61")
    assert(hex(zvalue(Literal(null), Literal("a"))) == "61")
    assert(!zvalue(Literal(null, LongType)).nullable)
    assert(build("zvalue")(Literal(1), Literal(2)).sql == "zvalue(1, 2)")
  }

  test("a wrong number of arguments is an error that names the function") {
    val wrong = Seq(
      build("ordered_bytes")(_: Expression),
      (e: Expression) => build("range_id")(e)
    )
    assert(hex(wrong.head(Literal(true))) == "81")
    val e = intercept[AnalysisException](wrong.last(Literal(1)))
    assert(e.getCondition.startsWith("WRONG_NUM_ARGS") && e.getMessage.contains("range_id"))
    assert(intercept[AnalysisException](build("ordered_bytes")()).getMessage.contains("ordered_bytes"))
  }
}
