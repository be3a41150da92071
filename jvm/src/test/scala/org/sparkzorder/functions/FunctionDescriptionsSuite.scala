package org.sparkzorder.functions

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, CreateArray, Expression, Literal}
import org.apache.spark.sql.types.{ArrayType, ByteType, IntegerType, LongType, StringType}
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
    val wrong = Seq(build("ordered_bytes")(_: Expression), (e: Expression) => build("range_id")(e))
    assert(hex(wrong.head(Literal(true))) == "81")
    val e = intercept[AnalysisException](wrong.last(Literal(1)))
    assert(e.getCondition.startsWith("WRONG_NUM_ARGS") && e.getMessage.contains("range_id"))
    assert(intercept[AnalysisException](build("ordered_bytes")()).getMessage.contains("ordered_bytes"))
    Seq("zvalue", "interleave_bits").foreach { name =>
      val message = intercept[AnalysisException](build(name)()).getMessage
      assert(message.contains(s"The `$name` requires > 0 parameters but the actual number is 0."))
    }
    val hilbert = intercept[AnalysisException](build("hilbert_value")(Literal(1))).getMessage
    assert(hilbert.contains("requires > 1 parameters but the actual number is 1."))
  }

  test("a wrong argument is told in the words of Spark's functions") {
    def said(name: String, arguments: Expression*): String = build(name)(arguments: _*).checkInputDataTypes() match {
      case TypeCheckResult.TypeCheckFailure(message) => message
      case e: TypeCheckResult.DataTypeMismatch       =>
        val parameters = e.messageParameters + ("sqlExpr" -> "\"f\"")
        new AnalysisException(s"DATATYPE_MISMATCH.${e.errorSubClass}", parameters).getMessage
      case other => fail(s"$other")
    }
    val column = AttributeReference("c", IntegerType)()
    val array = AttributeReference("c", ArrayType(IntegerType))()
    val text = CreateArray(Seq(Literal("a")))
    def ints(values: Any*) = CreateArray(values.map(Literal.create(_, IntegerType)))
    val one = Literal(1L)
    assert(said(
      "hilbert_value",
      Literal(64),
      one
    ).contains("The bits must be between [1, 63] (current value = \"64\")"))
    assert(said("hilbert_value", Literal(32), one, one).contains("must be between [1, 31]"))
    assert(said("hilbert_value", column, one).contains("the input \"bits\" should be a foldable \"INT\" expression"))
    assert(said("hilbert_value", Literal(null, IntegerType), one).contains("The bits must not be null"))
    assert(said("hilbert_value", Literal(1) +: Seq.fill(64)(one): _*) == "It takes at most 63 ids")
    assert(said("range_id", Literal(1), ints(2, 1)) == "The bounds must be in ascending order and must not be null")
    assert(said("range_id", Literal(1), ints(1, null)).contains("must not be null"))
    assert(said("range_id", Literal(1), array).contains("the input \"bounds\" should be a foldable \"ARRAY<INT>\""))
    assert(said(
      "range_id",
      Literal(1),
      text
    ).contains("The second parameter requires the \"ARRAY<INT>\" type, however"))
    Seq(said("ordered_bytes", array), said("range_id", array, array)).foreach { message =>
      assert(message.contains("The first parameter requires the (\"NUMERIC\" or \"STRING\" or"))
      assert(message.contains("however \"c\" has the type \"ARRAY<INT>\""))
    }
  }
}
