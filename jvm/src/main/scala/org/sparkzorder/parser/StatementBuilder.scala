package org.sparkzorder.parser

import java.util.Locale.ROOT

import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.ParserRuleContext
import org.antlr.v4.runtime.misc.Interval
import org.antlr.v4.runtime.tree.ParseTree

import org.sparkzorder.layout.LayoutSpec
import org.sparkzorder.parser.antlr.ZOrderSqlBaseVisitor
import org.sparkzorder.parser.antlr.ZOrderSqlParser._
import org.sparkzorder.statement._

/**
 * Turns a parse tree into a [[Statement]].
 *
 * @param unquote gives the value of a SQL string literal, as the session's own parser reads it
 * @param predicate makes a predicate of its text and of its place in the statement, in code points
 */
private[parser] class StatementBuilder(unquote: String => String, predicate: (String, Int) => Predicate)
    extends ZOrderSqlBaseVisitor[AnyRef] {

  override def visitSingleStatement(ctx: SingleStatementContext): Statement =
    visit(ctx.statement).asInstanceOf[Statement]

  override def visitOptimize(ctx: OptimizeContext): Statement = OptimizeStatement(
    target(ctx.target),
    ctx.FULL != null,
    Option(ctx.predicate).map(p => predicate(text(p), p.getStart.getStartIndex)),
    Option(ctx.layout).map(l => visit(l).asInstanceOf[LayoutClause]),
    options(ctx.optionList),
    ctx.DRY != null,
    ctx.join.asScala.map { j =>
      JoinClause(j.dimension.identifier.asScala.map(name).toVector, column(j.left), column(j.right))
    }.toVector
  )

  override def visitZorderByAuto(ctx: ZorderByAutoContext): LayoutClause = LayoutClause.Auto

  override def visitLayoutBy(ctx: LayoutByContext): LayoutClause = {
    val curve =
      if (ctx.ZORDER != null) LayoutSpec.ZOrder else if (ctx.HILBERT != null) LayoutSpec.Hilbert else LayoutSpec.Order
    LayoutClause.By(
      curve,
      ctx.layoutColumn.asScala.map(c => WeightedColumn(column(c.column), Option(c.weight).map(_.getText))).toVector
    )
  }

  override def visitCreateSkippingIndex(ctx: CreateSkippingIndexContext): Statement =
    CreateSkippingIndexStatement(
      target(ctx.target),
      ctx.indexColumn.asScala.map(c =>
        IndexColumn(column(c.column), Option(c.kind).map(_.getText.toUpperCase(ROOT)))
      ).toVector,
      all = ctx.STAR != null || ctx.indexColumn.isEmpty,
      ctx.REPLACE != null
    )

  override def visitRefreshSkippingIndex(ctx: RefreshSkippingIndexContext): Statement =
    RefreshSkippingIndexStatement(target(ctx.target))

  override def visitDropSkippingIndex(ctx: DropSkippingIndexContext): Statement =
    DropSkippingIndexStatement(target(ctx.target))

  override def visitClearSkippingMemory(ctx: ClearSkippingMemoryContext): Statement =
    ClearSkippingMemoryStatement(target(ctx.target))

  override def visitDescribeSkippingIndex(ctx: DescribeSkippingIndexContext): Statement =
    DescribeSkippingIndexStatement(target(ctx.target), ctx.column.asScala.map(column).toVector)

  override def visitDescribeClustering(ctx: DescribeClusteringContext): Statement =
    DescribeClusteringStatement(target(ctx.target), ctx.column.asScala.map(column).toVector)

  override def visitDescribeHistory(ctx: DescribeHistoryContext): Statement =
    DescribeHistoryStatement(target(ctx.target))

  override def visitShowClustering(ctx: ShowClusteringContext): Statement =
    ShowClusteringStatement(ctx.identifier.asScala.map(name).toVector)

  override def visitShowOperations(ctx: ShowOperationsContext): Statement = ShowOperationsStatement

  override def visitExplainSkipping(ctx: ExplainSkippingContext): Statement =
    ExplainSkippingStatement(text(ctx.query), files = ctx.FILES != null, analyze = ctx.ANALYZE != null)

  override def visitDescribeDetail(ctx: DescribeDetailContext): Statement = DescribeDetailStatement(target(ctx.target))

  override def visitRestore(ctx: RestoreContext): Statement = RestoreStatement(
    target(ctx.target),
    if (ctx.time != null) RestorePoint.Time(unquote(ctx.time.getText))
    else RestorePoint.Version(BigInt(ctx.INTEGER.getText).min(BigInt(Long.MaxValue)).toLong),
    options(ctx.optionList)
  )

  override def visitVacuum(ctx: VacuumContext): Statement = {
    val hours = if (ctx.DAY != null || ctx.DAYS != null) 24 else 1
    val retained = Option(ctx.number).map(_.getText).map { text =>
      if (hours == 1) text else (BigDecimal(text) * hours).bigDecimal.toPlainString
    }
    VacuumStatement(target(ctx.target), retained, ctx.DRY != null)
  }

  private def target(ctx: TargetContext): Target =
    if (ctx.path != null) PathTarget(unquote(ctx.path.getText), None)
    else Target.ofParts(ctx.identifier.asScala.map(name).toVector)

  private def column(ctx: ColumnContext): Seq[String] = ctx.identifier.asScala.map(name).toVector

  private def name(ctx: IdentifierContext): String =
    if (ctx.BACKQUOTED == null) ctx.getText
    else ctx.getText.substring(1, ctx.getText.length - 1).replace("``", "`")

  private def options(ctx: OptionListContext): Seq[(String, String)] =
    Option(ctx).toSeq.flatMap(_.option.asScala).map(o => optionKey(o.key) -> optionValue(o.value))

  private def optionKey(ctx: OptionKeyContext): String =
    if (ctx.STRING != null) unquote(ctx.STRING.getText) else ctx.getText

  private def optionValue(ctx: OptionValueContext): String =
    if (ctx.STRING != null) unquote(ctx.STRING.getText) else ctx.getText

  /** The text as the user wrote it, with its white space. */
  private def text(ctx: ParserRuleContext): String =
    ctx.getStart.getInputStream.getText(Interval.of(ctx.getStart.getStartIndex, ctx.getStop.getStopIndex))

  override def visit(tree: ParseTree): AnyRef = tree.accept(this)
}
