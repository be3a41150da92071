package org.sparkzorder.skipping.answer

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.datasources._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DecimalType

import org.sparkzorder.compat._
import org.sparkzorder.predicate.{Column, Filters, StatsPredicate}
import org.sparkzorder.scan.FileRevalidation
import org.sparkzorder.skipping.{ColumnsByName, PlannedFileIndex, ScanFilters, ScanPredicates, SkippingErrors}

/**
 * A scan about whose files the index may tell more than which ones to leave out: it reads all rows of its files, and
 * finds columns by name.
 *
 * @param filters of the scan, with the relation's names
 */
private[skipping] final case class AnswerableScan(
    scan: LogicalRelation,
    relation: HadoopFsRelation,
    planned: PlannedFileIndex,
    filters: Seq[Expression]
) {
  val (onPartitions, onData) = ScanFilters.byPartition(filters, scan, relation)

  def translated(e: Expression): StatsPredicate = ScanPredicates.translated(relation, planned.views, Seq(e)).head

  /** The predicate of the conjuncts about data. */
  lazy val predicate: StatsPredicate = Filters.conjunction(onData.map(translated))

  /** The index that lists the files which are not left out. */
  lazy val location: FileIndex = planned.location(scan, filters)

  /** Whether an operation has come further, so that a listing of now may have other files. */
  def isMoved: Boolean =
    // Spark lists the partitions of a catalog's table after the look at the table.
    planned.base.isInstanceOf[CatalogFileIndex] && planned.views.exists(_.isMoved)

  def areAsListed(files: Seq[FileStatusWithMetadata]): Boolean =
    FileRevalidation.of(relation.sparkSession, (folder, e) => SkippingErrors.warn(Seq(folder), e))
      .forall(_.changedOf(files.map(_.fileStatus)).isEmpty)

  /** An expression above the scan over the scan's own columns. */
  def ofScan(list: Seq[NamedExpression])(e: Expression): Expression = {
    val below = AttributeMap(list.map {
      case a @ Alias(child, _) => a.toAttribute -> child
      case other               => other.toAttribute -> other
    })
    e.transform { case a: AttributeReference => below.getOrElse(a, a) }.transform { case a: AttributeReference =>
      scan.output.find(_.semanticEquals(a)).fold(a)(o => a.withName(o.name))
    }
  }

  /** Not a decimal: Spark leaves it with the digits that the folder's name has. */
  def partitionColumn(a: AttributeReference): Option[Int] =
    Some(relation.partitionSchema.fields.indexWhere(f => f.name == a.name && f.dataType == a.dataType))
      .filter(i => i >= 0 && isOwn(a) && !a.dataType.isInstanceOf[DecimalType])

  def dataColumn(a: AttributeReference): Option[Column] = Option.when(
    isOwn(a) && relation.dataSchema.fieldNames.contains(a.name) &&
      !relation.partitionSchema.fieldNames.contains(a.name) && ColumnsByName.whyNot(relation, a.name).isEmpty
  )(Column(Seq(a.name), a.dataType))

  private def isOwn(a: AttributeReference) = scan.output.exists(_.semanticEquals(a))
}

private[skipping] object AnswerableScan {

  /** @param list the columns above the scan. Values such as the number of a row depend on which files are read */
  def of(l: LogicalRelation, list: Seq[NamedExpression], filters: Seq[Expression]): Option[AnswerableScan] =
    l.relation match {
      case r @ HadoopFsRelation(planned: PlannedFileIndex, _, _, _, _, _)
          if list.forall(_.deterministic) && isPlain(r, planned, filters) =>
        Some(AnswerableScan(l, r, planned, ScanFilters.evaluable(filters, l)))
      case _ => None
    }

  private def isPlain(relation: HadoopFsRelation, planned: PlannedFileIndex, filters: Seq[Expression]): Boolean = {
    // Spark asks the active session, and the relation's own for some.
    val confs = Seq(relation.sparkSession.sessionState.conf, SQLConf.get)
    def isOn(name: String, set: SQLConf => Boolean) =
      confs.exists(set) || relation.options.exists { case (k, v) =>
        k.equalsIgnoreCase(name) && v.trim.equalsIgnoreCase("true")
      }
    filters.forall(ScanFilters.whyNot(_).isEmpty) && relation.bucketSpec.isEmpty &&
    !isOn("ignoreCorruptFiles", _.ignoreCorruptFiles) && !isOn("ignoreMissingFiles", _.ignoreMissingFiles) &&
    planned.views.size == 1 && planned.views.forall(v => v.snapshot.isDefined && !v.corrects) &&
    ColumnsByName.whyNot(relation, planned.views).isEmpty
  }
}
