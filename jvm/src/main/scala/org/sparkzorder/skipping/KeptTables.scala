package org.sparkzorder.skipping

import org.apache.hadoop.security.UserGroupInformation
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.internal.SQLConf

import org.sparkzorder.conf.{TableProperties, ZOrderConf}
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.memory.TableNames
import org.sparkzorder.memory.keep.KeptTable
import org.sparkzorder.scan.ScanSnapshot

/** Tables that keep what filters found in their side folders. */
private[skipping] object KeptTables {

  /**
   * None if the user does not want it, or if the index does not have the bounds of each column: then the column may be
   * excluded or encrypted, and which files lack a value says something about it.
   */
  def of(
      l: LogicalRelation,
      relation: HadoopFsRelation,
      views: Seq[ScanSnapshot],
      filters: Seq[Expression]
  ): Option[KeptTable] = views match {
    case Seq(view) if isWanted(l) && view.root.toString == TableNames.of(l, relation) =>
      // The query may spell a name in another way than the table.
      val names = filters.flatMap(_.references).map(a => l.output.find(_.exprId == a.exprId).map(_.name)).toSet
      val columns = names.flatten.filterNot(relation.partitionSchema.fieldNames.contains(_))
      for (snapshot <- view.snapshot if !names.contains(None) && columns.forall(hasBounds(relation, snapshot)))
        yield KeptTable(
          TableNames.of(l, relation),
          view.folder,
          UserGroupInformation.getCurrentUser,
          columns,
          hasBounds(relation, snapshot)
        )
    case _ => None
  }

  private def isWanted(l: LogicalRelation): Boolean =
    l.catalogTable.flatMap(_.properties.get(TableProperties.memoryKeep.key)).map(_.trim.equalsIgnoreCase("true"))
      .getOrElse(SQLConf.get.getConf(ZOrderConf.memoryKeep))

  private def hasBounds(relation: HadoopFsRelation, snapshot: IndexSnapshot)(name: String): Boolean =
    relation.dataSchema.find(_.name == name).flatMap(f => snapshot.column(Seq(name), f.dataType)).exists { c =>
      (0 until snapshot.files).forall(i => c.bounded.get(i) || c.nullCounts(i) >= snapshot.rows(i))
    }
}
