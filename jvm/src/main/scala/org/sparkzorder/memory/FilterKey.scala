package org.sparkzorder.memory

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.{Metadata, StructField, StructType}

/**
 * The filter of a scan, in a form that outlives its plan: the table's name by [[TableNames]], a digest of the reader's
 * settings, and all conditions that a row must pass.
 */
final case class FilterKey private[memory] (
    table: String,
    settings: String,
    private[memory] val conditions: Set[Condition]
) {

  /** Characters of its texts, for an estimate of its bytes. */
  private[memory] def weight: Long = table.length + conditions.iterator.map(_.weight).sum
}

object FilterKey {

  /**
   * None if a conjunct may depend on more than the row and the reader's settings.
   *
   * @param conjuncts about data, or about data and partitions, with the relation's attributes
   */
  def whole(l: LogicalRelation, relation: HadoopFsRelation, conjuncts: Seq[Expression]): Option[FilterKey] = {
    val conditions = conjuncts.map(reader(l, relation).of)
    if (conjuncts.isEmpty || conditions.exists(_.isEmpty)) None
    else ReaderSettings.of(relation).map(FilterKey(TableNames.of(l, relation), _, conditions.flatten.toSet))
      .filter(_.weight <= MostCharacters)
  }

  /** The conjuncts that can be compared with remembered ones; None if there is none. */
  def known(l: LogicalRelation, relation: HadoopFsRelation, conjuncts: Seq[Expression]): Option[FilterKey] = {
    val conditions = conjuncts.flatMap(reader(l, relation).of(_)).filter(_.weight <= MostCharacters)
    if (conditions.isEmpty) None
    else ReaderSettings.of(relation).map(FilterKey(TableNames.of(l, relation), _, conditions.toSet))
  }

  /** A longer filter is not remembered. */
  private val MostCharacters = 64 << 10

  private def metadata(f: StructField): String = if (f.metadata == Metadata.empty) "" else f.metadata.json

  private def reader(l: LogicalRelation, relation: HadoopFsRelation) = new ConditionReader(a => text(l, relation, a))

  private def text(l: LogicalRelation, relation: HadoopFsRelation, a: Attribute): Option[String] =
    l.output.find(_.exprId == a.exprId).flatMap { own =>
      def of(fields: StructType, kind: String) =
        fields.find(_.name == own.name).map { f =>
          val read = if (f.dataType == a.dataType) "" else ExpressionText.of(a.dataType)
          s"$kind ${ExpressionText.quoted(f.name)} ${ExpressionText.of(f.dataType)} ${metadata(f)} $read"
        }
      of(relation.partitionSchema, "partition").orElse(of(relation.dataSchema, "column"))
    }
}

/**
 * How the memory tells tables apart: by the folder that the catalog names, or by the paths that a query names. Files
 * are known by their own paths, so nothing depends on two names being of one table.
 */
private[sparkzorder] object TableNames {

  def of(l: LogicalRelation, relation: HadoopFsRelation): String =
    l.catalogTable.flatMap(_.storage.locationUri).map(uri => new Path(uri).toString)
      .getOrElse(relation.location.rootPaths.map(_.toString).sorted.mkString("\n"))

  /** Whether some path in the name is a folder, or below it. */
  def isAt(name: String, root: Path): Boolean =
    name.split('\n').exists(path => path == root.toString || path.startsWith(s"$root/"))
}
