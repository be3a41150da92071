package org.sparkzorder.parser

import org.scalatest.funsuite.AnyFunSuite

class ScriptStatementsSuite extends AnyFunSuite {

  private def found(script: String): Seq[String] = ScriptStatements.places(script).map(_.of(script).trim)

  test("a script begins with BEGIN, after comments") {
    assert(ScriptStatements.isScript("-- nightly\n begin SELECT 1; END"))
    assert(!ScriptStatements.isScript("SELECT begin"))
    assert(!ScriptStatements.isScript(""))
  }

  test("statements are found wherever one may begin") {
    assert(found("BEGIN OPTIMIZE t; END") == Seq("OPTIMIZE t"))
    assert(found("BEGIN NOT ATOMIC OPTIMIZE t; END") == Seq("OPTIMIZE t"))
    assert(found("BEGIN SELECT 1; /* x */ OPTIMIZE t ZORDER BY (a); VACUUM t; END") ==
      Seq("OPTIMIZE t ZORDER BY (a)", "VACUUM t"))
    assert(found("BEGIN IF 1 = 1 THEN OPTIMIZE a; ELSE OPTIMIZE b; END IF; END") == Seq("OPTIMIZE a", "OPTIMIZE b"))
    assert(found("BEGIN WHILE x DO OPTIMIZE a; END WHILE; LOOP VACUUM b; LEAVE l; END LOOP; END") ==
      Seq("OPTIMIZE a", "VACUUM b"))
    assert(found("BEGIN CASE WHEN x THEN OPTIMIZE a; ELSE DESC DETAIL b; END CASE; END") ==
      Seq("OPTIMIZE a", "DESC DETAIL b"))
  }

  test("a handler's statement is found with and without a block") {
    Seq(
      "SQLEXCEPTION",
      "NOT FOUND",
      "SQLSTATE '42703'",
      "SQLSTATE VALUE '42703'",
      "DIVIDE_BY_ZERO",
      "`a`.b",
      "SQLSTATE '42703', NOT FOUND, a.b.c"
    ).foreach { conditions =>
      assert(
        found(s"BEGIN DECLARE EXIT HANDLER FOR $conditions OPTIMIZE t; VACUUM u; END") ==
          Seq("OPTIMIZE t", "VACUUM u"),
        conditions
      )
      assert(
        found(s"BEGIN DECLARE EXIT HANDLER FOR $conditions BEGIN OPTIMIZE t; END; SELECT 1; END") ==
          Seq("OPTIMIZE t"),
        conditions
      )
    }
    assert(found("BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION SET x = 1; OPTIMIZE t; END") == Seq("OPTIMIZE t"))
    assert(found("BEGIN SELECT handler FOR; END").isEmpty)
  }

  test("a label is not a statement, and the block behind it may have some") {
    assert(found("BEGIN optimize: LOOP OPTIMIZE t; LEAVE optimize; END LOOP optimize; END") == Seq("OPTIMIZE t"))
    assert(found("BEGIN vacuum : BEGIN SELECT 1; END vacuum; VACUUM t; END") == Seq("VACUUM t"))
    assert(found("BEGIN restore: WHILE a DO SELECT 1; END WHILE restore; END").isEmpty)
  }

  test("names, strings and expressions are not statements") {
    Seq(
      "BEGIN SELECT optimize FROM t; END",
      "BEGIN SELECT CASE WHEN x THEN optimize ELSE vacuum END FROM t; END",
      "BEGIN SELECT '; OPTIMIZE t; '; END",
      "BEGIN SELECT 1 -- ; OPTIMIZE t;\n; END",
      "BEGIN SELECT repeat(optimize, 2); END"
    ).foreach(script => assert(found(script).isEmpty, script))
  }

  test("after an expression with CASE, statements are found again") {
    assert(found("BEGIN SELECT CASE WHEN a THEN optimize END; OPTIMIZE t; END") == Seq("OPTIMIZE t"))
    assert(found("BEGIN IF CASE WHEN a THEN true END THEN OPTIMIZE t; END IF; END") == Seq("OPTIMIZE t"))
    assert(found("BEGIN IF a THEN SELECT 1; END IF; CASE a WHEN 1 THEN VACUUM t; END CASE; OPTIMIZE t; END") ==
      Seq("VACUUM t", "OPTIMIZE t"))
  }

  test("a placeholder stands at the same place, with the same lines, and selects its own number") {
    val script = "BEGIN OPTIMIZE `😀`\n ZORDER BY (a); SELECT '😀'; VACUUM t; END"
    val replaced = ScriptStatements.withPlaceholders(script, ScriptStatements.places(script).zip(Seq(17L, 18L)))
    assert(replaced.startsWith("BEGIN SELECT 17"))
    assert(replaced.count(_ == '\n') == 1 && !replaced.contains("OPTIMIZE") && !replaced.contains("VACUUM"))
    assert(replaced.endsWith("; SELECT '😀'; SELECT 18; END"))
  }
}
