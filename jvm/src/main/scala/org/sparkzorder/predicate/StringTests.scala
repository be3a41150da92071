package org.sparkzorder.predicate

import java.nio.charset.StandardCharsets.UTF_8

/**
 * Tests of a string that the sorted bytes of a column can answer. The texts are valid UTF-8. Each gives null where the
 * string is null.
 */
private[predicate] trait StringTests {
  def equal(text: String): StatsPredicate
  def startsWith(prefix: String): StatsPredicate
}

private[predicate] object StringTests {

  def startsWith(column: Column, prefix: String): StatsPredicate =
    StartsWith(column, new BytesValue(prefix.getBytes(UTF_8)))

  /** May be true where `p` may, and false anywhere; null where `p` is. */
  def onlyWhere(p: StatsPredicate, what: String): StatsPredicate =
    And(p, Unknown(Reason(ReasonCode.FunctionOfColumn, what)))
}
