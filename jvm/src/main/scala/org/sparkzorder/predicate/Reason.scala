package org.sparkzorder.predicate

/** Why a predicate, or a part of it, cannot rule out any file. The code does not change between releases. */
final case class Reason(code: ReasonCode, words: String) {
  override def toString: String = s"${code.name}: $words"
}

sealed abstract class ReasonCode(val name: String) extends Product with Serializable {
  override def toString: String = name
}

object ReasonCode {
  case object FunctionOfColumn extends ReasonCode("FUNCTION_OF_COLUMN")
  case object Collation extends ReasonCode("COLLATION")
  case object TypeWithoutStatistics extends ReasonCode("TYPE_WITHOUT_STATISTICS")
  case object NotDeterministic extends ReasonCode("NOT_DETERMINISTIC")
  case object Subquery extends ReasonCode("SUBQUERY")
  case object MetadataColumn extends ReasonCode("METADATA_COLUMN")
  case object UnsupportedExpression extends ReasonCode("UNSUPPORTED_EXPRESSION")
  case object NoStatistics extends ReasonCode("NO_STATISTICS")

  /** Not a reason against use: files were skipped by their intervals of the curve. */
  case object CurveInterval extends ReasonCode("CURVE_INTERVAL")

  /** Not a reason against use: files were skipped by the values that columns have in them. */
  case object Membership extends ReasonCode("MEMBERSHIP")

  /** Not a reason against use: files were skipped by what earlier queries found. */
  case object Memory extends ReasonCode("MEMORY")

  /** Says what a join does for a scan when the query runs, or why it leaves out no files. */
  case object Join extends ReasonCode("JOIN")

  /** Not a reason against use: an aggregate of the rows of files was answered from the index. */
  case object Answered extends ReasonCode("ANSWERED")

  /** All codes, for documentation and tests. */
  val all: Seq[ReasonCode] =
    Seq(FunctionOfColumn, Collation, TypeWithoutStatistics, NotDeterministic, Subquery, MetadataColumn) ++
      Seq(UnsupportedExpression, NoStatistics, CurveInterval, Membership, Memory, Join, Answered)
}
