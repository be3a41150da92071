package org.sparkzorder.layout

import org.scalatest.funsuite.AnyFunSuite

class JoinSpecSuite extends AnyFunSuite {
  private val join = JoinSpec(Seq("spark_catalog", "db", "a.b"), Seq("s", "key"), Seq("id"))
  private val plain = LayoutSpec("zorder", "range", "aligned", Seq(Seq("day") -> 1d))

  test("a layout with dimensions is the same after JSON, and one without has no word of them") {
    val joined = plain.copy(columns = Seq(join.attribute(Seq("city")) -> 2d, Seq("day") -> 1d), joins = Seq(join))
    assert(LayoutSpec.parse(joined.json).contains(joined))
    assert(joined.json != joined.copy(joins = Seq(join.copy(column = Seq("other")))).json)
    assert(!plain.json.contains("joins") && LayoutSpec.parse(plain.json).contains(plain))
    assert(LayoutSpec.parse(joined.json.replace("dimension", "table")).isEmpty)
  }

  test("the path of an attribute is no column's, and people see it without its mark") {
    assert(JoinSpec.isAttribute(join.attribute(Seq("city"))))
    assert(JoinSpec.shown(join.attribute(Seq("city", "name"))) == Seq("a.b", "city", "name"))
    for (column <- Seq(Seq("day"), Seq("a.b", "city"), Seq("", "a.b", "city"), Seq("\u0000"))) {
      assert(!JoinSpec.isAttribute(column))
      assert(JoinSpec.shown(column) == column)
    }
  }
}
