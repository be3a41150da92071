package org.sparkzorder.predicate

import java.nio.charset.StandardCharsets.UTF_8

/** Tests of a string that its sorted bytes can answer. */
private[predicate] trait StringTests {
  def equal(text: String): StatsPredicate
  def startsWith(prefix: String): StatsPredicate
}

private[predicate] object StringTests {

  /** None for a function that says nothing about these tests. */
  def of(operand: Operand): Option[StringTests] = operand match {
    case Operand(column, None)              => Some(new OfColumn(column))
    case Operand(_, Some(of: PaddedColumn)) => Some(new OfPadded(of))
    case _                                  => None
  }

  private final class OfColumn(column: Column) extends StringTests {
    def equal(text: String): StatsPredicate = Comparison(column, Operator.Equal, new BytesValue(text.getBytes(UTF_8)))
    def startsWith(prefix: String): StatsPredicate = StartsWith(column, new BytesValue(prefix.getBytes(UTF_8)))
  }

  private final class OfPadded(column: PaddedColumn) extends StringTests {
    def equal(text: String): StatsPredicate = column.equal(text.getBytes(UTF_8))
    def startsWith(prefix: String): StatsPredicate = column.startsWith(prefix.getBytes(UTF_8))
  }
}
