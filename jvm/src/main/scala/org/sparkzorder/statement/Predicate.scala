package org.sparkzorder.statement

import org.apache.spark.sql.catalyst.expressions.Expression

/**
 * The predicate of a WHERE.
 *
 * @param text for people: as the user wrote it, or with the values of its parameters
 * @param read reads the predicate with Spark's parser. A statement about a table of others keeps its
 *   text, so its predicate is never read.
 */
final class Predicate(val text: String, read: => Expression) {

  /** What Spark's parser makes of the predicate. Its names are not resolved. */
  lazy val condition: Expression = read
}
